// What the review says of each exchange, for rows and tabs.

import { get } from './api.mjs';

/// Dispatches "changed" when the review says something else than before.
export const reviewed = new EventTarget();

const weights = ['note', 'warning', 'error'];
let byExchange = new Map();
let last = '';
let asking = false;
let again;  // the signal of who asked meanwhile

/// The findings in an exchange: how many, and the heaviest severity; undefined for none.
export const findingsOf = (id) => byExchange.get(id);

/// How many findings there are in all.
export let findings = 0;

/// Asks the gateway. When it is being asked already, which takes it a moment with a long journal, it is asked once more
/// then: the answer under way may not know of what came last.
export async function askReview(signal) {
  again = asking ? signal : undefined;
  if (asking) return;
  asking = true;
  try {
    const review = await get('/review', signal);
    const text = JSON.stringify(review.findings);
    if (text === last) return;
    last = text;
    take(review.findings);
  } catch {
    // The head of the page says when the gateway does not answer.
  } finally {
    asking = false;
    if (again && !again.aborted) askReview(again);
  }
}

/// Forgets what was said of another gateway.
export function forgetReview() {
  last = '';
  take([]);
}

function take(list) {
  byExchange = new Map();
  for (const { severity, exchanges } of list) {
    for (const id of exchanges) {
      const known = byExchange.get(id) ?? { count: 0, severity: 'note' };
      const heavier = weights.indexOf(severity) > weights.indexOf(known.severity);
      byExchange.set(id, { count: known.count + 1, severity: heavier ? severity : known.severity });
    }
  }
  findings = list.length;
  reviewed.dispatchEvent(new Event('changed'));
}
