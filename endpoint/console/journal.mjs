// The list of exchanges: columns, filters, groups of retries, live updates.

import { call, withQuery } from './api.mjs';
import { lastUserText } from './conversation.mjs';
import { confirmed, copy } from './dialogs.mjs';
import { add, badgeOf, button, el, field, form, refill, row, say, select, table, text as shownText } from './dom.mjs';
import { askReview, findingsOf, reviewed } from './findings.mjs';
import { keySelect } from './keys.mjs';
import { answered, complain, pause, whenVisible } from './live.mjs';
import { count, cut, milliseconds, place, timeOfDay } from './text.mjs';

const headings = ['#', 'Time', 'Request', 'Model', 'Key', 'Said', 'Status', 'Answered by', 'Findings', 'Took'];
const statuses = ['2xx', '4xx', '5xx', '200', '400', '401', '403', '404', '408', '409', '422', '429', '500', '502', '503', '504', '529'];
const decisions = ['stub', 'default reply', 'unmatched', 'forced failure', 'chaos', 'rejected', 'models', 'embeddings', 'handler', 'preflight',
  'callback failed', 'answer failed', 'malformed'];
const PAGE = 200;
// More rows than these would make the page slow.
const MOST = 1000;

/// Returns a function that marks the row of the exchange that is open beside the list. `refiltered` is called after the
/// reader has changed a filter.
export function showJournal(main, { query, signal, refiltered }) {
  const filters = Object.fromEntries(['text', 'key', 'status', 'decision', 'findings'].map((name) => [name, query.get(name) ?? '']));
  const isFiltered = () => Object.values(filters).some(Boolean);
  const list = new Rows(filters);
  const note = el('p', { role: 'status', class: 'note' });
  const first = el('div');
  const older = button('Show older requests', () => showOlder(), { hidden: true });
  const hold = button('Pause', () => { feed.paused = !feed.paused; feed.changed(); }, { 'aria-pressed': 'false' });
  const newest = button('Back to the newest', () => restart(), { hidden: true });
  const feed = { paused: false, changed };
  let round = new AbortController();
  signal.addEventListener('abort', () => round.abort());

  add(main, filterForm(filters, filter, signal,
    el('span', { class: 'row end' }, hold, newest, button('Clear the journal', clear))),
    note, first, el('div', { class: 'scroll' }, list.element), el('div', { class: 'row' }, older));
  reviewed.addEventListener('changed', () => {
    list.markFindings();
    changed();
  }, { signal });
  restart();
  return (id) => list.select(id);

  /// Shows the rows that pass the filters, which stay in the address.
  function filter(values) {
    Object.assign(filters, values);
    history.replaceState(null, '', withQuery(location.hash.split('?')[0] || '#/journal', filters));
    restart();
    refiltered?.();
  }

  /// Loads the newest rows, then follows the changes until the reader leaves the view or it restarts.
  async function restart() {
    round.abort();
    round = new AbortController();
    list.clear();
    first.replaceChildren();
    Object.assign(feed, { paused: false, waiting: new Map(), overflown: false, more: false, evicted: 0, loaded: false });
    newest.hidden = true;
    const { signal: ended } = round;
    await follow(ended).catch((error) => complain(error, ended));
  }

  async function follow(ended) {
    const newestPage = await ask({ limit: PAGE }, ended);
    list.take(newestPage.exchanges);
    Object.assign(feed, { more: newestPage.more, evicted: newestPage.evicted, loaded: true });
    if (list.size === 0 && !isFiltered()) await offerFirst(ended);
    changed();
    // Not awaited: it runs until the reader leaves the view.
    changes(newestPage.cursor, ended).catch((error) => complain(error, ended));
  }

  async function changes(cursor, ended) {
    while (!ended.aborted) {
      await whenVisible(ended);
      const answer = await ask({ after: cursor, wait: '20s', limit: MOST }, ended);
      cursor = answer.cursor;
      feed.evicted = answer.evicted;
      if (answer.exchanges.length === 0) continue;
      feed.overflown ||= feed.waiting.size + answer.exchanges.length > MOST;
      if (feed.overflown) feed.waiting.clear();
      else for (const exchange of answer.exchanges) feed.waiting.set(exchange.id, exchange);
      changed();
      // An answer holds all changes since the last one: ten a second are enough for a busy gateway.
      await pause(100, ended);
    }
  }

  /// The gateway has no filter for findings: the list hides rows.
  function ask(values, ended) {
    return answered(withQuery('/journal', { ...values, ...filters, findings: '' }), ended);
  }

  /// Shows how to make the first request.
  async function offerFirst(ended) {
    const { base_url: address } = await answered('', ended);
    const line = `curl ${address}/chat/completions -H "Authorization: Bearer $OPENAI_API_KEY" -H 'Content-Type: application/json' ` +
      `-d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'`;
    refill(first, el('p', {}, 'Point a client at ', el('code', {}, address), ', with the default key or another one of the view API keys:'),
      shownText(line), button('Copy the first request', () => copy('the first request', line)));
  }

  /// Draws once for all changes before the next frame.
  function changed() {
    if (feed.frame) return;
    feed.frame = requestAnimationFrame(() => {
      feed.frame = 0;
      if (!feed.paused && feed.overflown) return void restart();
      if (!feed.paused && feed.waiting.size > 0) {
        feed.more = list.take([...feed.waiting.values()], feed.more) || feed.more;
        feed.waiting.clear();
      }
      hold.textContent = feed.paused ? 'Resume' : 'Pause';
      hold.setAttribute('aria-pressed', String(feed.paused));
      older.hidden = !feed.more;
      const held = feed.paused ? ` Paused${feed.overflown ? '; the newest requests are not shown' : `, with ${count(feed.waiting.size, 'change')} since`}.` : '';
      const dropped = feed.evicted > 0 ? ` The journal has dropped ${count(feed.evicted, 'older request')}.` : '';
      const number = filters.findings ? `${list.found} of ${count(list.size, 'request')} with findings` : count(list.size, 'request');
      const text = list.size === 0 && feed.loaded ? (isFiltered() ? 'No request passes the filters.' : 'No requests yet.') : `${number}, newest first${feed.more ? '; there are older ones' : ''}.`;
      if (list.size > 0) first.replaceChildren();
      judge();
      if (note.textContent !== text + held + dropped) note.textContent = text + held + dropped;
    });
  }

  /// Gets the review soon, once for all requests that come until then.
  function judge() {
    if (feed.judging || list.size === 0) return;
    feed.judging = true;
    pause(1000, signal).then(() => {
      feed.judging = false;
      if (!signal.aborted) askReview(signal);
    });
  }

  async function showOlder() {
    const answer = await ask({ before: list.oldest, limit: PAGE }, round.signal);
    feed.more = answer.more;
    if (list.size + answer.exchanges.length > MOST) {
      // The newest rows make room. New requests wait: they would not be next to the rows that are left.
      Object.assign(feed, { paused: true, overflown: true });
      newest.hidden = false;
      list.dropNewest(list.size + answer.exchanges.length - MOST);
    }
    list.take(answer.exchanges, false);
    changed();
  }

  async function clear() {
    if (!await confirmed('Clear the journal?', 'This deletes all exchanges. The problems that verify reports stay.', 'Clear')) return;
    await call('DELETE', '/journal');
    await restart();
    say('The journal is empty.');
  }
}

