// The list of exchanges with one exchange beside it, counts in tabs, findings in rows, and stubs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Console, Gateway, startBrowser, until } from './support.mjs';

let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser?.close());

/// Starts a gateway for one test. It stops when the test ends.
async function started(context, script = {}, flags = []) {
  const gateway = await Gateway.start({ mock_gateway: 1, ...script }, flags);
  context.after(() => gateway.stop());
  return gateway;
}

const rows = (tab, number) => tab.page.waitForFunction((wanted) => document.querySelectorAll('tr[data-id]').length === wanted, {}, number);
const hash = (tab) => tab.page.evaluate(() => location.hash);
const marked = (tab) => tab.page.$$eval('tr[aria-current]', (all) => all.map((row) => Number(row.dataset.id)));

test('the list stays unchanged while exchanges are opened beside it, and is hidden on a narrow screen', async (context) => {
  const gateway = await started(context);
  for (const text of ['first', 'second', 'third']) await gateway.ask(text);
  const tab = await Console.open(browser, gateway, { width: 1400, view: 'journal?text=ir' });
  await rows(tab, 2);
  await tab.page.$eval('table.journal', (table) => { table.same = true; });
  // A click anywhere in the row opens the exchange.
  await tab.page.click('tr[data-id="3"] td[data-label="Said"]');
  await tab.waitForText('h1', 'Exchange 3');
  assert.deepEqual(await marked(tab), [3]);
  assert.equal(await hash(tab), '#/exchange/3?text=ir');
  await tab.page.click('tr[data-id="1"] a');
  await tab.waitForText('.pane .conversation', 'first');
  assert.deepEqual(await marked(tab), [1]);
  assert.equal(await tab.page.$eval('table.journal', (table) => table.same), true);
  await gateway.ask('a bird');
  await rows(tab, 3);  // the list shows new exchanges
  assert.equal(await tab.focused(), 'Exchange 1');
  await tab.page.click('.close-pane');
  await tab.waitForText('h1', 'Journal');
  assert.deepEqual([await hash(tab), await marked(tab), await tab.page.$eval('table.journal', (table) => table.same)], ['#/journal?text=ir', [], true]);
  await tab.show('exchange/2');
  await rows(tab, 4);
  await tab.page.setViewport({ width: 900, height: 900 });
  await until('the list goes', async () => (await tab.page.$$('tr[data-id]')).length === 0);
  await tab.waitForText('h1', 'Exchange 2');
  await tab.page.setViewport({ width: 1400, height: 900 });
  await rows(tab, 4);
  await tab.close();
});

test('the Tab key stops once at each row of the journal and of the stubs', async (context) => {
  const gateway = await started(context, { stubs: [{ reply: 'a' }, { reply: 'b' }] });
  await gateway.ask('Hi');
  const tab = await Console.open(browser, gateway);
  for (const [view, row] of [['journal', 'tr[data-id]'], ['stubs', 'tr[id]']]) {
    await tab.show(view);
    await tab.page.waitForSelector(row);
    const stops = await tab.page.$$eval(row, (all) => all.map((each) => [...each.querySelectorAll('a[href], button, input')].filter((one) => one.tabIndex >= 0).length));
    assert.deepEqual(stops, stops.map(() => 1), view);
  }
  await tab.close();
});

test('the header counts the requests that wait for a reply', async (context) => {
  const gateway = await started(context, { stubs: [{ reply: { ask: true } }] });
  const tab = await Console.open(browser, gateway, { view: 'stubs' });
  const asked = gateway.ask('ask me');
  await tab.waitForText('#state', '1 waiting for a reply');
  const { asked: [{ exchange }] } = await gateway.control('GET', '/asked');
  await gateway.control('POST', `/asked/${exchange}`, { reply: 'x' });
  await asked;
  await until('it was answered', async () => !(await tab.text('#state')).includes('waiting'));
  await tab.close();
});

