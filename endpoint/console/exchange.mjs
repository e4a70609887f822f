// One exchange: its sections.

import { call, get, getText, withQuery } from './api.mjs';
import { conversation, rawAnswer } from './conversation.mjs';
import { copy } from './dialogs.mjs';
import { add, button, el, facts, placed, refill, save, text } from './dom.mjs';
import { findingList, isNote, noteList } from './findings.mjs';
import { lookOf, outcomeOf } from './journal.mjs';
import { limits, rights } from './keys.mjs';
import { answered, complain, live } from './live.mjs';
import { count, cut, dayAndTime, jsonText, milliseconds, timeOfDay } from './text.mjs';
import { nearMisses, stubMaker, stubName } from './stubs.mjs';
import { timeline } from './timeline.mjs';

export async function showExchange(main, { parts, query, signal }) {
  const id = Number(parts[0]);
  const content = el('div');
  const judged = el('div');
  // The request does not change: while the answer is under way it is not drawn again.
  const came = el('div');
  const link = (view, label) => el('a', { href: withQuery(`#/${view}`, Object.fromEntries(query)) }, label);
  add(main, el('p', { class: 'row' }, link('journal', 'Journal'), id > 1 && link(`exchange/${id - 1}`, 'Previous'),
    link(`exchange/${id + 1}`, 'Next')),
    content, came);
  const done = new AbortController();
  signal.addEventListener('abort', () => done.abort());
  const ask = (path) => answered(path, signal);
  const load = () => ask(`/journal/${id}`);
  try {
    const first = await load();
    // The answer to a refused request says little: the rights of its key say more.
    const key = first.key && first.status >= 400 ? await ask(`/keys/${encodeURIComponent(first.key.id)}`).catch(() => null) : null;
    const command = await ask(`/journal/${id}/curl`);
    const maker = first.decision.kind === 'unmatched' ? stubMaker(first) : null;
    if (first.outcome === 'pending') content.before(gatesInUse(done.signal));
    refill(judged, found(first.findings));
    draw(content, first, key, judged, maker, signal);
    drawRequest(came, first, command);
    const before = judge();
    if (first.outcome !== 'pending') return;
    live(() => load().catch(leave), (exchange) => {
      draw(content, exchange, key, judged, maker, signal);
      if (exchange.outcome === 'pending') return;
      done.abort();
      before.then(judge);
    }, { every: 500, signal: done.signal })();
  } catch (error) {
    if (error.status === 404) leave(error);
    else complain(error, signal);
  }

  /// Stops asking for an exchange that the journal does not have, or no longer has.
  function leave(error) {
    if (error.status !== 404) throw error;
    done.abort();
    content.prepend(el('p', { role: 'alert' }, `This exchange is not in the journal: ${error.message}.`));
  }

  /// Shows the findings of the review, which also knows of retries and of the connection. It may take a second.
  function judge() {
    return ask('/review').then((review) => {
      refill(judged, found(review.findings.filter((finding) => finding.exchanges.includes(id))));
    }).catch((error) => complain(error, signal));
  }
}

/// The gates at which requests are held, each with a button that opens it. Removed when the signal aborts.
function gatesInUse(signal) {
  const list = el('div');
  const refresh = live((ended) => get('/gates', ended), ({ gates }) => refill(list, gates.filter(({ waiting }) => waiting > 0).map(({ name, waiting }) =>
    el('p', { class: 'row' }, `${count(waiting, 'request')} held at gate ${cut(name, 100)}`, button('Open the gate', async () => {
      await call('POST', `/gates/${encodeURIComponent(name)}/open`);
      await refresh();
    }, { class: 'small', 'data-focus': `gate:${name}` })))), { signal });
  signal.addEventListener('abort', () => list.remove());
  refresh();
  return list;
}

function draw(content, exchange, key, judged, maker, signal) {
  const { request } = exchange;
  const said = conversation(exchange);
  const closest = exchange.near_misses.length > 0 && section('Closest stubs', nearMisses(exchange.near_misses));
  refill(content,
    el('p', { class: 'lead' }, el('code', {}, cut(`${request.method} ${request.target}`, 2000)), ' → ',
      el('span', { class: `badge ${lookOf(exchange, exchange.status)}` }, String(exchange.status || 'no status')), outcomeOf(exchange)),
    judged,
    maker ? el('div', { class: 'parts' }, closest, section('Make a stub of this', maker)) : closest,
    said && section('Conversation', said),
    section('Facts', factsOf(exchange, key, said === null)),
    isStream(exchange) && section('Timeline', timeline(exchange, signal)),
    (exchange.answer || exchange.outcome !== 'pending') && section('Answer', rawAnswer(exchange.answer, body)));
}