/// The rows of the table, newest first. A request and its retries are a group: the last try stands at its place, and the
/// earlier ones below it.
class Rows {
  /// `filters` go with each address, so that the list beside an exchange keeps them.
  constructor(filters) {
    this.filters = filters;
    this.rows = new Map();
    this.questions = new Map();  // the exchanges of equal requests, oldest first
    this.selected = undefined;
    this.element = table('Requests, newest first', headings, [], { class: 'cards journal', click: openRow });
    this.body = this.element.tBodies[0];
  }

  get size() { return this.rows.size; }
  get found() { return [...this.rows.values()].filter((made) => !made.hidden).length; }

  /// The id from which on all requests have a row: that of the last row that is no earlier try.
  get oldest() {
    let last = this.body.lastChild;
    while (last && isEarlierTry(last)) last = last.previousSibling;
    return last ? Number(last.dataset.id) : undefined;
  }

  clear() {
    this.rows.clear();
    this.questions.clear();
    this.body.replaceChildren();
  }

  /// Adds or replaces the rows of these exchanges. With `more`, exchanges older than all rows are left to "older requests".
  /// Returns whether old rows made room.
  take(exchanges, more = false) {
    const oldest = this.oldest;
    const asked = new Set();
    for (const exchange of exchanges) {
      const { id } = exchange;
      const known = this.rows.get(id);
      if (!known && more && id < oldest) continue;
      const made = exchangeRow(exchange, withQuery(`#/exchange/${id}`, this.filters));
      if (id === this.selected) made.setAttribute('aria-current', 'true');
      if (known) keepFocus(known, made, () => known.replaceWith(made));
      this.rows.set(id, made);
      this.mark(id, made);
      asked.add(this.remember(exchange, made));
    }
    for (const tries of asked) this.group(tries);
    const dropped = this.size > MOST;
    while (this.size > MOST) this.remove(this.body.lastChild);
    return dropped;
  }

