// The life of an API key on the page: created, used, disabled, enabled and deleted, by mouse or only by keyboard.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Console, Gateway, startBrowser, until } from './support.mjs';

let gateway, browser;
before(async () => {
  gateway = await Gateway.start();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
});

/// Returns the cells of the key's row: {Description, State, "Last used", Requests, Rights, Limit}.
async function key(tab, name) {
  return tab.page.evaluate((wanted) => {
    const found = [...document.querySelectorAll('tr[data-key]')].find((row) => row.textContent.includes(wanted));
    return found && Object.fromEntries([...found.cells].map((cell) => [cell.dataset.label, cell.textContent.trim()]));
  }, name);
}

/// Waits until the key's cell with this label contains the text.
async function keyWith(tab, name, label, wanted) {
  await until(`${name}, ${label}: ${wanted}`, async () => (await key(tab, name))?.[label].includes(wanted));
  return key(tab, name);
}

/// Plays the life of a key by mouse or keyboard. `press` gets a button's name, `type` gets a field's name and a text.
async function life(tab, name, press, type) {
  await press('Create a key');
  await type('Description', name);
  await type('Models', 'mock-model');
  await type('Operations', 'POST /v1/chat/completions');
  await type('Limit', '1000/1m');
  await press('Create');

  await tab.waitForText('dialog h2', 'The key is created');
  const secret = await tab.text('dialog .secret');
  await press('Copy the secret');
  await tab.waitForText('dialog .said', 'Copied');
  assert.equal(await tab.clipboard(), secret);
  await press('Close');
  await tab.page.waitForFunction(() => !document.querySelector('dialog')); // closed, and taken out
  assert.ok(!(await tab.page.content()).includes(secret), 'the secret is gone with the dialog');
  const created = await keyWith(tab, name, 'Requests', '0');
  assert.match(created.Rights, /mock-model.*POST \/v1\/chat\/completions/s);
  assert.equal(created.Limit, '1000/1m');
  assert.equal(created['Last used'], 'never');

  assert.equal((await gateway.ask('Hi', { key: secret })).status, 200);
  assert.equal((await gateway.ask('Hi again', { key: secret })).status, 200);
  assert.match((await keyWith(tab, name, 'Requests', '2'))['Last used'], /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);

  await press(`Disable ${name}`);
  await keyWith(tab, name, 'State', 'disabled');
  assert.equal((await gateway.ask('Hi', { key: secret })).status, 403);

  await press(`Enable ${name}`);
  await keyWith(tab, name, 'State', 'enabled');
  assert.equal((await gateway.ask('Hi', { key: secret })).status, 200);

  await press(`Edit ${name}`);
  await type('Models', '');
  await type('Limit', '7/1h');
  await press('Save');
  await keyWith(tab, name, 'Limit', '7/1h');
  assert.match((await key(tab, name)).Rights, /all models/);

  await press(`Delete ${name}`);
  await tab.waitForText('dialog h2', `Delete ${name}?`);
  await press('Cancel');
  await tab.page.waitForFunction(() => !document.querySelector('dialog')); // the button is busy until then
  assert.equal((await gateway.ask('Hi', { key: secret })).status, 200, 'a deletion that was not confirmed deletes nothing');
  await press(`Delete ${name}`);
  await tab.waitForText('dialog h2', `Delete ${name}?`);
  await press('Delete');
  await tab.page.waitForFunction((gone) => ![...document.querySelectorAll('tr[data-key]')].some((row) => row.textContent.includes(gone)), {}, name);
  assert.equal((await gateway.ask('Hi', { key: secret })).status, 401);
  return secret;
}

test('a key can be created, changed and deleted by mouse', async () => {
  const tab = await Console.open(browser, gateway, { view: 'keys' });
  const press = (name) => tab.click(name);
  await life(tab, 'billing by mouse', press, typing(tab));
  await tab.close();
});

test('a key can be created, changed and deleted with only the keyboard', async () => {
  const tab = await Console.open(browser, gateway, { view: 'keys' });
  // A list that is redrawn loses the focus for a moment. So Enter is pressed again unless the button received it.
  const press = async (name) => {
    await tab.button(name);
    let target;
    do {
      await tab.tabTo(name);
      await tab.page.evaluate(() => addEventListener('keydown', ({ target }) => {
        window.enterOn = (target.getAttribute('aria-label') ?? target.textContent).trim();
      }, { capture: true, once: true }));
      await tab.page.keyboard.press('Enter');
      target = await tab.page.evaluate(() => window.enterOn);
    } while (target !== name);
  };
  const type = async (label, text) => {
    await tab.page.waitForSelector('dialog');
    await tab.tabTo(label);
    await tab.page.keyboard.down('Control');
    await tab.page.keyboard.press('a');
    await tab.page.keyboard.up('Control');
    await tab.page.keyboard.press('Backspace');
    if (text) await tab.page.keyboard.type(text);
  };
  await life(tab, 'billing by keyboard', press, type);
  assert.notEqual(await tab.page.evaluate(() => document.activeElement.tagName), 'BODY', 'the focus is not lost');
  await tab.close();
});

/// Returns a function that clicks into a field of the dialog and replaces its text.
function typing(tab) {
  return async (label, text) => {
    const input = await tab.field(label);
    await input.click({ count: 3 });
    await tab.page.keyboard.press('Backspace');
    if (text) await tab.page.keyboard.type(text);
  };
}

