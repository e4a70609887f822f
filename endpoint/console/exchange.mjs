// One exchange: its sections.

import { call, get, getText, withQuery } from './api.mjs';
import { conversation, rawAnswer } from './conversation.mjs';
import { copy, curlButton } from './dialogs.mjs';
import { add, badgeOf, button, el, facts, placed, refill, save, say, table, text } from './dom.mjs';
import { lookOf } from './journal.mjs';
import { answered, complain, live } from './live.mjs';
import { nearMisses, stubName } from './near_misses.mjs';
import { count, cut, dayAndTime, jsonText, milliseconds, timeOfDay } from './text.mjs';
import { stubMaker } from './stubs.mjs';
import { timeline } from './timeline.mjs';

export async function showExchange(main, { parts, query, signal }) {
  const id = Number(parts[0]);
  const content = el('div');
  const judged = el('div', {}, el('p', {}, 'Judging it …'));
  // What came does not change: a reader may have opened it while the answer is under way.
  const came = el('div');
  const link = (view, label) => el('a', { href: withQuery(`#/${view}`, Object.fromEntries(query)) }, label);
  add(main, el('p', { class: 'row' }, link('journal', 'Journal'), id > 1 && link(`exchange/${id - 1}`, `Exchange ${id - 1}`),
    link(`exchange/${id + 1}`, `Exchange ${id + 1}`)),
    content, came);
  const done = new AbortController();
  signal.addEventListener('abort', () => done.abort());
  const ask = (path) => answered(path, signal);
  const load = () => ask(`/journal/${id}`);
  try {
    const first = await load();
    // The answer to a refused request says little: what the key may do now says more.
    const key = first.key && first.status >= 400 ? await ask(`/keys/${encodeURIComponent(first.key.id)}`).catch(() => null) : null;
    const command = await ask(`/journal/${id}/curl`);
    const maker = first.decision.kind === 'unmatched' ? stubMaker(first) : null;
    if (first.outcome === 'pending') content.before(gatesInUse(done.signal));
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

  /// Looks no more for an exchange that is not there, or that went before it had ended.
  function leave(error) {
    if (error.status !== 404) throw error;
    done.abort();
    content.prepend(el('p', { role: 'alert' }, `The journal does not have it: ${error.message}.`));
  }

  /// Shows what the review says of it: the review knows of retries, too, and of the connection. It may take a second.
  function judge() {
    return ask('/review').then((review) => {
      refill(judged, findings(review.findings.filter((finding) => finding.exchanges.includes(id))));
    }).catch((error) => complain(error, signal));
  }
}

/// The gates at which requests are held, each with a button that opens it; nothing once the signal has ended it.
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
  const { request, decision } = exchange;
  const said = conversation(exchange);
  const closest = exchange.near_misses.length > 0 && section('The closest stubs', nearMisses(exchange.near_misses));
  refill(content,
    el('p', { class: 'lead' }, el('code', {}, cut(`${request.method} ${request.target}`, 300)), ' → ',
      el('span', { class: `badge ${lookOf(exchange, exchange.status)}` }, String(exchange.status || 'no status')), ' ',
      decision.kind, ', ', exchange.outcome),
    maker ? el('div', { class: 'parts' }, closest, section('Make a stub of this', maker)) : closest,
    said && section('Conversation', said),
    section('Who answered, and why', whoAnswered(exchange, key)),
    section('Findings', judged),
    isStream(exchange) && section('Timeline', timeline(exchange, signal)),
    section('Answer', answerFacts(exchange), (exchange.answer || exchange.outcome !== 'pending') && rawAnswer(exchange.answer, body)));
}

/// What left in one piece has no times to show, unless something broke or waited.
function isStream({ events, faults, chaos, departure, outcome }) {
  return events.length > 1 || faults.length > 0 || chaos.length > 0 || departure !== null || outcome === 'pending';
}

function drawRequest(came, exchange, command) {
  add(came, section('Request', requestFacts(exchange)),
    section('Send it again', text(command, { compact: true }),
      button('Copy as curl', () => copy('the request as curl', command), {}), ' ',
      curlButton('this exchange', () => [['What this view shows', 'GET', `/journal/${exchange.id}`]])),
    section('Hand it on',
      el('p', {}, 'A bundle is a script that gives the same answer again. It holds what the client asked and was answered; keys are masked in it.'),
      button('Download bundle', () => downloadBundle(exchange.id), {}), ' ',
      curlButton('the bundle', () => [['Downloads the bundle', 'GET', bundlePath(exchange.id)]])));
}

const bundlePath = (id) => `/journal/${id}/bundle`;

/// A link cannot send the token: the file is fetched, and saved from memory.
async function downloadBundle(id) {
  const name = `exchange-${id}.json`;
  save(name, await getText(bundlePath(id)));
  say(`Saved: ${name}.`);
}