/// An answer in one piece has no times to show, unless something broke or waited.
function isStream({ events, faults, chaos, departure, outcome }) {
  return events.length > 1 || faults.length > 0 || chaos.length > 0 || departure !== null || outcome === 'pending';
}

function drawRequest(came, exchange, command) {
  add(came, section('Request', requestParts(exchange)), section('Reproduce', text(command, { compact: true }),
    el('p', { class: 'note' }, 'The bundle is a script that gives the same answer again. It holds the request and the answer, with masked keys.'),
    el('div', { class: 'row' }, button('Copy as curl', () => copy('the request as curl', command)),
      button('Download bundle', async () => save(`exchange-${exchange.id}.json`, await getText(`/journal/${exchange.id}/bundle`))))));
}

function section(title, ...children) {
  return el('section', {}, el('h2', {}, title), children);
}

/// The facts that no other section shows. `withFaults`: no conversation shows the faults.
function factsOf(exchange, keyNow, withFaults) {
  const { decision, stub, key, request, sent, departure, received, connection } = exchange;
  const presented = request.headers.some(([name, value]) => /^(\w+ +)?(sk-)?\*\*\*$/.test(value) && !/cookie$|^proxy-/i.test(name));
  const detail = decision.detail ?? '';
  const isLong = detail.includes('\n');
  const left = departure && `${departure.how} after ${count(departure.events, 'event')}, ${count(departure.tokens, 'token')}, ` +
    `${count(departure.bytes, 'byte')} (${departure.delivered} delivered), ` +
    `${milliseconds(departure.after_last_write_ms)} after the last write, at ${timeOfDay(departure.at)}`;
  return [
    facts([
      ['Answered by', [decision.kind, ' ', stub ? [el('a', { href: `#/stubs/${stub.id}` }, cut(stubName(stub), 200)), ' ', placed(stub)] : !isLong && detail]],
      ['Reason', decision.refusal && !detail.includes(decision.refusal) && el('strong', {}, cut(decision.refusal, 2000))],
      ['Key', key ? [el('a', { href: '#/keys' }, cut(key.description || key.id, 100)), keyNow && [' ',
        el('span', { class: `badge ${keyNow.state === 'enabled' ? 'good' : 'bad'}` }, keyNow.state)]] : presented ? 'unknown to the gateway' : 'none'],
      ['Rights', keyNow && rights(keyNow)],
      ['Limit', keyNow && limits(keyNow)],
      ['Received', el('time', { datetime: received, title: received }, dayAndTime(received))],
      ['First byte after', exchange.first_byte_ms !== null && milliseconds(exchange.first_byte_ms)],
      ['Ended after', exchange.ended_ms !== null ? milliseconds(exchange.ended_ms) : 'not yet'],
      ['Sent', `${count(sent.events, 'event')}, ${count(sent.tokens, 'token')}, ${count(sent.bytes, 'byte')}`],
      ['The client left', left],
      ['Faults', withFaults && [...exchange.faults, ...exchange.chaos].map((fault) => el('div', {}, fault))],
      ['Guard', exchange.guard_expired && 'A wait ran into its time limit.'],
      ['Connection', `${connection.id}, request ${connection.position}`],
      ['Fault of the connection', connection.fault],
    ]),
    isLong && exchange.near_misses.length === 0 && text(detail),
  ];
}

function found(list) {
  const notes = list.filter(isNote);
  const problems = findingList(list);
  return [problems ? section('Findings', problems) : el('p', { class: 'note' }, 'Review: no errors or warnings.'),
    notes.length > 0 && section('Notes', noteList(notes.map(({ code, message }) => [code, message])))];
}

function requestParts({ request }) {
  return [
    facts(request.headers.map(([name, value]) => [cut(name, 200), cut(value, 4000) || '(empty)'])),
    request.body ? [el('h3', {}, 'Body'), body(request.body, 'the body')] : el('p', {}, 'No body.'),
    request.raw && [el('h3', {}, 'Bytes that are not HTTP'), body(request.raw, 'the bytes')],
  ];
}

/// `what` is the name on the button that copies it.
function body(content, what) {
  if ('json' in content) {
    const written = jsonText(content.json);
    return [text(written, { most: 4000 }), button(`Copy ${what}`, () => copy(what, JSON.stringify(content.json, null, 2)))];
  }
  if ('text' in content) return text(content.text, { most: 4000 });
  return [el('p', {}, 'These bytes are not UTF-8; in base64:'), text(content.base64, { most: 4000 })];
}