  /// Adds an exchange to those of equal requests, and returns them, oldest first.
  remember(exchange, made) {
    const question = questionOf(exchange);
    made.dataset.question = question;
    const tries = this.questions.get(question) ?? this.questions.set(question, []).get(question);
    const at = tries.findIndex(({ id }) => id >= exchange.id);
    const isKnown = tries[at]?.id === exchange.id;
    tries.splice(at < 0 ? tries.length : at, isKnown ? 1 : 0, tryOf(exchange));
    return tries;
  }

  /// Puts the row of each request at its place, with its earlier tries below it.
  group(tries) {
    let first = 0;
    tries.forEach((one, index) => {
      if (isRetry(tries[index + 1], one)) return;
      this.stack(tries.slice(first, index + 1).map(({ id }) => this.rows.get(id)).reverse());
      first = index + 1;
    });
  }

  /// Puts the tries of one request below each other, the last one first.
  stack(tries) {
    tries.forEach((made, index) => {
      const isPlaced = index > 0 ? made.previousSibling === tries[index - 1] : made.isConnected && !isEarlierTry(made);
      made.classList.toggle('earlier', index > 0);
      if (tries.length > 1) made.querySelector('.try').textContent = index > 0 ? `try ${tries.length - index}` : `${tries.length} tries`;
      if (isPlaced) return;
      const next = index > 0 ? tries[index - 1].nextSibling : this.placeOf(Number(made.dataset.id));
      keepFocus(made, made, () => this.body.insertBefore(made, next));
    });
  }

  /// Marks the row of this exchange, and no other.
  select(id) {
    this.rows.get(this.selected)?.removeAttribute('aria-current');
    this.selected = id;
    this.rows.get(id)?.setAttribute('aria-current', 'true');
  }

  markFindings() {
    for (const [id, made] of this.rows) this.mark(id, made);
  }

  mark(id, made) {
    made.querySelector('.findings').replaceChildren(...marks(id));
    made.hidden = Boolean(this.filters.findings) && !findingsOf(id);
  }

  /// The row before which this one stands. New rows mostly belong to the top, older ones to the end.
  placeOf(id) {
    if (id < this.oldest) return null;
    let next = this.body.firstChild;
    while (next && (isEarlierTry(next) || Number(next.dataset.id) > id)) next = next.nextSibling;
    return next;
  }

  dropNewest(number) {
    for (let left = number; left > 0 && this.body.firstChild; --left) this.remove(this.body.firstChild);
  }

  remove(old) {
    const [id, question] = [Number(old.dataset.id), old.dataset.question];
    const tries = this.questions.get(question);
    tries.splice(tries.findIndex((one) => one.id === id), 1);
    if (tries.length === 0) this.questions.delete(question);
    this.rows.delete(id);
    old.remove();
  }
}

const isEarlierTry = (made) => made.classList.contains('earlier');

/// A hash, which equal requests of a key share.
function questionOf({ key, request: { method, target, body } }) {
  let sum = 0;
  for (const unit of JSON.stringify([key?.id, method, target, body])) sum = (sum * 31 + unit.codePointAt(0)) | 0;
  return String(sum);
}

function tryOf({ id, status, outcome, received, ended, request }) {
  return { id, received: new Date(received), ended: new Date(ended),
    hasFailed: outcome !== 'pending' && (status >= 400 || outcome !== 'completed'),
    isNewCall: request.headers.some(([name, value]) => name.toLowerCase() === 'x-stainless-retry-count' && value === '0') };
}

/// Whether the second of two equal requests, if any, came after the first had failed. The client may be a little faster than
/// the gateway's clock.
const isRetry = (second, first) => second && first.hasFailed && !second.isNewCall && second.received - first.ended > -50;

