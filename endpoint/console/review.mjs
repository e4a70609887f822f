// Verify and review.

import { get } from './api.mjs';
import { curlButton } from './dialogs.mjs';
import { add, badgeOf, el, placed, refill, table, text } from './dom.mjs';
import { live } from './live.mjs';
import { nearMisses, stubName } from './near_misses.mjs';
import { count, cut } from './text.mjs';

export function showReview(main, { signal }) {
  const verified = el('section');
  const reviewed = el('section');
  // Read out when it changes; the lists are not.
  const summary = el('p', { class: 'lead', role: 'status' }, 'Judging what came …');
  add(main, summary, el('p', { class: 'row' }, 'It follows the requests as they come.', curlButton('this view', () => [
    ['Verify', 'GET', '/verify'], ['Review', 'GET', '/review']])), verified, reviewed);
  const drawVerified = whenChanged(verified, verifiedParts);
  const drawReviewed = whenChanged(reviewed, reviewedParts);
  return live(async (ended) => {
    const [verification, review] = await Promise.all([get('/verify', ended), get('/review', ended)]);
    return { verification, review };
  }, ({ verification, review }) => {
    refill(summary, sign(verification.ok, 'as scripted', count(verification.problems.length, 'problem')), ' ',
      sign(review.ok, 'no findings', count(review.findings.length, 'finding')), ` in ${count(review.judged, 'request')}`,
      review.open > 0 && `, ${review.open} under way`, review.evicted > 0 && `, ${review.evicted} dropped before`);
    drawVerified(verification.problems, verification.stubs, verification.notes);
    drawReviewed(review.findings, review.chaos);
  }, { signal })();
}

/// Fills a container with what `draw` makes of its arguments when they are others than before. Each request changes what
/// is counted; what a reader has marked meanwhile stays.
function whenChanged(container, draw) {
  let last;
  return (...values) => {
    const text = JSON.stringify(values);
    if (text !== last) refill(container, draw(...values));
    last = text;
  };
}

function sign(good, yes, no) {
  return el('span', { class: `badge ${good ? 'good' : 'bad'}` }, good ? `✔ ${yes}` : `✘ ${no}`);
}

function exchanges(ids, focus) {
  if (ids.length === 0) return null;
  return el('span', { class: 'row' }, ids.slice(0, 20).map((id) =>
    el('a', { href: `#/exchange/${id}`, 'data-focus': `${focus}:${id}` }, `exchange ${id}`)), ids.length > 20 && `and ${ids.length - 20} more`);
}

function verifiedParts(problems, stubs, notes) {
  const headings = ['Stub', 'Line', 'Calls', 'Expected', 'Met'];
  return [el('h2', {}, 'Verify: did everything go as scripted?'),
    problems.length === 0 ? el('p', {}, 'Yes.') : el('ul', { class: 'problems' }, problems.map((problem, index) => el('li', {},
      el('span', { class: 'badge bad' }, problem.kind), ' ', placed(problem),
      problem.near_misses.length > 0 ? el('p', {}, cut(problem.message.split('\n')[0], 1000)) : text(problem.message, { focus: `problem${index}` }),
      exchanges(problem.exchanges, `problem${index}`), problem.near_misses.length > 0 && nearMisses(problem.near_misses, `problem${index}`)))),
    stubs.length > 0 && el('div', { class: 'scroll' }, table('Stubs with an expectation', headings, stubs.map((stub) => [
      el('a', { href: `#/stubs/${stub.id}`, 'data-focus': `stub:${stub.id}` }, cut(stubName(stub), 200)), placed(stub) || '–', String(stub.calls),
      stub.expected ?? (stub.should ? 'each as it should be' : '–'), sign(stub.met, 'met', 'not met')]))),
    notes.length > 0 && [el('h3', {}, 'Notes'), el('ul', {}, notes.map((note) => el('li', {}, cut(note, 2000))))]];
}

function reviewedParts(findings, chaos) {
  return [el('h2', {}, 'Review: what did the client do wrong?'),
    findings.length === 0 ? el('p', {}, 'Nothing was found.') : el('ul', { class: 'problems' }, findings.map((finding, index) => el('li', {},
      el('span', { class: 'badge ' + badgeOf(finding.severity) }, finding.severity), ' ', el('code', {}, finding.code),
      text(finding.message, { focus: `finding${index}` }), exchanges(finding.exchanges, `finding${index}`)))),
    chaos !== null && el('p', {}, cut(chaos, 2000))];
}