test('a row shows the number and the severity of the findings in its exchange', async (context) => {
  const gateway = await started(context, { stubs: [{ when: { user_says: 'limit' }, reply: { failure: 429, retry_after: '1h' } }, { reply: 'Hello.' }] });
  await gateway.ask('fine');
  await gateway.ask('odd', { body: { logit_bia: {} } });
  await gateway.ask('limit');
  await gateway.ask('limit');
  const tab = await Console.open(browser, gateway);
  await until('the marks', async () => (await tab.page.$$('tr[data-id] .findings .badge')).length >= 2);
  const looks = await tab.page.$$eval('tr[data-id] .findings', (all) => all.map((cell) => {
    const badge = cell.querySelector('.badge');
    return badge ? `${cell.querySelector('.for-readers').textContent} ${badge.className}` : '';
  }));
  assert.match(looks[0], /^1 finding badge bad$/, 'it came back within the time of Retry-After');
  assert.match(looks[2], /^1 finding badge (warn|bad)$/);
  assert.equal(looks[3], '');
  await tab.close();
});

test('a stub made from an unmatched request, with the closest stub beside it, answers the request', async (context) => {
  const gateway = await started(context, { stubs: [{ name: 'near', when: { user_says: 'weather', model_is: 'mock-model' }, reply: 'Sun.' }] });
  assert.equal((await gateway.ask('the "wether"\nin Paris')).status, 422);
  const tab = await Console.open(browser, gateway, { width: 1400, view: 'exchange/1' });
  await tab.waitForText('.parts .near', 'near');
  const written = JSON.parse(await (await tab.field('Stub')).evaluate((area) => area.value));
  assert.deepEqual(written, { when: { user_says: 'the "wether"\nin Paris', model_is: 'mock-model' }, reply: 'Hello.' });
  await tab.write('Stub', JSON.stringify({ ...written, name: 'made', reply: 'Rain.' }));
  await tab.click('Make the stub');
  await tab.waitForText('.parts [role="status"]', 'is mounted and would now answer this request.');
  assert.match((await gateway.ask('the "wether"\nin Paris')).text, /Rain\./);
  await gateway.ask('', { body: { messages: [{ role: 'user', content: 'the forecast' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'call_1', content: '21' }] } });
  await tab.show('exchange/3');
  await tab.waitForText('.parts', 'Make a stub of this');
  assert.deepEqual(JSON.parse(await (await tab.field('Stub')).evaluate((area) => area.value)).when,
    { user_says: 'the forecast', last_is_tool_result: true, model_is: 'mock-model' }, 'the turn after a tool is told from the one before');
  await tab.write('Stub', JSON.stringify({ when: { user_says: 'nobody says this' }, reply: 'Never.' }));
  await tab.click('Make the stub');
  await tab.waitForText('.parts [role="status"]', 'would not answer this request.');
  await tab.close();
});

