// Polling, retries while the gateway does not answer, errors, pauses.

import { get } from './api.mjs';
import { report } from './dom.mjs';

/// Returns a function that loads at once, then every so many milliseconds while the page is visible, until the signal aborts.
/// Calls `apply` when the answer differs from the last one.
export function live(load, apply, { every = 2000, signal }) {
  let last;
  let timer;
  let before = Promise.resolve();

  async function round() {
    clearTimeout(timer);
    if (signal.aborted) return;
    try {
      const answer = await load(signal);
      const text = JSON.stringify(answer);
      if (!signal.aborted && text !== last) {
        last = text;
        apply(answer);
      }
    } catch (error) {
      complain(error, signal);
    }
    clearTimeout(timer);
    if (!signal.aborted && !document.hidden) timer = setTimeout(refresh, every);
  }

  function refresh() {
    before = before.then(round);
    return before;
  }

  document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); }, { signal });
  signal.addEventListener('abort', () => clearTimeout(timer));
  return refresh;
}

/// Gets a path. Retries until the gateway answers.
export async function answered(path, signal) {
  for (;;) {
    try {
      return await get(path, signal);
    } catch (error) {
      if (signal.aborted || error.status !== 0) throw error;
      await pause(2000, signal);
    }
  }
}

/// Reports an error, unless the reader left the view. The header reports a gateway that does not answer or refuses the token.
export function complain(error, signal) {
  if (!signal.aborted && error.status !== 0 && error.status !== 401) report(error);
}

/// Resolves after so many milliseconds, or when the signal aborts.
export function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

/// Resolves when the page is visible, so that a hidden tab keeps no connection open.
export function whenVisible(signal) {
  return new Promise((resolve) => {
    const check = () => { if (!document.hidden || signal.aborted) { done.abort(); resolve(); } };
    const done = new AbortController();
    document.addEventListener('visibilitychange', check, { signal: done.signal });
    signal.addEventListener('abort', check, { once: true });
    check();
  });
}
