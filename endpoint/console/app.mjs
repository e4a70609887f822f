// The views with their titles and addresses; the form for the token; the header of the page.

import { connection, decoded, dropToken, exchangeCode, get, hasGoodToken, hasToken, isToken, keepToken,
  takeSecretFromAddress, takeTokenFromOtherTab } from './api.mjs';
import { add, button, el, field, form, refill } from './dom.mjs';
import { copy } from './dialogs.mjs';
import { live } from './live.mjs';
import { showControl } from './failures.mjs';
import { showExchange } from './exchange.mjs';
import { forgetReview } from './findings.mjs';
import { showJournal } from './journal.mjs';
import { showKeys } from './keys.mjs';
import { showReview } from './review.mjs';
import { showScript } from './script.mjs';
import { showStubs } from './stubs.mjs';

/// `numbered`: shows exchanges by number. The numbers mean other exchanges after a restart of the gateway.
const views = {
  journal: { title: 'Journal', show: showJournal, numbered: true },
  review: { title: 'Review', show: showReview },
  keys: { title: 'API keys', show: showKeys },
  stubs: { title: 'Stubs', one: 'Stub', show: showStubs },
  script: { title: 'Script', show: showScript },
  control: { title: 'Failures and clock', show: showControl },
  exchange: { title: 'Exchange', show: showExchange, under: 'journal', numbered: true },
};

const main = document.getElementById('main');
const nav = document.getElementById('views');
const state = document.getElementById('state');
const said = document.getElementById('said');
/// Wide enough for the list of exchanges and one exchange beside it.
const wide = matchMedia('(min-width: 75rem)');
let shown = new AbortController();
/// The list and the exchange beside it; the list stays while the reader opens other exchanges.
let pair;
let head = new AbortController();
let instance;

/// Parses the address: "#/exchange/7?x=y" is the view "exchange" with the parts ["7"] and the query "x=y".
function address() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...parts] = path.split('/').map(decoded);
  return { name: Object.hasOwn(views, name) ? name : 'journal', parts, query: new URLSearchParams(query) };
}

