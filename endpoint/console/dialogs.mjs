// Dialogs, confirmations, copying.

import { curl } from './api.mjs';
import { add, button, el, say, text } from './dom.mjs';

let dialogs = 0;

/// Opens a dialog. `build` gets a function that closes it, and returns the content. The promise resolves when it closes.
/// Escape does not close it while `keepsOpen` returns true.
export function dialog(title, build, { keepsOpen = () => false } = {}) {
  const id = `dialog-${++dialogs}`;
  const opener = document.activeElement;
  const box = el('dialog', { 'aria-labelledby': id });
  const close = () => box.close();
  add(box, el('h2', { id }, title), build(close), el('div', { class: 'said', role: 'status' }));
  // Chromium closes a dialog at the second Escape even if "cancel" is prevented.
  box.addEventListener('keydown', (event) => { if (event.key === 'Escape' && keepsOpen()) event.preventDefault(); });
  box.addEventListener('cancel', (event) => { if (keepsOpen()) event.preventDefault(); });
  document.body.append(box);
  return new Promise((resolve) => {
    box.addEventListener('close', () => {
      // Its content, such as a secret, goes with it.
      box.remove();
      // The list behind it may have new elements by now.
      const name = opener?.dataset?.focus;
      const again = name && document.querySelector(`[data-focus="${CSS.escape(name)}"]`);
      (opener?.isConnected ? opener : again || document.querySelector('#main h1'))?.focus();
      resolve();
    });
    box.showModal();
  });
}

/// Asks before an action that cannot be undone. Resolves with whether the reader agreed.
export async function confirmed(title, question, label) {
  let agreed = false;
  await dialog(title, (close) => [
    el('p', {}, question),
    el('div', { class: 'row' },
      button('Cancel', close, { autofocus: true }),
      button(label, () => { agreed = true; close(); }, { class: 'danger' })),
  ]);
  return agreed;
}

/// Copies a text, and says so. Browsers offer the clipboard to secure contexts only, which include loopback.
export async function copy(what, value) {
  try {
    await navigator.clipboard.writeText(value);
    say(`Copied: ${what}.`);
  } catch {
    say(`The browser does not let this page copy. Select ${what} and press Ctrl+C.`);
  }
}

/// A button that shows requests as curl commands. `requests` returns a list of [title, method, path, body].
export function curlButton(about, requests, focus) {
  return button('curl', () => dialog(`As curl: ${about}`, (close) => [
    el('p', {}, 'The variable ', el('code', {}, 'MOCK_GATEWAY_CONTROL_TOKEN'), ' must hold the control token.'),
    requests().map(([what, method, path, body]) => {
      const command = curl(method, path, body);
      return el('section', {},
        el('h3', {}, what),
        text(command, { compact: true }),
        button(`Copy as curl`, () => copy(what, command), { 'aria-label': `Copy as curl: ${what}` }));
    }),
    el('div', { class: 'row' }, button('Close', close)),
  ]), { class: 'small quiet', 'aria-label': `Show as curl: ${about}`, 'data-focus': focus });
}
