// The clock.

import { call, get } from './api.mjs';
import { curlButton } from './dialogs.mjs';
import { button, el, field, form, refill, say } from './dom.mjs';
import { live } from './live.mjs';
import { cut, milliseconds, timeOfDay } from './text.mjs';

export function showClock(parts, signal) {
  const now = el('div');
  const controls = el('div');
  const section = el('section', {}, el('h2', {}, 'Clock'), now, controls);
  parts.append(section);
  let kind;
  const refresh = live((ended) => get('/clock', ended), (clock) => {
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
