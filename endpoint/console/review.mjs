// What did not go as scripted, and what the client did wrong.

import { get } from './api.mjs';
import { add, el, message, placed, refill } from './dom.mjs';
import { findingList, isNote, noteList } from './findings.mjs';
import { live } from './live.mjs';
import { nearMisses } from './stubs.mjs';
import { count, cut } from './text.mjs';

export function showReview(main, { signal }) {
  // Screen readers announce the summary when it changes, and not the lists.
  const summary = el('p', { class: 'lead', role: 'status' }, 'Loading …');
  add(main, summary);
  const lists = [problemParts, findingParts, noteParts].map((draw) => {
    const section = el('section');
    main.append(section);
    return whenChanged(section, draw);
  });
  return live(async (ended) => {
    const [verification, review] = await Promise.all([get('/verify', ended), get('/review', ended)]);
    return { verification, review };
  }, ({ verification, review }) => {
    const number = (severity) => review.findings.filter((finding) => finding.severity === severity).length;
    const [errors, warnings] = [number('error'), number('warning')];
    refill(summary, sign(verification.ok, 'as scripted', count(verification.problems.length, 'problem')), ' ',
      errors + warnings === 0 && sign(true, 'no errors or warnings'), errors > 0 && [sign(false, '', count(errors, 'error')), ' '],
      warnings > 0 && el('span', { class: 'badge warn' }, count(warnings, 'warning')), ` in ${count(review.judged, 'request')}`,
      review.open > 0 && `, ${review.open} under way`, review.evicted > 0 && `, ${review.evicted} no longer in the journal`);
    const [problems, findings, notes] = lists;
    problems(verification.problems);
    findings(review.findings.filter((finding) => !isNote(finding)));
    notes(verification.notes, review.findings.filter(isNote), review.chaos);
  }, { signal })();
}

/// Draws into a container when the arguments change. A list without changes keeps its elements, so a reader can select text.
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

function problemParts(problems) {
  return [el('h2', {}, 'What did not go as scripted'),
    problems.length === 0 ? el('p', {}, 'Everything went as scripted.') : el('ul', { class: 'problems' }, problems.map((problem, index) => el('li', {},
      el('span', { class: 'badge bad' }, problem.kind), ' ', placed(problem),
      message(problem.near_misses.length > 0 ? problem.message.split('\n')[0] : problem.message, `problem${index}`),
      exchanges(problem.exchanges, `problem${index}`), problem.near_misses.length > 0 && nearMisses(problem.near_misses, `problem${index}`))))];
}

function findingParts(findings) {
  return [el('h2', {}, 'What the client did wrong'),
    findingList(findings, (finding, focus) => exchanges(finding.exchanges, focus)) ?? el('p', {}, 'No errors or warnings.')];
}

function noteParts(verified, reviewed, chaos) {
  const notes = [
    ...verified.map((note) => /^([a-z ]+): (.+)$/s.exec(cut(note, 2000))?.slice(1) ?? ['', cut(note, 2000)]),
    ...reviewed.map(({ code, message: said, exchanges: ids }) => [code, [cut(said, 2000), exchanges(ids, code)]]),
    ...(chaos === null ? [] : [['', cut(chaos, 2000)]])];
  return notes.length > 0 && [el('h2', {}, 'Notes'), noteList(notes)];
}