/// Shows the view of the address. `moved`: the reader went to another view, so the focus moves too.
function open(moved) {
  if (!hasToken()) {
    endShown();
    return askForToken();
  }
  const { name, parts, query } = address();
  const view = views[name];
  for (const link of nav.querySelectorAll('a')) {
    const here = link.dataset.view === (view.under ?? name);
    if (here) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const title = parts.length > 0 ? `${view.one ?? view.title} ${parts.join(' ')}` : view.title;
  document.title = `${title} – mock-gateway`;
  const heading = el('h1', { tabindex: -1 }, title);
  // A message is about one view.
  if (moved) said.replaceChildren();
  if (wide.matches && (name === 'journal' || name === 'exchange')) return openPair(heading, name, { parts, query }, moved);
  endShown();
  main.replaceChildren(heading);
  if (moved) {
    heading.focus();
    scrollTo(0, 0);
  }
  view.show(main, { parts, query, signal: shown.signal });
}

function endShown() {
  shown.abort();
  shown = new AbortController();
  pair = undefined;
}

/// Shows the journal, and the exchange of the address beside it. Keeps the list while only the exchange changes.
function openPair(heading, name, { parts, query }, moved) {
  const filters = query.toString();
  if (pair?.filters !== filters) {
    endShown();
    const list = el('div', { class: 'list' });
    const pane = el('div');
    main.replaceChildren(el('div', { class: 'pair' }, list, pane));
    pair = { filters, list, pane, exchange: new AbortController(), title: el('h1', { tabindex: -1 }, views.journal.title) };
    list.append(pair.title);
    const refiltered = () => {
      pair.filters = address().query.toString();
      open(false);
    };
    pair.select = showJournal(list, { query, signal: shown.signal, refiltered });
    scrollTo(0, 0);
  }
  pair.exchange.abort();
  const exchange = new AbortController();
  pair.exchange = exchange;
  shown.signal.addEventListener('abort', () => exchange.abort(), { signal: exchange.signal });
  const isOpen = name === 'exchange';
  main.firstElementChild.classList.toggle('open', isOpen);
  pair.title.hidden = isOpen;
  pair.select(isOpen ? Number(parts[0]) : undefined);
  pair.pane.className = isOpen ? 'pane' : '';
  pair.pane.replaceChildren();
  // The focus stays in the list if a key moved it to the next row.
  const stays = pair.list.contains(document.activeElement) && document.activeElement.closest('[aria-current]');
  if (isOpen) {
    const back = el('a', { class: 'close-pane', href: filters ? `#/journal?${filters}` : '#/journal' }, 'Close');
    add(pair.pane, el('div', { class: 'row' }, heading, back));
    pair.pane.scrollTop = 0;
    showExchange(pair.pane, { parts, query, signal: exchange.signal });
  }
  if (moved && !stays) (isOpen ? heading : pair.title).focus();
}

function askForToken(reason) {
  head.abort();
  nav.hidden = true;
  state.replaceChildren();
  document.title = 'Token – mock-gateway';
  const input = el('input', { type: 'password', autocomplete: 'off', required: true, spellcheck: 'false' });
  main.replaceChildren(el('h1', { tabindex: -1 }, 'Control token'));
  add(main, reason && el('p', { class: 'problem', role: 'alert' }, reason),
    el('p', {}, 'On a terminal, the gateway prints an address that opens the console once, within a minute. Otherwise, take the token',
      ' from the file of --info-file, or set it with MOCK_GATEWAY_CONTROL_TOKEN.'),
    form(() => {
      const token = input.value.trim();
      if (!isToken(token)) throw new Error('A token is one word of visible ASCII characters.');
      input.value = '';
      keepToken(token);
      start(true);
    }, field('Token', input), el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Open the console'))));
  input.focus();
}

function showState(root) {
  // Other views keep running, so that they keep what the reader types.
  const isAnother = instance !== undefined && instance !== root.instance;
  if (isAnother) {
    forgetReview();
    if (views[address().name].numbered) setTimeout(() => { endShown(); open(false); });
  }
  instance = root.instance;
  document.getElementById('version').textContent = root.version;
  const broken = root.script.problems.length > 0;
  refill(state,
    el('span', { class: 'badge ' + (root.listening ? 'good' : 'bad') }, root.listening ? 'listening' : 'not listening'),
    el('code', {}, root.base_url),
    button('Copy', () => copy('the base URL', root.base_url), { class: 'small quiet', 'aria-label': 'Copy the base URL',
      'data-focus': 'base-url' }),
    root.clock !== 'real' && el('span', { class: 'badge warn' }, `${root.clock} clock`),
    root.counts.open > 0 && el('span', { class: 'badge' }, `${root.counts.open} under way`),
    root.counts.asked > 0 && el('span', { class: 'badge warn' }, `${root.counts.asked} waiting for a reply`),
    broken && el('a', { class: 'badge bad', href: '#/script', 'data-focus': 'broken' }, 'the script has a mistake'));
}

/// Enters with the code of the address, or with the token of this tab or another one. The code is used only if no tab has a
/// good token: a link replaces no token, and the same address can be opened in two tabs.
async function enter(moved) {
  const secret = takeSecretFromAddress();
  const good = secret && await hasGoodToken();
  if (secret && !good) dropToken();
  await takeTokenFromOtherTab();
  let reason = secret?.name === 'token' ? 'The console takes no token from an address, because browsers keep addresses. Paste the token here.' : '';
  if (secret?.name === 'code' && !hasToken()) reason = await exchangeCode(secret.value);
  if (hasToken()) return start(moved);
  endShown();
  askForToken(reason);
}

/// Enters with the token of this tab.
function start(moved) {
  endShown();
  if (!hasToken()) return askForToken();
  nav.hidden = false;
  followState();
  open(moved);
}

function followState() {
  head.abort();
  head = new AbortController();
  live((signal) => get('', signal), showState, { every: 3000, signal: head.signal })();
}

connection.addEventListener('refused', () => {
  if (!hasToken()) return;
  dropToken();
  endShown();
  askForToken('The gateway refused this token. It may have restarted with a new one.');
});
connection.addEventListener('lost', () => {
  state.replaceChildren(el('span', { class: 'badge bad' }, 'The gateway does not answer. Retrying …'));
  state.dataset.lost = 'yes';
});
connection.addEventListener('found', () => {
  if (state.dataset.lost !== 'yes') return;
  delete state.dataset.lost;
  if (hasToken()) followState();
});

wide.addEventListener('change', () => {
  if (hasToken() && ['journal', 'exchange'].includes(address().name)) open(false);
});

add(nav, el('ul', {}, Object.entries(views).filter(([, view]) => !view.under).map(([name, view]) =>
  el('li', {}, el('a', { href: `#/${name}`, 'data-view': name }, view.title)))));
// The skip link's own address would open a view.
document.getElementById('skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener('hashchange', () => {
  if (/^#(code|token)=/.test(location.hash)) enter(true);
  else open(true);
});
enter(false);
