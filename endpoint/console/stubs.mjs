// Stubs, adding one, "which would answer".

import { call } from './api.mjs';
import { confirmed, curlButton } from './dialogs.mjs';
import { add, button, el, field, form, placed, refill, row, say, table } from './dom.mjs';
import { nearMisses, stubName } from './exchange.mjs';
import { live } from './live.mjs';
import { count, cut } from './text.mjs';

const headings = ['Order', 'Stub', 'Conditions', 'Calls', 'From', 'Actions'];
const example = '{\n  "when": {"user_says": "weather"},\n  "reply": "It is 21 degrees."\n}';
const question = '{"model": "mock-model", "messages": [{"role": "user", "content": "How is the weather?"}]}';

export function showStubs(main, { parts, signal }) {
  const stubs = table('Stubs, in the order in which they are asked', headings, []);
  const note = el('p', {});
  let wanted = parts[0];
  const refresh = live((ended) => call('GET', '/stubs', undefined, { signal: ended }), (answer) => {
    note.textContent = answer.stubs.length > 0 ? 'The first that matches answers.' : 'There is none: the default reply answers.';
    refill(stubs.tBodies[0], answer.stubs.map((stub, index) => stubRow(stub, index, answer.stubs, refresh)));
    if (wanted) document.getElementById(`stub-${wanted}`)?.scrollIntoView({ block: 'center' });
    wanted = undefined;
  }, { signal });
  add(main, note, el('div', { class: 'scroll' }, stubs), addForm(refresh), explainForm());
  return refresh();
}

function stubRow(stub, index, all, refresh) {
  const name = stubName(stub);
  const hiding = all.find((other) => other.id === stub.hidden_by);
  const calls = stub.expected ? `${stub.calls}, expected ${stub.expected}` : String(stub.calls);
  return row(headings, [
    String(index + 1),
    [el('strong', {}, cut(name, 200)), stub.hidden_by !== null && el('div', {}, el('span', { class: 'badge warn' }, 'never asked'), ' hidden by ',
        el('a', { href: `#/stubs/${stub.hidden_by}`, 'data-focus': `hidden:${stub.id}` }, hiding ? cut(stubName(hiding), 100) : `stub ${stub.hidden_by}`))],
    stub.conditions.length > 0 ? el('ul', { class: 'plain' }, stub.conditions.map((condition) => el('li', {}, cut(condition, 500)))) : 'all requests',
    [calls, ' ', stub.expected && el('span', { class: `badge ${stub.met ? 'good' : 'bad'}` }, stub.met ? 'met' : 'not met')],
    [el('span', { class: 'badge' }, stub.layer), stub.scope && [' ', el('span', { class: 'badge' }, `scope ${stub.scope}`)],
      stub.file && el('div', {}, placed(stub))],
    el('div', { class: 'row' }, button('Remove', () => remove(stub, name, refresh), { class: 'small danger', 'aria-label': `Remove ${cut(name, 100)}`,
      'data-focus': `remove:${stub.id}` }), curlButton(cut(name, 100), () => [['Remove', 'DELETE', `/stubs/${stub.id}`]], `curl:${stub.id}`)),
  ], { id: `stub-${stub.id}` });
}

async function remove(stub, name, refresh) {
  const back = stub.layer === 'script' ? ' It comes back when its file is loaded anew.' : '';
  if (!await confirmed('Remove this stub?', `${cut(name, 200)} will answer no more.${back}`, 'Remove')) return;
  await call('DELETE', `/stubs/${stub.id}`);
  await refresh();
  say('The stub is removed.');
}

function editor(value, rows) {
  const made = el('textarea', { rows, spellcheck: 'false', class: 'code' });
  made.value = value;
  return made;
}

function addForm(refresh) {
  const document = editor(example, 6);
  return el('section', {}, el('h2', {}, 'Add a stub'), form(async () => {
    const { stubs } = await call('POST', '/stubs', document.value);
    await refresh();
    say(`${count(stubs.length, 'stub')} added. It is asked before all older ones.`);
  }, field('Stub', document, 'As in a script, or {"stubs": […]}. It comes before all older stubs.'),
  el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Add'), curlButton('the new stub', () => [['Add the stub', 'POST', '/stubs', document.value]]))));
}

function explainForm() {
  const request = editor(question, 4);
  const result = el('div', { role: 'status' });
  return el('section', {}, el('h2', {}, 'Which stub would answer?'), form(async () => {
    const answer = await call('POST', '/journal/explain', request.value);
    refill(result, el('p', {}, el('strong', {}, answer.decision.replace('_', ' ')), answer.stub && [': ',
      el('a', { href: `#/stubs/${answer.stub.id}` }, cut(stubName(answer.stub), 200))]),
    answer.near_misses.length > 0 ? nearMisses(answer.near_misses) : answer.message && el('pre', { class: 'text', tabindex: 0 }, cut(answer.message, 4000)));
  }, field('Chat request', request, 'The body of a request. It is not sent, and changes nothing.'),
  el('div', { class: 'row' }, el('button', {}, 'Explain'), curlButton('the question', () => [['Explain', 'POST', '/journal/explain', request.value]])), result));
}
