// Stubs in pages; one stub with its script; adding a stub; which stub would answer a request; the closest stubs of a request.

import { call, get, withQuery } from './api.mjs';
import { lastUserText } from './conversation.mjs';
import { confirmed, copy } from './dialogs.mjs';
import { add, button, editor, el, facts, field, form, placed, refill, row, save, say, shown, table, text } from './dom.mjs';
import { complain, live } from './live.mjs';
import { count, cut, jsonText } from './text.mjs';

const headings = ['Order', 'Stub', 'Conditions', 'Reply', 'Calls', 'Expected', 'From'];
const example = '{\n  "when": {"user_says": "weather"},\n  "reply": "It is 21 degrees."\n}';
const question = '{"model": "mock-model", "messages": [{"role": "user", "content": "How is the weather?"}]}';
const PAGE = 100;

export function stubName(stub) {
  return stub.name || stub.title || `stub ${stub.id}`;
}

/// The conditions of each stub, with a mark for whether they hold. Functions of a test are not called again. `focus` makes the
/// links of several lists distinct.
export function nearMisses(list, focus = 'near') {
  const marks = new Map([[true, ['✔', 'holds', 'good']], [false, ['✘', 'does not hold', 'bad']], [null, ['?', 'not checked', '']]]);
  return el('ol', { class: 'near' }, list.map((near) => el('li', {},
    el('p', {}, el('a', { href: `#/stubs/${near.stub.id}`, 'data-focus': `${focus}:stub:${near.stub.id}` }, cut(stubName(near.stub), 200)), ' ', placed(near.stub),
      ` ${near.matched} of ${near.total} conditions`, near.passed_over && `; skipped: ${near.passed_over}`),
    el('ul', {}, near.conditions.map(({ holds, depth, expected, actual }) => {
      const [mark, said, look] = marks.get(holds);
      return el('li', { class: `depth-${Math.min(depth, 4)}` },
        el('span', { class: `mark ${look}`, role: 'img', 'aria-label': said }, mark), ' ', cut(expected, 1000),
        actual !== null && [el('span', { class: 'actual' }, ' actual '), text(actual, { most: 300, tag: 'span', name: 'value' })]);
    })))));
}

export function showStubs(main, { parts, query, signal }) {
  if (parts[0]) return showStub(main, parts[0], signal);
  const behind = Math.max(0, Math.floor(Number(query.get('behind')) || 0));
  const stubs = table('Stubs, in their order', headings, []);
  const replies = new Map();
  const note = el('p', {});
  const pages = el('p', { class: 'row' });
  const refresh = live((ended) => get(withQuery('/stubs', { behind, limit: PAGE }), ended), (answer) => {
    note.textContent = answer.total > 0 ? `${count(answer.total, 'stub')}. The first stub that matches answers.` : 'No stubs: the default reply answers.';
    refill(stubs.tBodies[0], answer.stubs.map((stub, index) => stubRow(stub, behind + index, answer.stubs, replies)));
    showReplies(stubs, answer.stubs, replies, signal);
    const last = behind + answer.stubs.length;
    refill(pages, behind > 0 && pageLink('Previous', behind - PAGE), answer.total > answer.stubs.length && `${(behind + 1).toLocaleString('en')} to ${last.toLocaleString('en')}`,
      last < answer.total && pageLink('Next', last));
  }, { signal });
  add(main, note, el('div', { class: 'scroll' }, stubs), pages, addForm(refresh), explainForm());
  return refresh();
}

function pageLink(label, behind) {
  return el('a', { href: behind > 0 ? `#/stubs?behind=${behind}` : '#/stubs', 'data-focus': label }, label);
}

function hidingOf(stub, all) {
  const hiding = all.find((other) => other.id === stub.hidden_by);
  return [el('span', { class: 'badge warn' }, 'never reached'), ' hidden by ', hiding ? cut(stubName(hiding), 100) : `stub ${stub.hidden_by}`];
}