test('a stub shows its script and can be copied, downloaded and edited', async (context) => {
  const gateway = await started(context, { stubs: [{ name: 'of the file', when: { user_says: 'Hi' }, reply: { text: 'of the file', finish_reason: 'length' } }] });
  const { stubs: [{ id: mine }] } = await gateway.control('POST', '/stubs', { name: 'by hand', when: { user_says: 'you' }, reply: 'old' });
  const tab = await Console.open(browser, gateway, { view: `stubs/${mine}` });
  await tab.waitForText('pre.text', '"user_says"');
  await tab.click('Copy');
  await tab.waitForText('#said', 'Copied');
  assert.deepEqual(JSON.parse(await tab.clipboard()), { name: 'by hand', when: { user_says: 'you' }, reply: 'old' });

  // A gateway can serve the downloaded script.
  await tab.page.evaluate(() => { URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return '#saved'; }; });
  await tab.page.evaluate(() => document.addEventListener('click', (event) => { if (event.target.download) event.preventDefault(); }, true));
  await tab.click('Download');
  const saved = JSON.parse(await until('it is saved', () => tab.page.evaluate(() => window.saved)));
  assert.deepEqual(saved.stubs, [{ name: 'by hand', when: { user_says: 'you' }, reply: 'old' }]);
  assert.equal((await gateway.control('PUT', '/script?check=1', saved)).ok, true);

  await tab.click('Edit');
  await tab.write('Stub', '{"reply": 7}');
  await tab.click('Save');
  await tab.waitForText('[role="alert"]', 'expected a text, or an object');
  await tab.write('Stub', '{"name": "by hand", "when": {"user_says": "you"}, "reply": "new"}');
  await tab.click('Save');
  await tab.waitForText('pre', '"new"');
  assert.match((await gateway.ask('you')).text, /new/);
  assert.deepEqual((await gateway.control('GET', '/stubs')).stubs.map((stub) => stub.name), ['by hand', 'of the file'], 'it has taken the place of the old one');

  const ofFile = (await gateway.control('GET', '/stubs')).stubs[1].id;
  await tab.show(`stubs/${ofFile}`);
  await tab.waitForText('pre', '"length"');
  await tab.click('Edit');
  await tab.waitForText('small', 'which stays');
  await tab.write('Stub', '{"name": "over it", "when": {"user_says": "Hi"}, "reply": "edited"}');
  await tab.click('Save');
  await tab.waitForText('pre', '"edited"');
  assert.match((await gateway.ask('Hi')).text, /edited/);
  assert.equal((await gateway.control('GET', '/stubs')).total, 3);
  await tab.page.evaluate(() => { location.hash = '#/stubs/4711'; });
  await tab.waitForText('[role="alert"]', 'This stub does not exist.');
  await tab.close([/status of 40[04]/]);
});

test('a message about one view disappears with the view', async (context) => {
  const gateway = await started(context);
  const tab = await Console.open(browser, gateway, { view: 'stubs' });
  await tab.write('Stub', '{"reply": "Hi"}');
  await tab.click('Add');
  await tab.waitForText('#said', '1 stub added');
  await tab.show('keys');
  assert.equal(await tab.text('#said'), '');
  await tab.close();
});

test('the first page of 10,000 stubs and of 10,000 exchanges appears within half a second', async (context) => {
  const stubs = Array.from({ length: 10_000 }, (_, index) => ({ name: `stub ${index + 1}`, when: { user_says: `question ${index + 1}` }, reply: 'x' }));
  const gateway = await started(context, { gateway: { unmatched: 'gets_default_reply', journal_limits: { entries: 20_000, bytes: 1_000_000_000 } } });
  await Promise.all(Array.from({ length: 10_000 }, (_, index) => gateway.ask(`hello ${index}`)));
  await gateway.control('POST', '/stubs', { stubs });
  const tab = await Console.open(browser, gateway, { view: 'keys' });
  const time = (view, selector) => tab.page.evaluate(async (address, wanted) => {
    const begin = performance.now();
    location.hash = address;
    while (!document.querySelector(wanted)) await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - begin;
  }, `#/${view}`, selector);
  for (const [view, selector] of [['journal', 'tr[data-id="10000"]'], ['stubs', 'tr[id] a'], ['stubs?behind=9900', 'tr[id] a'], ['exchange/5000', '.conversation']]) {
    let best = Infinity;
    // Measures up to five times, because the machine may be busy.
    for (let run = 0; run < 5 && best >= 500; ++run) {
      await tab.show('keys');
      best = Math.min(best, await time(view, selector));
    }
    context.diagnostic(`${view}: ${best.toFixed(0)} ms`);
    assert.ok(best < 500, `${view} takes ${best.toFixed(0)} ms`);
  }
  await tab.show('stubs');
  await tab.waitForText('main', '1 to 100');
  await tab.page.$$eval('a', (links) => links.find((link) => link.textContent === 'Next').click());
  await tab.waitForText('tr[id]', 'stub 101');
  await tab.waitForText('main', '101 to 200');
  await tab.page.$$eval('a', (links) => links.find((link) => link.textContent === 'Previous').click());
  await tab.waitForText('tr[id]', 'stub 1');
  assert.equal((await tab.page.$$('tr[id]')).length, 100);
  await tab.close();
});
