// How often a view loads anew, and asks a gateway that does not answer.

import { get } from './api.mjs';
import { report } from './dom.mjs';

/// Loads now, and again every so many milliseconds while the page is visible, until the signal ends it. `apply` is
/// called when the answer is another than before. Returns a function that loads at once.
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

/// Gets a path, however long the gateway does not answer.
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

/// Says what failed, unless the view was left. The head of the page says when the gateway does not answer, or does not
/// take the token.
export function complain(error, signal) {
  if (!signal.aborted && error.status !== 0 && error.status !== 401) report(error);
}

/// Resolves after so many milliseconds, or when the signal ends it.
export function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

/// Resolves when the page is visible: a hidden tab holds no connection.
export function whenVisible(signal) {
  return new Promise((resolve) => {
    const check = () => { if (!document.hidden || signal.aborted) { done.abort(); resolve(); } };
    const done = new AbortController();
    document.addEventListener('visibilitychange', check, { signal: done.signal });
    signal.addEventListener('abort', check, { once: true });
    check();
  });
}