const expectedOf = (stub) => stub.expected && [stub.expected, ' ', el('span', { class: `badge ${stub.met ? 'good' : 'bad'}` }, stub.met ? 'met' : 'not met')];
const originOf = (stub) => [stub.file ? placed(stub) : { api: 'this page or the API', flags: 'a flag' }[stub.layer] ?? stub.layer,
  stub.scope && [' ', el('span', { class: 'badge' }, `scope ${stub.scope}`)]];
const conditionsOf = (stub) => stub.conditions.length > 0 ?
  el('ul', { class: 'plain' }, stub.conditions.map((condition) => el('li', {}, cut(condition, 500)))) : 'all requests';

/// The first reply of a script, cut to a row.
function replyOf(script) {
  const reply = script?.reply ?? script?.replies?.[0];
  if (reply === undefined) return '';
  const said = typeof reply === 'string' ? reply : reply.text ?? jsonText(reply, 0);
  return cut(String(said), 160) + (script.replies?.length > 1 ? ` (first of ${script.replies.length})` : '');
}

/// Fills in the replies, which the gateway's list does not have. The reply of a stub never changes.
function showReplies(stubs, all, replies, signal) {
  for (const { id } of all) {
    if (replies.has(id)) continue;
    replies.set(id, '');
    get(`/stubs/${id}`, signal).then(({ script }) => {
      replies.set(id, replyOf(script));
      stubs.querySelector(`#stub-${id} .reply`)?.replaceChildren(shown(replies.get(id)));
    }).catch(() => replies.delete(id));
  }
}

function stubRow(stub, index, all, replies) {
  return row(headings, [
    String(index + 1),
    [el('a', { href: `#/stubs/${stub.id}`, 'data-focus': `stub:${stub.id}` }, cut(stubName(stub), 200)),
      stub.hidden_by !== null && el('div', {}, hidingOf(stub, all))],
    conditionsOf(stub), el('span', { class: 'reply', dir: 'auto' }, replies.get(stub.id)), String(stub.calls), expectedOf(stub), originOf(stub),
  ], { id: `stub-${stub.id}` });
}

/// One stub with its script and its buttons.
async function showStub(main, id, signal) {
  const path = `/stubs/${encodeURIComponent(id)}`;
  const about = el('div');
  const script = el('div');
  add(main, el('p', { class: 'row' }, el('a', { href: '#/stubs' }, 'All stubs')), about, script);
  let drawn = false;
  await live((ended) => get(path, ended).catch((error) => {
    if (error.status !== 404) throw error;
    return null;
  }), (stub) => {
    if (!stub) return refill(about, el('p', { role: 'alert' }, 'This stub does not exist. It was removed, or its script was replaced.'));
    refill(about, facts([['Stub', cut(stubName(stub), 300)], ['Conditions', conditionsOf(stub)], ['Calls', String(stub.calls)],
      ['Expected', expectedOf(stub)], ['From', originOf(stub)], ['Hidden', stub.hidden_by !== null && el('a', { href: `#/stubs/${stub.hidden_by}`, 'data-focus': 'hidden' }, `by stub ${stub.hidden_by}`)]]));
    if (drawn) return;
    drawn = true;
    drawScript(script, stub, path);
  }, { signal })().catch((error) => complain(error, signal));
}

function drawScript(container, stub, path) {
  const written = stub.script && jsonText(stub.script);
  const removing = button('Remove', () => remove(stub, path), { class: 'danger', 'data-focus': 'remove' });
  if (!written) return refill(container, el('p', {}, 'A flag of the program made this stub. It has no script.'), el('div', { class: 'row' }, removing));
  refill(container, el('h2', {}, 'Script'), text(written, { most: 20000 }), el('div', { class: 'row' },
    button('Edit', () => edit(container, stub, path, written), { 'data-focus': 'edit' }),
    button('Copy', () => copy('the stub', written), { 'data-focus': 'copy' }),
    button('Download', () => download(`stub-${stub.id}.json`, written), { 'data-focus': 'download' }), removing));
}

/// The file is a script with this one stub.
function download(name, written) {
  save(name, `{\n  "mock_gateway": 1,\n  "stubs": [\n${written.replace(/^/gm, '    ')}\n  ]\n}\n`);
}

