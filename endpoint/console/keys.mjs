// API keys.

import { call, get } from './api.mjs';
import { confirmed, copy, dialog } from './dialogs.mjs';
import { add, button, el, field, form, refill, row, say, select, table, withOptions } from './dom.mjs';
import { answered, live } from './live.mjs';
import { cut, dayAndTime } from './text.mjs';

const headings = ['Description', 'State', 'Created', 'Last used', 'Requests', 'Rights', 'Limit', 'Actions'];

export function showKeys(main, { signal }) {
  const keys = table('API keys', headings, []);
  const arrival = el('p', { class: 'note' });
  const refresh = live((ended) => get('/keys', ended), (answer) => {
    refill(arrival, `A key is sent in ${['Authorization', ...answer.headers].join(' or ')}.`,
      !answer.required && ' A request without a key counts as sent with the default key.');
    refill(keys.tBodies[0], answer.keys.map((key) => keyRow(key, refresh)));
  }, { signal });
  add(main,
    el('div', { class: 'row' }, button('Create a key', () => create(refresh), { class: 'primary', 'data-focus': 'create' })),
    arrival, el('div', { class: 'scroll' }, keys));
  return refresh();
}

const path = (key) => `/keys/${encodeURIComponent(key.id)}`;
const moment = (at) => at ? el('time', { datetime: at, title: at }, dayAndTime(at)) : 'never';

function keyRow(key, refresh) {
  const name = key.name || key.id;
  const enabled = key.state === 'enabled';
  const lives = key.state !== 'deleted';
  const other = enabled ? 'disable' : 'enable';
  const act = (label, action, what, properties = {}) =>
    button(label, action, { class: 'small', 'aria-label': `${label} ${name}`, 'data-focus': `${what}:${key.id}`, ...properties });
  return row(headings, [
    [el('strong', {}, key.name || '(no description)'), ' ', key.id, ' ', el('code', { class: 'fixed' }, key.hint),
      key.scope && [' ', el('span', { class: 'badge' }, 'test scope')]],
    [el('span', { class: `badge ${enabled ? 'good' : 'bad'}` }, key.state), ' ', key.ended],
    moment(key.created), moment(key.last_used), String(key.requests), rights(key), el('span', { class: 'fixed' }, limits(key)),
    el('div', { class: 'row' },
      lives && act(enabled ? 'Disable' : 'Enable', async () => {
        await call('POST', `${path(key)}/${other}`);
        await refresh();
        say(enabled ? `${name} is disabled: its requests get 403.` : `${name} is enabled.`);
      }, 'toggle'),
      lives && act('Edit', () => edit(key, refresh), 'edit'),
      key.is_default && act('Copy', async () => copy('the default key', (await get(`${path(key)}/secret`)).secret), 'copy'),
      el('a', { href: `#/journal?key=${encodeURIComponent(key.id)}`, 'aria-label': `Requests of ${name} in the journal`,
        'data-focus': `journal:${key.id}` }, 'Requests'),
      lives && act('Delete', () => remove(key, name, refresh), 'delete', { class: 'small danger' })),
  ], { 'data-key': key.id });
}

/// A selection of one key, or any key.
export function keySelect(id, signal) {
  const made = select([['', 'any']], id);
  answered('/keys', signal).then(({ keys }) => withOptions(made, [['', 'any'], ...keys.map((key) => [key.id, cut(key.name || key.id, 60)])])).catch(() => {});
  return made;
}

export function rights(key) {
  const models = key.models.length > 0 ? `models: ${key.models.join(', ')}` : 'all models';
  const operations = key.operations.length > 0 ? `operations: ${operationTexts(key).join(', ')}` : 'all operations';
  return [el('div', {}, models), el('div', {}, operations)];
}

export function limits(key) {
  const concurrent = key.limit_concurrent && `${key.concurrent} of ${key.limit_concurrent} at a time`;
  return [key.limit, key.limit_tokens && `${key.limit_tokens} tokens`, concurrent].filter(Boolean).join(', ') || 'none';
}

const operationTexts = (key) => key.operations.map((operation) => `${operation.method} ${operation.path}`);

