// Findings of the review: of each exchange, for rows; as lists.

import { get } from './api.mjs';
import { badgeOf, el, message } from './dom.mjs';

/// Dispatches "changed" when the findings change.
export const reviewed = new EventTarget();

const weights = ['note', 'warning', 'error'];
let byExchange = new Map();
let last = '';
let asking = false;
let again;  // the signal of a caller that came meanwhile

/// The number of errors and warnings of an exchange and their highest severity; undefined if it has none.
export const findingsOf = (id) => byExchange.get(id);

export const isNote = ({ severity }) => severity === 'note';

/// Errors, then warnings, each with what `more` returns for it. Undefined if the list is empty.
export function findingList(all, more = () => null) {
  const found = all.filter((finding) => !isNote(finding)).sort((one, other) => weights.indexOf(other.severity) - weights.indexOf(one.severity));
  if (found.length === 0) return undefined;
  return el('ul', { class: 'problems' }, found.map((finding, index) => el('li', {},
    el('span', { class: `badge ${badgeOf(finding.severity)}` }, finding.severity), ' ', el('code', {}, finding.code),
    message(finding.message, `finding${index}`), more(finding, `finding${index}`))));
}

/// A list of notes, each a pair of kind and content. Notes of one kind share an item.
export function noteList(notes) {
  const kinds = new Map();
  for (const [kind, content] of notes) kinds.set(kind, [...(kinds.get(kind) ?? []), content]);
  const items = (all) => all.map((content) => el('li', {}, content));
  return el('ul', { class: 'notes' }, [...kinds].map(([kind, all]) => kind ? el('li', {}, `${kind}: `, all.length > 1 ? el('ul', {}, items(all)) : all) : items(all)));
}

/// Gets the review. A call during another one, which takes a moment with a long journal, repeats it once afterwards: the first
/// answer may lack the newest requests.
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
    // The header says if the gateway does not answer.
  } finally {
    asking = false;
    if (again && !again.aborted) askReview(again);
  }
}

/// Forgets the findings of another gateway.
export function forgetReview() {
  last = '';
  take([]);
}

function take(list) {
  byExchange = new Map();
  for (const { severity, exchanges } of list.filter((finding) => !isNote(finding))) {
    for (const id of exchanges) {
      const known = byExchange.get(id) ?? { count: 0, severity };
      const heavier = weights.indexOf(severity) > weights.indexOf(known.severity);
      byExchange.set(id, { count: known.count + 1, severity: heavier ? severity : known.severity });
    }
  }
  reviewed.dispatchEvent(new Event('changed'));
}
