// "Failures and clock": failures, chaos, connections, port, reset, and the choices of their lists.

import { call, get } from './api.mjs';
import { showClock } from './clock.mjs';
import { confirmed, curlButton } from './dialogs.mjs';
import { add, button, editor, el, field, form, refill, say, select } from './dom.mjs';
import { live } from './live.mjs';
import { cut } from './text.mjs';

const failures = ['rate_limited', 'overloaded', 'server_error', 'service_unavailable', 'bad_gateway', 'gateway_timeout',
  'request_timeout', 'bad_request', 'unauthorized', 'forbidden', 'not_found', 'conflict'];
const faults = ['reset_on_accept', 'close_on_accept', 'garbage_on_accept', 'close_when_reused', 'reset_when_reused',
  'unsolicited_continue', 'early_hints'];
const chaosExample = '{"failure": "overloaded", "nth": 3}';

export function showControl(main, { signal }) {
  const sections = [failureSection, chaosSection, connectionSection, showClock, listeningSection];
  const parts = el('div', { class: 'parts' });
  add(main, parts);
  const refreshes = sections.map((show) => show(parts, signal));
  add(parts, resetSection(() => Promise.all(refreshes.map((refresh) => refresh()))));
  return Promise.all(refreshes.map((refresh) => refresh()));
}

/// A section with a list of what is mounted under a path, and a button that takes all of it away.
function mounted(parts, signal, { title, path, about, line, controls }) {
  const list = el('div');
  const section = el('section', {}, el('h2', {}, title), el('p', {}, about), list);
  parts.append(section);
  const name = path.slice(1);
  const refresh = live((ended) => get(path, ended), (answer) => {
    const all = answer[name];
    refill(list, all.length === 0 ? el('p', { class: 'note' }, 'There is none.') : [
      el('ul', {}, all.map((one) => el('li', {}, line(one)))),
      el('div', { class: 'row' }, button('Clear all', clear, { class: 'small danger', 'aria-label': `Clear all: ${title}`, 'data-focus': `clear:${name}` }),
        curlButton(title, () => [['Clear all', 'DELETE', path]], `curl:${name}`))]);
  }, { signal });
  async function clear() {
    await call('DELETE', path);
    await refresh();
    say(`${title}: cleared.`);
  }
  add(section, controls(refresh));
  return refresh;
}

const left = (one) => one.left === null || one.left === undefined ? ', always' : `, ${one.left} left`;

/// Inputs for how often: a number, or always.
function howOften() {
  const times = el('input', { type: 'number', min: 1, size: 5 });
  const always = el('input', { type: 'checkbox' });
  times.value = '1';
  always.addEventListener('change', () => { times.disabled = always.checked; });
  return { fields: [field('Times', times), el('label', { class: 'check' }, always, 'always')],
    read: () => always.checked ? { always: true } : { times: Number(times.value) } };
}

function failureSection(parts, signal) {
  return mounted(parts, signal, { title: 'Forced failures', path: '/failures',
    about: 'The next requests get them, whatever the stubs say.',
    line: (one) => [cut(one.text, 300), one.for && `, for ${cut(one.for, 200)}`, left(one)],
    controls: (refresh) => {
      const failure = select([...failures.map((name) => [name, name]), ['status', 'another status …']]);
      const status = el('input', { type: 'number', min: 200, max: 599, disabled: true });
      status.value = '503';
      failure.addEventListener('change', () => { status.disabled = failure.value !== 'status'; });
      const after = el('input', { size: 6, placeholder: '2s', autocomplete: 'off' });
      const often = howOften();
      const scope = { operation: el('input', { placeholder: 'list_models', autocomplete: 'off', spellcheck: 'false' }),
        key: el('input', { placeholder: 'a name or id', autocomplete: 'off' }), model: el('input', { autocomplete: 'off' }) };
      const body = () => {
        const wanted = { failure: failure.value === 'status' ? Number(status.value) : failure.value, ...often.read() };
        if (after.value.trim()) wanted.retry_after = after.value.trim();
        const only = Object.entries(scope).map(([name, input]) => [name, input.value.trim()]).filter(([, value]) => value);
        if (only.length > 0) wanted.for = Object.fromEntries(only);
        return wanted;
      };
      return form(async () => {
        await call('POST', '/failures', body());
        await refresh();
        say('The failure is forced.');
      }, el('div', { class: 'row fields' }, field('Failure', failure), field('Status', status), often.fields, field('Retry-After', after, 'With a 429, 1s unless given.')),
      el('div', { class: 'row fields' }, field('Only this operation', scope.operation), field('Only this key', scope.key), field('Only this model', scope.model)),
      el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Force it'), curlButton('the failure', () => [['Force it', 'POST', '/failures', body()]])));
    } });
}

function chaosSection(parts, signal) {
  return mounted(parts, signal, { title: 'Chaos', path: '/chaos', about: 'Rules that strike some requests, the same ones for the same seed.',
    line: (one) => cut(one.text, 500),
    controls: (refresh) => {
      const rule = editor(3, chaosExample);
      return form(async () => {
        await call('POST', '/chaos', rule.value);
        await refresh();
        say('The rule is added.');
      }, field('Rule', rule, 'As in a script: what strikes, and nth, first or probability.'),
      el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Add the rule'), curlButton('the rule', () => [['Add the rule', 'POST', '/chaos', rule.value]])));
    } });
}

function connectionSection(parts, signal) {
  return mounted(parts, signal, { title: 'Faults of connections', path: '/connections', about: 'They strike the next connections that come.',
    line: (one) => [cut(one.text, 300), left(one)],
    controls: (refresh) => {
      const fault = select(faults.map((name) => [name, name]));
      const often = howOften();
      const body = () => ({ fault: fault.value, ...often.read() });
      return form(async () => {
        await call('POST', '/connections', body());
        await refresh();
        say('The fault waits for a connection.');
      }, el('div', { class: 'row fields' }, field('Fault', fault), often.fields),
      el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Add the fault'), curlButton('the fault', () => [['Add the fault', 'POST', '/connections', body()]])));
    } });
}

function listeningSection(parts, signal) {
  const now = el('div');
  parts.append(el('section', {}, el('h2', {}, 'Listening'), now));
  const refresh = live((ended) => get('/listening', ended), ({ listening }) => {
    const label = listening ? 'Refuse connections' : 'Accept connections';
    refill(now, el('p', {}, listening ? 'The gateway accepts connections.' : 'The gateway refuses connections, as if it did not run. This page has a port of its own.'),
      el('div', { class: 'row' }, button(label, async () => {
        await call('PUT', '/listening', { listening: !listening });
        await refresh();
        say(listening ? 'Connections are refused.' : 'Connections are accepted.');
      }, { 'data-focus': 'listening' }), curlButton('listening', () => [[label, 'PUT', '/listening', { listening: !listening }]], 'curl:listening')));
  }, { signal });
  return refresh;
}

function resetSection(refreshAll) {
  return el('section', {}, el('h2', {}, 'Reset'),
    el('p', {}, 'Forgets stubs, states, failures, chaos, connection faults and the journal, then mounts the files of --script anew. Keys stay.'),
    el('div', { class: 'row' }, button('Reset', async () => {
      if (!await confirmed('Reset the gateway?', 'What this page and the API mounted goes, and so does the journal.', 'Reset')) return;
      const { reset, kept } = await call('POST', '/reset', {});
      await refreshAll();
      say(`Reset: ${reset.join(', ')}. Kept: ${kept.join(', ')}.`);
    }, { class: 'danger', 'data-focus': 'reset' }), curlButton('the reset', () => [['Reset', 'POST', '/reset', {}]])));
}
