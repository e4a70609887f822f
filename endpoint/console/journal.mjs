// The list of exchanges: columns, filters, following.

import { call, withQuery } from './api.mjs';
import { lastUserText } from './conversation.mjs';
import { confirmed, copy, curlButton } from './dialogs.mjs';
import { add, badgeOf, button, el, field, form, refill, row, say, select, table, text as shownText } from './dom.mjs';
import { askReview, findingsOf, reviewed } from './findings.mjs';
import { answered, complain, pause, whenVisible } from './live.mjs';
import { count, cut, milliseconds, place, timeOfDay } from './text.mjs';

const headings = ['#', 'Time', 'Request', 'Model', 'Key', 'Said', 'Status', 'Answered by', 'Outcome', 'Took'];
const decisions = ['stub', 'default reply', 'unmatched', 'forced failure', 'chaos', 'rejected', 'models', 'embeddings', 'handler', 'preflight',
  'callback failed', 'answer failed', 'malformed'];
const PAGE = 200;
// More rows than these would make the page slow.
const MOST = 1000;

/// Returns what marks the row of the exchange that is open beside the list.
export function showJournal(main, { query, signal }) {
  const filters = Object.fromEntries(['key', 'status', 'decision', 'text'].map((name) => [name, query.get(name) ?? '']));
  const list = new Rows(filters);
  const note = el('p', { role: 'status', class: 'note' });
  const first = el('div');
  const older = button('Show older requests', () => showOlder(), { hidden: true });
  const hold = button('Pause', () => { feed.paused = !feed.paused; feed.changed(); }, { 'aria-pressed': 'false' });
  const newest = button('Back to the newest', () => restart(), { hidden: true });
  const feed = { paused: false, changed };
  let round = new AbortController();
  signal.addEventListener('abort', () => round.abort());

  add(main, filterForm(filters, signal),
    el('div', { class: 'row' }, hold, newest, button('Clear the journal', clear), curlButton('the journal', () => [
      ['What this view shows', 'GET', withQuery('/journal', { limit: PAGE, ...filters })],
      ['Clear the journal', 'DELETE', '/journal']])),
    note, first, el('div', { class: 'scroll' }, list.element), el('div', { class: 'row' }, older));
  reviewed.addEventListener('changed', () => list.markFindings(), { signal });
  restart();
  return (id) => list.select(id);

  /// Loads the newest rows, then follows the changes until the view is left or loads anew.
  async function restart() {
    round.abort();
    round = new AbortController();
    list.clear();
    Object.assign(feed, { paused: false, waiting: new Map(), overflown: false, more: false, evicted: 0, loaded: false });
    newest.hidden = true;
    const { signal: ended } = round;
    await follow(ended).catch((error) => complain(error, ended));
  }

  async function follow(ended) {
    const newestPage = await ask({ limit: PAGE }, ended);
    list.take(newestPage.exchanges);
    Object.assign(feed, { more: newestPage.more, evicted: newestPage.evicted, loaded: true });
    if (list.size === 0 && !Object.values(filters).some(Boolean)) await offerFirst(ended);
    changed();
    // Nobody waits for the changes, so that the view is shown.
    changes(newestPage.cursor, ended).catch((error) => complain(error, ended));
  }

  async function changes(cursor, ended) {
    while (!ended.aborted) {
      await whenVisible(ended);
      const answer = await ask({ after: cursor, wait: '20s', limit: MOST }, ended);
      cursor = answer.cursor;
      feed.evicted = answer.evicted;
      if (answer.exchanges.length === 0) continue;
      for (const exchange of answer.exchanges) feed.waiting.set(exchange.id, exchange);
      dropOldest(feed);
      changed();
      // Each answer holds all that has changed since: a busy gateway is asked ten times a second.
      await pause(100, ended);
    }
  }

  function ask(values, ended) {
    return answered(withQuery('/journal', { ...values, ...filters }), ended);
  }

  /// Shows how the first request is made.
  async function offerFirst(ended) {
    const { base_url: address } = await answered('', ended);
    const line = `curl ${address}/chat/completions -H "Authorization: Bearer $OPENAI_API_KEY" -H 'Content-Type: application/json' ` +
      `-d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'`;
    refill(first, el('p', {}, 'A client calls it at ', el('code', {}, address), ' with a key of the page API keys; the default one was printed at the start:'),
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
      hold.textContent = feed.paused ? 'Go on' : 'Pause';
      hold.setAttribute('aria-pressed', String(feed.paused));
      older.hidden = !feed.more;
      const held = feed.paused ? ` Paused; ${feed.overflown ? 'at least ' : ''}${count(feed.waiting.size, 'change')} since.` : '';
      const dropped = feed.evicted > 0 ? ` The journal has dropped ${count(feed.evicted, 'older one')}.` : '';
      const text = list.size === 0 && feed.loaded ? empty(filters) : `${count(list.size, 'request')}, the newest first${feed.more ? ', and older ones' : ''}.`;
      if (list.size > 0) first.replaceChildren();
      judge();
      if (note.textContent !== text + held + dropped) note.textContent = text + held + dropped;
    });
  }

  /// Asks what the review says of what came, soon, and once for all that comes until then.
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
      // Room is made at the top. What is new would not be next to what is shown, so it waits.
      Object.assign(feed, { paused: true, overflown: true });
      newest.hidden = false;
      list.dropNewest(list.size + answer.exchanges.length - MOST);
    }
    list.take(answer.exchanges, false);
    changed();
  }

  async function clear() {
    if (!await confirmed('Clear the journal?', 'What is recorded is forgotten. What verify reports stays.', 'Clear')) return;
    await call('DELETE', '/journal');
    await restart();
    say('The journal is empty.');
  }
}