function keepFocus(old, made, move) {
  const focused = old.contains(document.activeElement);
  move();
  if (focused) made.querySelector('a')?.focus();
}

/// Opens the exchange of the row that is clicked, unless the reader selects text.
function openRow({ target }) {
  if (target.closest('a, button') || String(getSelection())) return;
  target.closest('tr')?.querySelector('a')?.click();
}

/// The mark of an exchange with findings.
function marks(id) {
  const found = findingsOf(id);
  if (!found) return [];
  const said = count(found.count, 'finding');
  return [el('span', { class: `badge ${badgeOf(found.severity)}`, title: `${said}, ${found.severity} at most` },
    el('span', { 'aria-hidden': 'true' }, `▲ ${found.count}`), el('span', { class: 'for-readers' }, said))];
}

function exchangeRow(exchange, address) {
  const { request, decision, key } = exchange;
  const { model, stream } = request.body?.json ?? {};
  const said = lastUserText(request.body?.json);
  // A client that read none of the answer did not get its status.
  const shown = exchange.departure && exchange.departure.delivered === 0 ? 0 : exchange.status;
  const look = lookOf(exchange, shown);
  const reason = reasonOf(exchange);
  return row(headings, [
    el('a', { href: address, 'aria-label': `Exchange ${exchange.id}` }, String(exchange.id)),
    el('time', { datetime: exchange.received, title: exchange.received }, timeOfDay(exchange.received)),
    oneLine(cut(`${request.method} ${request.path}`, 120)),
    [oneLine(cut(typeof model === 'string' ? model : '', 60)), stream === true && el('span', { class: 'badge' }, 'stream')],
    oneLine(key ? cut(key.description || key.id, 60) : '–'),
    el('div', { class: 'said-by-user' }, el('span', { class: 'try' }), el('bdi', {}, said.length > 160 ? `${cut(said, 160)}…` : said)),
    [el('span', { class: `badge ${look}` }, String(shown || '–')), ...outcomeOf(exchange)],
    el('div', { class: 'line', title: reason }, decision.kind, reason && el('span', { class: 'why' }, ' ', reason)),
    el('span', { class: 'findings' }),
    el('span', { class: 'fixed' }, milliseconds(exchange.ended_ms)),
  ], { 'data-id': exchange.id });
}

/// The outcome of an exchange, unless it was completed.
export function outcomeOf({ outcome }) {
  return outcome === 'completed' ? [] : [' ', el('span', { class: outcome === 'pending' ? 'badge warn' : 'why' }, outcome)];
}

/// The colour of an exchange's status. An unmatched request is always a mistake of the test.
export function lookOf({ decision }, status) {
  if (decision.kind === 'unmatched' || status >= 500 || !status) return 'bad';
  return status >= 400 ? 'warn' : 'good';
}

/// A text that its column may cut; the title has all of it.
function oneLine(text) {
  return el('div', { class: 'line', title: text }, text);
}

function reasonOf({ decision, stub, near_misses: [closest] }) {
  const near = closest && `closest: ${closest.stub.name || place(closest.stub)}, ${closest.matched} of ${closest.total}`;
  const reason = decision.refusal ?? near ?? (stub ? stub.name || place(stub) || stub.title : decision.detail);
  return reason ? cut(reason.split('\n')[0], 200) : null;
}

/// The filters, which apply while the reader types.
function filterForm(filters, apply, signal, ...more) {
  const inputs = { text: el('input', { type: 'search', autocomplete: 'off' }), key: keySelect(filters.key, signal),
    status: select([['', 'any'], ...statuses], filters.status), decision: select([['', 'any'], ...decisions], filters.decision) };
  const only = el('input', { type: 'checkbox' });
  inputs.text.value = filters.text;
  only.checked = Boolean(filters.findings);
  let timer;
  const now = () => {
    clearTimeout(timer);
    const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value.trim()]));
    apply({ ...values, findings: only.checked ? '1' : '' });
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(now, 250);
  };
  signal.addEventListener('abort', () => clearTimeout(timer));
  return form(now, el('div', { class: 'row filters', input: soon }, field('Search', inputs.text), field('Key', inputs.key),
    field('Status', inputs.status), field('Answered by', inputs.decision), el('label', { class: 'check' }, only, 'Only findings'), more));
}
