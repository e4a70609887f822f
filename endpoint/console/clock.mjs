// The clock.

import { call, get } from './api.mjs';
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
    // The form is made once, so that it keeps what the reader types.
    if (kind !== clock.kind) controls.replaceChildren(...(clock.kind === 'manual' ? [advanceForm(refresh)] : []));
    kind = clock.kind;
  }, { signal });
  return refresh;
}

function described({ kind, now, waiting }) {
  if (kind === 'real') return el('p', {}, 'The gateway uses the real clock. With "gateway": {"clock": "manual"} in the script, this page advances the clock.');
  if (kind === 'instant') return el('p', {}, 'The clock is instant: every wait ends at once.');
  return [el('p', {}, 'The clock is manual. Time: ', el('time', { datetime: now }, timeOfDay(now)), ` (${now})`),
    waiting.length === 0 ? el('p', { class: 'note' }, 'Nothing is waiting.') :
      el('ul', {}, waiting.map((wait) => el('li', {}, cut(wait.what, 300), ` in ${milliseconds(wait.in_ms)}`)))];
}

function advanceForm(refresh) {
  const by = el('input', { size: 8, autocomplete: 'off' });
  by.value = '1s';
  const told = ({ moved_ms: moved, fired }) => say(`Advanced by ${milliseconds(moved)}; ${fired.length === 0 ? 'nothing was due' :
    `due: ${fired.slice(0, 10).map((wait) => cut(wait.what, 100)).join(', ')}${fired.length > 10 ? ` and ${fired.length - 10} more` : ''}`}.`);
  return form(async () => {
    const answer = await call('POST', '/clock/advance', { by: by.value.trim() });
    await refresh();
    told(answer);
  }, el('div', { class: 'row fields' }, field('By', by)), el('div', { class: 'row' }, el('button', {}, 'Advance'),
    button('To the next wait', async () => {
      const answer = await call('POST', '/clock/next');
      await refresh();
      told(answer);
    })));
}