function empty(filters) {
  return Object.values(filters).some(Boolean) ? 'No request fits the filters.' : 'No request has come yet.';
}

function dropOldest(feed) {
  for (const id of feed.waiting.keys()) {
    if (feed.waiting.size <= MOST) return;
    feed.waiting.delete(id);
    feed.overflown = true;
  }
}

/// The rows of the table, sorted by number, the newest first.
class Rows {
  /// `filters` go with each address, so that the list beside an exchange stays what it was.
  constructor(filters) {
    this.filters = filters;
    this.rows = new Map();
    this.selected = undefined;
    this.element = table('Requests, the newest first', headings, [], { class: 'cards journal', click: openRow });
    this.body = this.element.tBodies[0];
  }

  get size() { return this.rows.size; }
  get oldest() { return this.size > 0 ? Number(this.body.lastChild.dataset.id) : undefined; }

  clear() {
    this.rows.clear();
    this.body.replaceChildren();
  }

  /// Adds or replaces the rows of these exchanges. With `more`, those older than all rows are left to "older requests".
  /// Returns whether old rows made room.
  take(exchanges, more = false) {
    const oldest = this.oldest;
    for (const exchange of exchanges) {
      const { id } = exchange;
      const made = exchangeRow(exchange, withQuery(`#/exchange/${id}`, this.filters));
      if (id === this.selected) made.setAttribute('aria-current', 'true');
      const known = this.rows.get(id);
      if (known) keepFocus(known, made);
      else if (more && id < oldest) continue;
      else this.body.insertBefore(made, this.placeOf(id));
      this.rows.set(id, made);
    }
    const dropped = this.size > MOST;
    while (this.size > MOST) this.remove(this.body.lastChild);
    return dropped;
  }

  /// Marks the row of this exchange, and no other.
  select(id) {
    this.rows.get(this.selected)?.removeAttribute('aria-current');
    this.selected = id;
    this.rows.get(id)?.setAttribute('aria-current', 'true');
  }

  markFindings() {
    for (const [id, made] of this.rows) made.querySelector('.findings').replaceChildren(...marks(id));
  }

  /// The row before which this one stands. New ones mostly belong to the top, older ones to the end.
  placeOf(id) {
    if (this.size > 0 && id < this.oldest) return null;
    let next = this.body.firstChild;
    while (next && Number(next.dataset.id) > id) next = next.nextSibling;
    return next;
  }

  dropNewest(number) {
    for (let left = number; left > 0 && this.body.firstChild; --left) this.remove(this.body.firstChild);
  }

  remove(old) {
    this.rows.delete(Number(old.dataset.id));
    old.remove();
  }
}

function keepFocus(old, made) {
  const focused = old.contains(document.activeElement);
  old.replaceWith(made);
  if (focused) made.querySelector('a')?.focus();
}

