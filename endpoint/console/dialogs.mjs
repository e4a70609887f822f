// Dialogs, confirmations, copying.

import { add, button, el, say } from './dom.mjs';

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