test('the list shows how many requests of a key are under way, and why a key has ended', async () => {
  const made = await gateway.control('POST', '/keys', { name: 'brief', deleted_after: 3 });
  const { stubs: [stub] } = await gateway.control('POST', '/stubs', { when: { user_says: 'ask' }, reply: { ask: true } });
  const tab = await Console.open(browser, gateway, { view: 'keys' });
  await tab.click('Edit brief');
  await tab.write('Concurrent requests', '1');
  await tab.click('Save');
  await keyWith(tab, 'brief', 'Limit', '0 of 1 at a time');
  const waiting = gateway.ask('ask', { key: made.secret });
  await keyWith(tab, 'brief', 'Limit', '1 of 1 at a time');
  await gateway.control('DELETE', `/stubs/${stub.id}`);
  assert.equal((await gateway.ask('Hi', { key: made.secret })).status, 429);
  await tab.click('Edit brief');
  await tab.write('Concurrent requests', '');
  await tab.click('Save');
  await keyWith(tab, 'brief', 'Limit', 'none');
  assert.equal((await gateway.ask('Hi', { key: made.secret })).status, 200);
  const ended = await keyWith(tab, 'brief', 'State', 'deleted');
  assert.equal(ended.State, 'deleted deleted after 3 requests');
  assert.equal(ended.Actions, 'Requests');
  const [{ exchange }] = (await gateway.control('GET', '/asked')).asked;
  await gateway.control('POST', `/asked/${exchange}`, { reply: 'Hello.' });
  assert.equal((await waiting).status, 200);
  await tab.close();
});

test('changing a key sends only the changed values, so that its limit is not restarted', async () => {
  const made = await gateway.control('POST', '/keys', { name: 'limited', limit: '1/1h' });
  const status = async () => (await gateway.ask('Hi', { key: made.secret })).status;
  assert.deepEqual([await status(), await status()], [200, 429]);
  const tab = await Console.open(browser, gateway, { view: 'keys' });
  await tab.click('Edit limited');
  const sent = tab.page.waitForRequest((request) => request.method() === 'PATCH');
  await tab.write('Description', 'still limited');
  await tab.click('Save');
  assert.deepEqual(JSON.parse((await sent).postData()), { name: 'still limited' });
  await keyWith(tab, 'still limited', 'Limit', '1/1h');
  assert.equal(await status(), 429);
  await gateway.control('DELETE', `/keys/${made.id}`);
  await tab.close();
});

test('a refusal of the gateway is shown in the dialog, which stays open', async () => {
  const tab = await Console.open(browser, gateway, { view: 'keys' });
  await tab.click('Create a key');
  await typing(tab)('Description', 'wrong limit');
  await typing(tab)('Limit', 'many');
  await tab.click('Create');
  await tab.waitForText('dialog [role="alert"]', 'That did not work');
  assert.match(await tab.text('dialog [role="alert"]'), /limit|many/i);
  await tab.page.keyboard.press('Escape');
  await tab.page.waitForFunction(() => !document.querySelector('dialog')); // closed, and taken out
  assert.equal(await tab.focused(), 'Create a key', 'the focus is where it was');
  await tab.close([/status of 400/]);
});

test('a key shows its hint, and the default key can be copied', async () => {
  const made = await gateway.control('POST', '/keys', { name: 'hinted' });
  const tab = await Console.open(browser, gateway, { view: 'keys' });
  await tab.waitForText('tr[data-key] code', `sk-…${made.secret.slice(-4)}`);
  await tab.click('Copy default key');
  await tab.waitForText('#said', 'Copied: the default key.');
  assert.equal(await tab.clipboard(), gateway.info.api_key);
  const text = await tab.page.evaluate(() => document.documentElement.outerHTML);
  assert.ok(!text.includes(made.secret) && !text.includes(gateway.info.api_key), 'no secret is in the page');
  assert.equal((await tab.page.$$('[aria-label="Copy hinted"]')).length, 0);
  await tab.close();
});

test('a secret that is shown once stays until it is copied or the user confirms', async () => {
  const tab = await Console.open(browser, gateway, { view: 'keys' });
  const make = async (name) => {
    await tab.click('Create a key');
    await tab.write('Description', name);
    await tab.click('Create');
    await tab.waitForText('dialog h2', 'The key is created');
  };
  const isOpen = async () => (await tab.page.$$('dialog[open] .secret')).length === 1;
  await make('slipped');
  for (let pressed = 0; pressed < 3; ++pressed) await tab.page.keyboard.press('Escape');
  assert.ok(await isOpen(), 'Escape leaves it open');
  await tab.click('Close');
  await tab.waitForText('dialog [role="alert"]', 'not shown again');
  assert.ok(await isOpen());
  await tab.click('Close');
  await until('it closes', async () => !await isOpen());
  await make('copied');
  await tab.click('Copy the secret');
  await tab.waitForText('dialog .said', 'Copied');
  await tab.page.keyboard.press('Escape');
  await until('it closes', async () => !await isOpen());
  await tab.close();
});

test('the page says how keys arrive', async () => {
  const lenient = await Gateway.start({ mock_gateway: 1, gateway: { key_headers: ['api-key'], key_required: false } });
  for (const [one, said] of [[gateway, 'A key is sent in Authorization.'],
    [lenient, 'A key is sent in Authorization or api-key. A request without a key counts as sent with the default key.']]) {
    const tab = await Console.open(browser, one, { view: 'keys' });
    await tab.page.waitForFunction((wanted) => document.querySelector('main .note')?.textContent === wanted, {}, said);
    await tab.close();
  }
  await lenient.stop();
});