/// A click anywhere in a row opens its exchange, unless it marks a text.
function openRow({ target }) {
  if (target.closest('a, button') || String(getSelection())) return;
  target.closest('tr')?.querySelector('a')?.click();
}

/// What the review says of an exchange, in a row.
function marks(id) {
  const found = findingsOf(id);
  if (!found) return [];
  const said = count(found.count, 'finding');
  return [el('span', { class: `badge ${badgeOf(found.severity)}`, title: `${said}, the heaviest of severity ${found.severity}` },
    el('span', { 'aria-hidden': 'true' }, `▲ ${found.count}`), el('span', { class: 'for-readers' }, said))];
}

function exchangeRow(exchange, address) {
  const { request, decision, key } = exchange;
  const pending = exchange.outcome === 'pending';
  const { model, stream } = request.body?.json ?? {};
  const said = lastUserText(request.body?.json);
  // Nobody has received the status of an answer of which nothing was read.
  const shown = exchange.departure && exchange.departure.delivered === 0 ? 0 : exchange.status;
  const look = lookOf(exchange, shown);
  return row(headings, [
    el('a', { href: address, 'aria-label': `Exchange ${exchange.id}` }, String(exchange.id)),
    el('time', { datetime: exchange.received, title: exchange.received }, timeOfDay(exchange.received)),
    oneLine(cut(`${request.method} ${request.path}`, 120)),
    [oneLine(cut(typeof model === 'string' ? model : '', 60)), stream === true && el('span', { class: 'badge' }, 'stream')],
    oneLine(key ? cut(key.description || key.id, 60) : '–'),
    el('span', { class: 'said-by-user', dir: 'auto' }, said.length > 160 ? `${cut(said, 160)}…` : said),
    el('span', { class: `badge ${look}` }, String(shown || '–')),
    el('div', { class: 'line', title: wholeReason(exchange) }, decision.kind, why(exchange)),
    [el('span', { class: pending ? 'badge warn' : '' }, exchange.outcome), el('span', { class: 'findings' }, marks(exchange.id))],
    el('span', { class: 'fixed' }, milliseconds(exchange.ended_ms)),
  ], { 'data-id': exchange.id });
}

/// The colour of an exchange's status: what no stub answered is a mistake of the test, whatever the status is.
export function lookOf({ decision }, status) {
  return decision.kind === 'unmatched' ? 'bad' : statusClass(status);
}

function statusClass(status) {
  if (status >= 500 || status === 0) return 'bad';
  return status >= 400 ? 'warn' : 'good';
}

/// What is cut by the width of its column stands whole in the title.
function oneLine(text) {
  return el('div', { class: 'line', title: text }, text);
}

function wholeReason({ decision, stub, near_misses: [closest] }) {
  const near = closest && `closest: ${closest.stub.name || place(closest.stub)}, ${closest.matched} of ${closest.total}`;
  const reason = decision.refusal ?? near ?? (stub ? stub.name || place(stub) || stub.title : decision.detail);
  return reason ? cut(reason.split('\n')[0], 200) : null;
}

function why(exchange) {
  const reason = wholeReason(exchange);
  return reason && el('span', { class: 'why' }, ' ', reason);
}

function filterForm(filters, signal) {
  const key = select([['', 'any'], ...(filters.key ? [[filters.key, filters.key]] : [])]);
  const status = el('input', { inputmode: 'numeric', size: 5, autocomplete: 'off' });
  const decision = select([['', 'any'], ...decisions.map((kind) => [kind, kind])]);
  const text = el('input', { type: 'search', autocomplete: 'off' });
  const inputs = { key, status, decision, text };
  const put = () => { for (const [name, input] of Object.entries(inputs)) input.value = filters[name]; };
  put();
  answered('/keys', signal).then(({ keys }) => {
    key.replaceChildren(...select([['', 'any'], ...keys.map(({ id, name }) => [id, cut(name || id, 60)])]).children);
    if (filters.key && !keys.some(({ id }) => id === filters.key)) key.append(new Option(filters.key, filters.key));
    put();
  }).catch(() => {});
  const apply = () => {
    const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value.trim()]));
    location.hash = withQuery('#/journal', values);
  };
  return form(apply, el('div', { class: 'row filters' }, field('Key', key), field('Status', status), field('Answered by', decision),
    field('Text', text), el('button', {}, 'Filter'), el('a', { href: '#/journal' }, 'All requests')));
}
