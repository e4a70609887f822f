// Two exchanges side by side, and where their requests and answers differ.

import { call } from './api.mjs';
import { answered as saidIn, conversation } from './conversation.mjs';
import { curlButton } from './dialogs.mjs';
import { add, el, table, text } from './dom.mjs';
import { lookOf } from './journal.mjs';
import { answered, complain } from './live.mjs';
import { count, cut, jsonText } from './text.mjs';

const most = 200;

export async function showCompared(main, { parts, signal }) {
  const ids = parts.slice(0, 2).map(Number);
  const get = (id) => answered(() => call('GET', `/journal/${id}`, undefined, { signal }), signal);
  try {
    const both = await Promise.all(ids.map(get));
    const found = differences(facts(both[0]), facts(both[1]));
    add(main,
      el('p', { class: 'row' }, el('a', { href: '#/journal' }, 'Journal'), curlButton('these exchanges', () =>
        ids.map((id) => [`Exchange ${id}`, 'GET', `/journal/${id}`]))),
      el('p', { class: 'lead', role: 'status' }, found.length === 0 ? 'They say the same.' : `They differ in ${count(found.length, 'place')}.`),
      found.length > 0 && el('div', { class: 'scroll' }, table('Where they differ', ['Place', ...ids.map((id) => `Exchange ${id}`)],
        found.slice(0, most).map(({ place, values }) => [el('code', {}, cut(place, 300)), ...values.map(shown)]))),
      found.length > most && el('p', {}, `and ${count(found.length - most, 'more place')}`),
      el('div', { class: 'parts' }, both.map((exchange) => el('section', {},
        el('h2', {}, el('a', { href: `#/exchange/${exchange.id}` }, `Exchange ${exchange.id}`), ' ',
          el('span', { class: `badge ${lookOf(exchange, exchange.status)}` }, String(exchange.status || 'no status'))),
        conversation(exchange) ?? el('p', {}, 'It is no chat.')))));
  } catch (error) {
    if (error.status === 404) add(main, el('p', { role: 'alert' }, `The journal does not have both: ${error.message}.`));
    else complain(error, signal);
  }
}

/// What two exchanges are compared by: times, lengths and ids of their own differ always, and say nothing. Of an answer it
/// is what was said, streamed or not.
function facts({ request, key, decision, stub, status, outcome, answer }) {
  const headers = Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value]));
  delete headers['content-length'];
  const said = saidIn(answer);
  const isChat = said.choices.length > 0 || said.error;
  return { method: request.method, target: request.target, headers, body: request.body?.json ?? request.body, key: key?.id ?? null,
    decision: decision.kind, stub: stub ? stub.name ?? stub.title : null, status, outcome,
    answer: isChat ? said : answer?.body?.json ?? answer?.body ?? null };
}

/// The places at which two values differ, as JSON pointers, with both values; undefined where one has nothing.
function differences(one, other, place = '') {
  if (JSON.stringify(one) === JSON.stringify(other)) return [];
  const isObject = (value) => value !== null && typeof value === 'object';
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return [{ place: place || '/', values: [one, other] }];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) =>
    differences(one[key], other[key], `${place}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`));
}

function shown(value) {
  return value === undefined ? el('span', { class: 'muted' }, 'not there') :
    text(typeof value === 'string' ? value : jsonText(value), { most: 300, tag: 'span', name: 'value' });
}
