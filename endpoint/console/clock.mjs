// The clock, gates and asked replies of that view.

import { call } from './api.mjs';
import { curlButton } from './dialogs.mjs';
import { button, el, field, form, refill, say, table, text } from './dom.mjs';
import { live } from './live.mjs';
import { cut, jsonText, milliseconds, timeOfDay } from './text.mjs';

export function showClock(parts, signal) {
  const now = el('div');
  const controls = el('div');
  const section = el('section', {}, el('h2', {}, 'Clock'), now, controls);
  parts.append(section);
  let kind;
  const refresh = live((ended) => call('GET', '/clock', undefined, { signal: ended }), (clock) => {
    refill(now, described(clock));
    // What is being typed stays: the form is made once.
    if (kind !== clock.kind) controls.replaceChildren(...(clock.kind === 'manual' ? [advanceForm(refresh)] : []));
    kind = clock.kind;
  }, { signal });
  return refresh;
}

function described({ kind, now, waiting }) {
  if (kind === 'real') return el('p', {}, 'It is the real one, which nothing moves. A script with "gateway": {"clock": "manual"} has one that is moved here.');
  if (kind === 'instant') return el('p', {}, 'It waits for nothing: each wait is over at once.');
  return [el('p', {}, 'It is moved by hand. Now: ', el('time', { datetime: now }, timeOfDay(now)), ` (${now})`),
    waiting.length === 0 ? el('p', { class: 'note' }, 'Nothing waits.') :
      el('ul', {}, waiting.map((wait) => el('li', {}, cut(wait.what, 300), ` in ${milliseconds(wait.in_ms)}`)))];
}

function advanceForm(refresh) {
  const by = el('input', { size: 8, autocomplete: 'off' });
  by.value = '1s';
  const told = ({ moved_ms: moved, fired }) => say(`Moved by ${milliseconds(moved)}; ${fired.length === 0 ? 'nothing was due' :
    `due: ${fired.slice(0, 10).map((wait) => cut(wait.what, 100)).join(', ')}${fired.length > 10 ? ` and ${fired.length - 10} more` : ''}`}.`);
  return form(async () => {
    const answer = await call('POST', '/clock/advance', { by: by.value.trim() });
    await refresh();
    told(answer);
  }, el('div', { class: 'row fields' }, field('By', by)), el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Advance'),
    button('To the next wait', async () => {
      const answer = await call('POST', '/clock/next');
      await refresh();
      told(answer);
    }), curlButton('the clock', () => [['Advance', 'POST', '/clock/advance', { by: by.value.trim() }], ['To the next wait', 'POST', '/clock/next']])));
}

export function showGates(parts, signal) {
  const list = el('div');
  parts.append(el('section', {}, el('h2', {}, 'Gates'), el('p', {}, 'A reply with a hold waits at its gate.'), list));
  const headings = ['Gate', 'Waiting', 'Reached', 'Passed', 'State', 'Actions'];
  const refresh = live((ended) => call('GET', '/gates', undefined, { signal: ended }), ({ gates }) => {
    refill(list, gates.length === 0 ? el('p', { class: 'note' }, 'There is none.') :
      el('div', { class: 'scroll' }, table('Gates', headings, gates.map((gate) => {
        const path = `/gates/${encodeURIComponent(gate.name)}`;
        const name = cut(gate.name, 100);
        const act = (label, what) => button(label, async () => {
          await call('POST', `${path}/${what}`);
          await refresh();
          say(what === 'open' ? `${name} is open.` : `${name} lets one pass: the one that waits longest, or the next.`);
        }, { class: 'small', 'aria-label': `${label} ${name}`, 'data-focus': `${what}:${gate.name}` });
        return [el('strong', {}, name), String(gate.waiting), String(gate.reached), String(gate.passed),
          el('span', { class: `badge ${gate.open ? 'good' : 'warn'}` }, gate.open ? 'open' : 'closed'),
          el('div', { class: 'row' }, act('Release one', 'release'), act('Open', 'open'), curlButton(name, () => [
            ['Release one', 'POST', `${path}/release`], ['Open for good', 'POST', `${path}/open`]], `curl:${gate.name}`))];
      }))));
  }, { signal });
  return refresh;
}

/// Requests of stubs with `ask`. Each keeps its form while it waits, so that a reply that is being typed stays.
export function showAsked(parts, signal) {
  const list = el('div');
  const none = el('p', { class: 'note' }, 'None waits for a reply.');
  const forms = new Map();
  parts.append(el('section', {}, el('h2', {}, 'Asked requests'), el('p', {}, 'A stub with "ask" leaves its reply to the reader.'), none, list));
  const refresh = live((ended) => call('GET', '/asked', undefined, { signal: ended }), ({ asked }) => {
    none.hidden = asked.length > 0;
    for (const [exchange, made] of forms) {
      if (asked.some((one) => one.exchange === exchange)) continue;
      const focused = made.contains(document.activeElement);
      made.remove();
      forms.delete(exchange);
      if (focused) document.querySelector('#main h1')?.focus();
    }
    for (const one of asked) {
      if (forms.has(one.exchange)) continue;
      forms.set(one.exchange, answerForm(one, refresh));
      list.append(forms.get(one.exchange));
    }
  }, { every: 1000, signal });
  return refresh;
}

function answerForm({ exchange, request, since }, refresh) {
  const reply = el('textarea', { rows: 3, class: 'code' });
  // A text is a reply by itself; what begins with a brace is an object as in scripts.
  const body = () => `{"reply": ${reply.value.trim().startsWith('{') ? reply.value : JSON.stringify(reply.value)}}`;
  const path = `/asked/${exchange}`;
  return el('div', { class: 'card' },
    // The journal has it when it is answered.
    el('h3', {}, `Exchange ${exchange} waits since ${timeOfDay(since)}`),
    el('details', {}, el('summary', {}, 'Request'), text(jsonText(request), { most: 4000 })),
    form(async () => {
      await call('POST', path, body());
      await refresh();
      say(`Exchange ${exchange} has its reply.`);
    }, field('Reply', reply, 'A text, or an object as in scripts, such as {"failure": 503}.'),
    el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Answer'), curlButton(`the reply to exchange ${exchange}`, () => [['Answer', 'POST', path, body()]]))));
}