async function remove(key, name, refresh) {
  const agreed = await confirmed(`Delete ${name}?`, 'Its requests will get 401. This cannot be undone.', 'Delete');
  if (!agreed) return;
  await call('DELETE', path(key));
  await refresh();
  say(`${name} is deleted: its requests get 401.`);
  document.querySelector('[data-focus="create"]')?.focus();
}

/// The words of a list; null if it has none.
function words(text, between) {
  const all = text.split(between).map((word) => word.trim()).filter(Boolean);
  return all.length > 0 ? all : null;
}

/// Inputs for the rights and limits of a key, and a function that reads them.
function rightsFields(key) {
  const name = el('input', { autocomplete: 'off', autofocus: true });
  const models = el('input', { autocomplete: 'off', spellcheck: 'false' });
  const operations = el('textarea', { rows: 2, spellcheck: 'false' });
  const limit = el('input', { autocomplete: 'off', spellcheck: 'false' });
  const tokens = el('input', { autocomplete: 'off', spellcheck: 'false' });
  const concurrent = el('input', { type: 'number', min: 1 });
  if (key) {
    name.value = key.name;
    models.value = key.models.join(', ');
    operations.value = operationTexts(key).join('\n');
    limit.value = key.limit ?? '';
    tokens.value = key.limit_tokens ?? '';
    concurrent.value = key.limit_concurrent ?? '';
  }
  const read = () => ({ name: name.value.trim(), models: words(models.value, ','), operations: words(operations.value, '\n'),
    limit: limit.value.trim() || null, limit_tokens: tokens.value.trim() || null,
    limit_concurrent: Number(concurrent.value) || null });
  return { read, fields: [
    field('Description', name),
    field('Models', models, 'Separated by commas. Empty: all models.'),
    field('Operations', operations, 'One per line, such as list_models or POST /v1/chat/completions. Empty: all operations.'),
    field('Limit', limit, 'Requests per window, such as 10/1m. Empty: no limit.'),
    field('Token limit', tokens, 'Tokens per window, such as 6000/1m. Empty: no limit.'),
    field('Concurrent requests', concurrent, 'The most at a time. Empty: no limit.')] };
}

async function edit(key, refresh) {
  await dialog(`Edit ${key.name || key.id}`, (close) => {
    const { read, fields } = rightsFields(key);
    // Only changed fields are sent: setting a limit restarts its window, and someone else may have changed other fields.
    const before = read();
    return form(async () => {
      const changed = Object.entries(read()).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]));
      await call('PATCH', path(key), Object.fromEntries(changed));
      await refresh();
      close();
      say('The key is changed.');
    }, fields, el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Save'), button('Cancel', close)));
  });
}

async function create(refresh) {
  let made;
  await dialog('Create a key', (close) => {
    const { read, fields } = rightsFields(null);
    const secret = el('input', { autocomplete: 'off', spellcheck: 'false' });
    const state = select(['enabled', 'disabled']);
    return form(async () => {
      const wanted = Object.entries({ ...read(), secret: secret.value.trim(), state: state.value }).filter(([, value]) => value);
      made = await call('POST', '/keys', Object.fromEntries(wanted));
      close();
    }, fields, field('Secret', secret, 'Empty: the gateway generates one.'), field('State', state),
    el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Create'), button('Cancel', close)));
  });
  if (!made) return;
  await refresh();
  let copied = false;
  await dialog('The key is created', (close) => {
    const warning = el('p', { role: 'alert' });
    let warned = false;
    const leave = () => {
      if (copied || warned) return close();
      warned = true;
      warning.textContent = 'You have not copied the secret, and it is not shown again. Press Close again to leave without it.';
    };
    return [
      el('p', {}, `This is the secret of ${made.name || made.id}. It is shown only once: copy it now.`),
      el('p', {}, el('code', { class: 'secret', tabindex: 0, 'aria-label': 'Secret' }, made.secret)),
      el('div', { class: 'row' },
        button('Copy the secret', async () => { await copy('the secret', made.secret); copied = true; }, { class: 'primary', autofocus: true }),
        button('Close', leave)),
      warning,
    ];
  }, { keepsOpen: () => !copied });
  made = undefined;
}
