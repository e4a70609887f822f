// Keys of the page: "/", j, k, "?", Escape.

import { dialog } from './dialogs.mjs';
import { button, el } from './dom.mjs';

const described = [['/', 'search the journal'], ['j, k', 'next row, previous row'], ['Enter', 'open the row'],
  ['Escape', 'close the exchange beside the list'], ['Tab', 'from row to row; the arrow keys within a row'], ['?', 'show this list']];

/// Listens until the page closes.
export function listenForShortcuts() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    if (event.target.closest('input, textarea, select, [contenteditable]')) return;
    const action = actions[event.key];
    if (action && action() !== false) event.preventDefault();
  });
}

const actions = {
  '/': search,
  j: () => step(1),
  k: () => step(-1),
  '?': () => { dialog('Keys', (close) => [
    el('dl', {}, described.map(([key, what]) => el('div', {}, el('dt', {}, el('kbd', {}, key)), el('dd', {}, what)))),
    el('div', { class: 'row' }, button('Close', close, { autofocus: true }))]); },
  Escape: () => {
    const close = document.querySelector('#main .close-pane');
    if (!close) return false;
    close.click();
    return true;
  },
};

function search() {
  const input = document.querySelector('#main input[type="search"]');
  if (input) return void input.focus();
  addEventListener('hashchange', () => setTimeout(() => document.querySelector('#main input[type="search"]')?.focus()), { once: true });
  location.hash = '#/journal';
}

/// Moves the focus to the next row of the first list. Opens the next exchange if one is open beside the list.
function step(by) {
  const rows = [...document.querySelectorAll('#main tbody tr')].filter((row) => row.checkVisibility() && stopOf(row));
  if (rows.length === 0) return false;
  const at = rows.findIndex((row) => row.contains(document.activeElement) || row.getAttribute('aria-current') === 'true');
  const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
  const stop = stopOf(row);
  stop.focus();
  row.scrollIntoView({ block: 'nearest' });
  if (document.querySelector('#main .pane') && stop.href) location.replace(stop.href);
  return true;
}

const stopOf = (row) => row.querySelector('a[href], button:not([tabindex="-1"])');