function section(title, ...children) {
  return el('section', {}, el('h2', {}, title), children);
}

function whoAnswered({ decision, stub, key, request, status }, keyNow) {
  const presented = request.headers.some(([name]) => name.toLowerCase() === 'authorization');
  const several = decision.detail?.includes('\n');
  const unknown = presented ? 'none of the gateway’s keys' : 'none was sent';
  return [
    facts([
      ['Decision', decision.kind],
      ['Code', !several && decision.kind !== 'stub' && decision.detail],
      ['Reason', decision.refusal && el('strong', {}, cut(decision.refusal, 2000))],
      ['Stub', stub && [el('a', { href: `#/stubs/${stub.id}` }, cut(stubName(stub), 200)), ' ', placed(stub)]],
      ['Key', key ? el('a', { href: '#/keys' }, cut(key.description || key.id, 100)) : unknown],
      ['The key now', keyNow && [el('span', { class: `badge ${keyNow.state === 'enabled' ? 'good' : 'bad'}` }, keyNow.state), ', ', rightsOf(keyNow)]],
      ['Status', String(status || 'none was sent')],
    ]),
    // The closest stubs have a section of their own.
    several && text(decision.detail.split('\nclosest: ')[0]),
  ];
}

function rightsOf({ models, operations, limit, limit_tokens: tokens }) {
  return [models.length > 0 ? `models ${models.join(', ')}` : 'all models',
    operations.length > 0 ? `operations ${operations.map((one) => `${one.method} ${one.path}`).join(', ')}` : 'all operations',
    limit ? `limit ${limit}` : tokens ? '' : 'no limit of its own',
    tokens ? `limit of tokens ${tokens}` : ''].filter(Boolean).join('; ');
}

function findings(list) {
  if (list.length === 0) return el('p', {}, 'None: the client did nothing wrong in it.');
  return el('ul', { class: 'problems' }, list.map((finding) => el('li', {},
    el('span', { class: 'badge ' + badgeOf(finding.severity) }, finding.severity), ' ',
    el('code', {}, finding.code), ' ', text(finding.message, { most: 1000, tag: 'span', name: 'value' }))));
}

function answerFacts(exchange) {
  const { sent, departure } = exchange;
  const left = departure && `${departure.how} after ${count(departure.events, 'event')}, ${count(departure.tokens, 'token')}, ` +
    `${count(departure.bytes, 'byte')} (${departure.delivered} delivered), ` +
    `${milliseconds(departure.after_last_write_ms)} after the last write, at ${timeOfDay(departure.at)}`;
  return facts([
    ['Status', String(exchange.status || 'none')],
    ['Outcome', exchange.outcome],
    ['First byte after', exchange.first_byte_ms !== null && milliseconds(exchange.first_byte_ms)],
    ['Ended after', exchange.ended_ms !== null ? milliseconds(exchange.ended_ms) : 'not yet'],
    ['Sent', `${count(sent.events, 'event')}, ${count(sent.tokens, 'token')}, ${count(sent.bytes, 'byte')}`],
    ['The client left', left],
    ['Faults', exchange.faults.length > 0 && exchange.faults.map((fault) => el('div', {}, fault))],
    ['Chaos', exchange.chaos.length > 0 && exchange.chaos.map((strike) => el('div', {}, strike))],
    ['Guard', exchange.guard_expired && 'A guard ended a wait.'],
  ]);
}

function requestFacts({ request, received, connection }) {
  const position = connection.position === 1 ? 'its first request' : `its request ${connection.position}`;
  return [
    facts([
      ['Received', el('time', { datetime: received, title: received }, `${dayAndTime(received)} (${received})`)],
      ['Connection', `${connection.id}, ${position}`],
      ['Fault of the connection', connection.fault],
      ['Target', cut(request.target, 2000)],
    ]),
    request.headers.length > 0 && el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Header fields' },
      table('Header fields', ['Name', 'Value'], request.headers.map(([name, value]) => [cut(name, 200), cut(value, 4000)]))),
    request.body ? [el('h3', {}, 'Body'), body(request.body, 'the body')] : el('p', {}, 'There was no body.'),
    request.raw && [el('h3', {}, 'What came, which is no HTTP'), body(request.raw, 'what came')],
  ];
}

/// `what` names it on the button that copies it.
function body(content, what) {
  if ('json' in content) {
    const written = jsonText(content.json);
    return [text(written, { most: 4000 }), button(`Copy ${what}`, () => copy(what, JSON.stringify(content.json, null, 2)))];
  }
  if ('text' in content) return text(content.text, { most: 4000 });
  return [el('p', {}, 'These bytes are not UTF-8; in base64:'), text(content.base64, { most: 4000 })];
}