function edit(container, stub, path, written) {
  const script = editor(Math.min(30, written.split('\n').length + 1), { value: written });
  const ofFile = stub.layer === 'script';
  refill(container, el('h2', {}, 'Script'), form(async () => {
    const { stubs: [made] } = await call('POST', withQuery('/stubs', { scope: stub.scope }), script.value);
    if (!ofFile) await call('DELETE', path).catch(() => {});
    location.hash = `#/stubs/${made.id}`;
  }, field('Stub', script, ofFile ? 'The new stub comes before the stub of the file, which stays. Download it to put it into the file.' : 'The new stub replaces this one and comes before all other stubs.'),
  el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Save'),
    button('Cancel', () => drawScript(container, stub, path)),
    button('Download', () => download(`stub-${stub.id}.json`, script.value)))));
  script.focus();
}

async function remove(stub, path) {
  const name = cut(stubName(stub), 200);
  const back = stub.layer === 'script' ? ' It comes back when its file is loaded again.' : '';
  if (!await confirmed('Remove this stub?', `${name} will no longer answer.${back}`, 'Remove')) return;
  await call('DELETE', path);
  location.hash = '#/stubs';
}

/// A form for a stub that matches an unmatched request: by its last user text and its model. The reader writes the reply.
export function stubMaker(exchange) {
  const body = exchange.request.body?.json;
  const said = lastUserText(body);
  const roles = Array.isArray(body?.messages) ? body.messages.map((message) => message?.role) : [];
  const isResult = roles.lastIndexOf('tool') > roles.lastIndexOf('assistant');
  const when = { ...(said && { user_says: cut(said, 2000) }), ...(isResult && { last_is_tool_result: true }), ...(typeof body?.model === 'string' && { model_is: body.model }) };
  const document = editor(8, { value: jsonText({ when, reply: 'Hello.' }) });
  const result = el('div', { role: 'status' });
  return form(async () => {
    const { stubs: [made] } = await call('POST', '/stubs', document.value);
    const { stub } = await call('POST', '/journal/explain', body);
    refill(result, stub?.id === made.id ?
      el('p', {}, el('a', { href: `#/stubs/${made.id}` }, `Stub ${made.id}`), ' is mounted and would now answer this request.') :
      el('p', {}, el('a', { href: `#/stubs/${made.id}` }, `Stub ${made.id}`), ' is mounted, but would not answer this request.'));
  }, field('Stub', document, 'The conditions match this request. Replace the reply with a text, or with an object as in a script.'),
  el('div', { class: 'row' }, el('button', {}, 'Make the stub'),
    button('Copy', () => copy('the stub', document.value)), button('Download', () => download('stub.json', document.value))), result);
}

function addForm(refresh) {
  const document = editor(6, { placeholder: example });
  return el('section', {}, el('h2', {}, 'Add a stub'), form(async () => {
    const { stubs } = await call('POST', '/stubs', document.value);
    await refresh();
    say(`${count(stubs.length, 'stub')} added, before all older stubs.`);
  }, field('Stub', document, 'A stub of a script, or {"stubs": […]}. New stubs come before older ones.'),
  el('div', { class: 'row' }, el('button', {}, 'Add'))));
}

function explainForm() {
  const request = editor(4, { value: question });
  const result = el('div', { role: 'status' });
  return el('section', {}, el('h2', {}, 'Which stub would answer?'), form(async () => {
    const answer = await call('POST', '/journal/explain', request.value);
    refill(result, el('p', {}, el('strong', {}, answer.decision.replace('_', ' ')), answer.stub && [': ',
      el('a', { href: `#/stubs/${answer.stub.id}` }, cut(stubName(answer.stub), 200))]),
    answer.near_misses.length > 0 ? nearMisses(answer.near_misses) : answer.message && el('pre', { class: 'text', tabindex: 0 }, cut(answer.message, 4000)));
  }, field('Chat request', request, 'The body of a chat request. Nothing is sent or changed.'),
  el('div', { class: 'row' }, el('button', {}, 'Explain')), result));
}
