// Failures, chaos, connection faults, the clock, the port, resetting the gateway.

import { call, get } from './api.mjs';
import { confirmed } from './dialogs.mjs';
import { add, button, editor, el, field, form, refill, say, select, withOptions } from './dom.mjs';
import { keySelect } from './keys.mjs';
import { answered, live } from './live.mjs';
import { cut, milliseconds, timeOfDay } from './text.mjs';

/// Puts the names that scripts may give to a type in front of the options of a select.
function offerNames(made, type, signal) {
  answered('/schema', signal).then(({ $defs }) =>
    withOptions(made, [...$defs[type].anyOf[0].enum, ...[...made.options].slice(1).map((one) => [one.value, one.text])])).catch(() => {});
}

const chaosExample = '{"failure": "overloaded", "nth": 3}';

export function showControl(main, { signal }) {
  const sections = [failureSection, chaosSection, connectionSection, clockSection, listeningSection];
  const parts = el('div', { class: 'parts' });
  add(main, parts);
  const refreshes = sections.map((show) => show(parts, signal));
  const refreshAll = () => Promise.all(refreshes.map((refresh) => refresh()));
  add(parts, resetSection(refreshAll));
  return refreshAll();
}

/// A section with the list of a path, a button that clears it, and a form that adds to it. `body` returns the request's body.
function mounted(parts, signal, { title, path, about, line, label, said, fields, body }) {
  const list = el('div');
  const name = path.slice(1);
  const refresh = live((ended) => get(path, ended), (answer) => {
    const all = answer[name];
    refill(list, all.length > 0 && [
      el('ul', {}, all.map((one) => el('li', {}, line(one)))),
      el('div', { class: 'row' }, button('Clear all', clear, { class: 'small danger', 'aria-label': `Clear all: ${title}`, 'data-focus': `clear:${name}` }))]);
  }, { signal });
  async function clear() {
    await call('DELETE', path);
    await refresh();
    say(`${title}: cleared.`);
  }
  parts.append(el('section', {}, el('h2', {}, title), el('p', {}, about), list, form(async () => {
    await call('POST', path, body());
    await refresh();
    say(said);
  }, fields, el('div', { class: 'row' }, el('button', {}, label)))));
  return refresh;
}

const left = (one) => one.left === null || one.left === undefined ? ', always' : `, ${one.left} left`;

/// An input for a number of times, and a function that reads it; empty means always.
function howOften() {
  const times = el('input', { type: 'number', min: 1, placeholder: 'always' });
  times.value = '1';
  return [field('Times', times), () => times.value ? { times: Number(times.value) } : { always: true }];
}

function failureSection(parts, signal) {
  const failure = select(['rate_limited', ['status', 'another status …']]);
  offerNames(failure, 'failure', signal);
  const status = el('input', { type: 'number', min: 200, max: 599 });
  const statusField = el('div', { hidden: true }, field('Status', status));
  status.value = '503';
  failure.addEventListener('change', () => { statusField.hidden = failure.value !== 'status'; });
  const after = el('input', { placeholder: '1s for a 429', autocomplete: 'off' });
  const [times, often] = howOften();
  const scope = { operation: select([['', 'any'], 'chat_completions', 'list_models']), key: keySelect('', signal),
    model: el('input', { placeholder: 'any', autocomplete: 'off' }) };
  answered('/operations', signal).then(({ operations }) =>
    scope.operation.append(...select(operations.map(({ method, path }) => `${method} ${path}`)).children)).catch(() => {});
  const body = () => {
    const wanted = { failure: failure.value === 'status' ? Number(status.value) : failure.value, ...often() };
    if (after.value.trim()) wanted.retry_after = after.value.trim();
    const only = Object.entries(scope).map(([name, input]) => [name, input.value.trim()]).filter(([, value]) => value);
    if (only.length > 0) wanted.for = Object.fromEntries(only);
    return wanted;
  };
  return mounted(parts, signal, { title: 'Forced failures', path: '/failures', label: 'Force it', said: 'The failure is forced.', body,
    about: 'The next requests fail, whatever the stubs say.',
    line: (one) => [cut(one.text, 300), one.for && `, for ${cut(one.for, 200)}`, left(one)],
    fields: el('div', { class: 'fields' }, field('Failure', failure), statusField, times, field('Retry-After', after),
      field('Operation', scope.operation), field('Key', scope.key), field('Model', scope.model)) });
}

function chaosSection(parts, signal) {
  const rule = editor(3, { placeholder: chaosExample });
  return mounted(parts, signal, { title: 'Chaos', path: '/chaos', label: 'Add the rule', said: 'The rule is added.', body: () => rule.value,
    about: 'Rules that make some requests fail: the same ones for the same seed.',
    line: (one) => cut(one.text, 500),
    fields: field('Rule', rule, 'As in a script: what happens, and nth, first or probability.') });
}

function connectionSection(parts, signal) {
  const fault = select(['reset_on_accept']);
  offerNames(fault, 'connection_fault', signal);
  const [times, often] = howOften();
  return mounted(parts, signal, { title: 'Connection faults', path: '/connections', label: 'Add the fault', said: 'The fault waits for a connection.',
    about: 'They apply to the next connections.',
    line: (one) => [cut(one.text, 300), left(one)],
    fields: el('div', { class: 'fields' }, field('Fault', fault), times), body: () => ({ fault: fault.value, ...often() }) });
}

function clockSection(parts, signal) {
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

function listeningSection(parts, signal) {
  const now = el('div');
  parts.append(el('section', {}, el('h2', {}, 'Port'), now));
  const refresh = live((ended) => get('/listening', ended), ({ listening }) => {
    const label = listening ? 'Refuse connections' : 'Accept connections';
    refill(now, el('p', {}, listening ? 'The gateway accepts connections.' : 'The gateway refuses connections, as if it were not running. This page has its own port.'),
      el('div', { class: 'row' }, button(label, async () => {
        await call('PUT', '/listening', { listening: !listening });
        await refresh();
        say(listening ? 'Connections are refused.' : 'Connections are accepted.');
      }, { 'data-focus': 'listening' })));
  }, { signal });
  return refresh;
}

function resetSection(refreshAll) {
  return el('section', {}, el('h2', {}, 'Reset'),
    el('p', {}, 'Removes stubs, states, failures, chaos, connection faults and the journal, then mounts the script files again. Keys stay.'),
    el('div', { class: 'row' }, button('Reset', async () => {
      if (!await confirmed('Reset the gateway?', 'This removes the journal and all that this page and the API mounted.', 'Reset')) return;
      const { reset, kept } = await call('POST', '/reset', {});
      await refreshAll();
      say(`Reset: ${reset.join(', ')}. Kept: ${kept.join(', ')}.`);
    }, { class: 'danger', 'data-focus': 'reset' })));
}
