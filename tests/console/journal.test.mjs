// A busy journal: every exchange appears once and in order, and the page still accepts input.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Console, Gateway, startBrowser, until } from './support.mjs';

let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser?.close());

const ids = (tab) => tab.page.$$eval('tr[data-id]', (rows) => rows.map((row) => Number(row.dataset.id)));
const said = (tab) => tab.page.$$eval('tr[data-id] td[data-label="Said"]', (cells) => cells.map((cell) => cell.textContent));

/// Sends `number` requests, one every `milliseconds`, without waiting for the responses.
async function sendEvery(gateway, milliseconds, number) {
  const answers = [];
  const begin = Date.now();
  await new Promise((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(number, Math.floor((Date.now() - begin) / milliseconds) + 1);
      while (answers.length < due) answers.push(gateway.ask(`message ${answers.length + 1}`));
      if (answers.length === number) {
        clearInterval(timer);
        resolve();
      }
    }, milliseconds);
  });
  return Promise.all(answers);
}

/// Types while 500 exchanges arrive. Returns the delays of the page in ms and the number of pressed keys.
async function typeWhileBusy() {
  const gateway = await Gateway.start();
  const tab = await Console.open(browser, gateway);
  await tab.waitForText('[role="status"]', 'No requests yet.');
  await tab.page.evaluate(() => {
    window.measured = { gap: 0, task: 0, key: 0, keys: 0, most: 0 };
    let last = performance.now();
    requestAnimationFrame(function frame(now) {
      measured.gap = Math.max(measured.gap, now - last);
      last = now;
      measured.most = Math.max(measured.most, document.querySelectorAll('tr[data-id]').length);
      requestAnimationFrame(frame);
    });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) measured.task = Math.max(measured.task, entry.duration);
    }).observe({ type: 'longtask', buffered: false });
    addEventListener('keydown', (event) => {
      measured.key = Math.max(measured.key, performance.now() - event.timeStamp);
      ++measured.keys;
    }, true);
  });
  const input = await tab.field('Search');
  // Keeps the typed text from the filter, so that all rows stay.
  await input.evaluate((element) => element.addEventListener('input', (event) => event.stopPropagation()));
  await input.focus();
  const begin = Date.now();
  const sent = sendEvery(gateway, 10, 500);
  // Types for five seconds, in which the exchanges arrive.
  while (Date.now() - begin < 5000) await tab.page.keyboard.type('typing while it is busy ', { delay: 20 });
  const answers = await sent;
  assert.ok(answers.every((answer) => answer.status === 200));
  await tab.page.waitForFunction(() => document.querySelectorAll('tr[data-id]').length === 500);
  assert.deepEqual(await ids(tab), Array.from({ length: 500 }, (_, index) => 500 - index));
  const texts = await said(tab);
  assert.equal(new Set(texts).size, 500, 'each message is there once');
  await until('each has ended', async () => (await tab.page.$$eval('tr[data-id] td[data-label="Took"]',
    (cells) => cells.every((cell) => cell.textContent !== '–'))));
  const measured = await tab.page.evaluate(() => window.measured);
  const typed = await input.evaluate((element) => element.value);
  assert.equal(typed.length, measured.keys);
  assert.ok('typing while it is busy '.repeat(50).startsWith(typed), 'no letter was lost');
  await tab.close();
  await gateway.stop();
  return measured;
}

test('500 exchanges at 100 per second all appear once and in order, while the page accepts input', async (context) => {
  // The limits are generous, and the best of three runs counts, because the machine may be busy.
  const wrong = ({ gap, task, key, keys }) => [
    ...(gap < 2000 ? [] : [`frames were ${gap} ms apart`]),
    ...(task < 1000 ? [] : [`a task took ${task} ms`]),
    ...(keys > 10 && key < 1000 ? [] : [`of ${keys} key presses one waited ${key} ms`])];
  let found;
  for (let run = 1; run <= 3; ++run) {
    const measured = await typeWhileBusy();
    context.diagnostic(`longest gap between frames ${measured.gap.toFixed(0)} ms, longest task ${measured.task.toFixed(0)} ms, ` +
      `slowest of ${measured.keys} key presses ${measured.key.toFixed(0)} ms`);
    found = wrong(measured);
    if (found.length === 0) break;
  }
  assert.deepEqual(found, []);
});

test('of 1,300 exchanges 1,000 are shown; older ones follow on request, 200 at a time, without a gap', async () => {
  const gateway = await Gateway.start();
  const tab = await Console.open(browser, gateway);
  await tab.waitForText('[role="status"]', 'No requests yet.');
  await sendEvery(gateway, 1, 1300);
  await until('the newest row', async () => (await ids(tab))[0] === 1300, 60_000);  // the machine may be busy
  const live = await ids(tab);
  assert.ok(live.length <= 1000, `${live.length} rows`);
  assert.deepEqual(live, live.map((_, index) => 1300 - index), 'no row is missing between others');

  await tab.show('journal?text=message');
  await until('a page of rows', async () => (await ids(tab)).length === 200);
  for (let shown = 400; shown <= 1000; shown += 200) {
    await tab.click('Show older requests');
    await until(`${shown} rows`, async () => (await ids(tab)).length === shown);
  }
  await tab.click('Show older requests');
  await until('older rows', async () => (await ids(tab)).at(-1) === 101);
  const older = await ids(tab);
  assert.deepEqual(older, Array.from({ length: 1000 }, (_, index) => 1100 - index));
  await tab.click('Show older requests');
  await until('the oldest row', async () => (await ids(tab)).at(-1) === 1);
  await tab.click('Back to the newest');
  await until('the newest rows', async () => (await ids(tab))[0] === 1300);
  await tab.close();
  await gateway.stop();
});

test('a paused journal does not change, and then shows all exchanges that arrived meanwhile', async () => {
  const gateway = await Gateway.start();
  const tab = await Console.open(browser, gateway);
  await gateway.ask('before');
  await tab.waitForText('tr[data-id]', 'before');
  await tab.click('Pause');
  for (let number = 1; number <= 5; ++number) await gateway.ask(`meanwhile ${number}`);
  await tab.waitForText('[role="status"]', 'Paused, with 5 changes since.');
  assert.deepEqual(await ids(tab), [1]);
  await tab.click('Resume');
  await until('all rows', async () => (await ids(tab)).length === 6);
  assert.deepEqual(await ids(tab), [6, 5, 4, 3, 2, 1]);
  await tab.click('Clear the journal');
  await tab.click('Clear');
  await tab.waitForText('[role="status"]', 'No requests yet.');
  await gateway.ask('afterwards');
  await tab.waitForText('tr[data-id]', 'afterwards');
  await tab.close();
  await gateway.stop();
});

test('an empty journal suggests a first request until an exchange arrives', async () => {
  const gateway = await Gateway.start();
  const tab = await Console.open(browser, gateway);
  await tab.waitForText('pre', `curl ${gateway.info.base_url}/chat/completions`);
  await tab.click('Copy the first request');
  await tab.waitForText('#said', 'Copied');
  const copied = await tab.clipboard();
  assert.match(copied, /\$OPENAI_API_KEY/);
  assert.ok(!copied.includes(gateway.info.api_key));
  await gateway.ask('Hello', { body: { model: 'gpt-4o-mini', stream: true } });
  await tab.waitForText('tr[data-id]', 'gpt-4o-mini');
  await tab.waitForText('tr[data-id] .badge', 'stream');
  assert.equal((await tab.page.$$('pre')).length, 0);
  await tab.show('journal?status=404');
  await tab.waitForText('[role="status"]', 'No request passes the filters.');
  assert.equal((await tab.page.$$('pre')).length, 0);
  await tab.close();
  await gateway.stop();
});

test('a request that no stub answered is red, and a 429 is not', async () => {
  const gateway = await Gateway.start({ mock_gateway: 1, stubs: [{ when: { user_says: 'limit' }, reply: { failure: 429 } }] });
  await gateway.ask('limit');
  await gateway.ask('nobody answers');
  const tab = await Console.open(browser, gateway);
  await tab.page.waitForFunction(() => document.querySelectorAll('tr[data-id]').length === 2);
  const looks = await tab.page.$$eval('tr[data-id] td[data-label="Status"] .badge', (all) => all.map((one) => `${one.textContent} ${one.className}`));
  assert.deepEqual(looks, ['422 badge bad', '429 badge warn']);
  await tab.close();
  await gateway.stop();
});

test('a client that received nothing shows no status', async () => {
  const gateway = await Gateway.start({ mock_gateway: 1, stubs: [{ reply: { text: 'late', first_token_after: '60s' } }] });
  const left = new AbortController();
  const asked = fetch(`${gateway.info.base_url}/chat/completions`, { method: 'POST', signal: left.signal, body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
    headers: { authorization: `Bearer ${gateway.info.api_key}`, 'content-type': 'application/json' } }).catch(() => null);
  await until('it has come', async () => (await gateway.control('GET', '/journal')).exchanges.length === 1);
  left.abort();
  await asked;
  const tab = await Console.open(browser, gateway);
  await tab.waitForText('tr[data-id] td[data-label="Status"]', '–');
  await tab.close();
  await gateway.stop();
});

test('the journal filters while the user types, and can show only requests with findings', async () => {
  const gateway = await Gateway.start();
  await gateway.ask('apple');
  await gateway.ask('apple pie', { body: { logit_bia: {} } });
  await gateway.ask('pear');
  const tab = await Console.open(browser, gateway, { width: 1400 });
  await until('all rows', async () => (await ids(tab)).length === 3);
  const input = await tab.field('Search');
  await input.type('app');
  await until('two rows', async () => (await ids(tab)).join() === '2,1');
  assert.ok(await input.evaluate((element) => element === document.activeElement && element.value === 'app'), 'the reader can go on typing');
  assert.equal(await tab.page.evaluate(() => location.hash), '#/journal?text=app');
  await tab.page.click('tr[data-id="1"] a');
  await tab.waitForText('.pane .conversation', 'apple');
  await input.type('le p');
  await until('one row', async () => (await ids(tab)).join() === '2');
  await tab.waitForText('.pane .conversation', 'apple');
  assert.equal(await tab.page.$eval('.close-pane', (link) => link.hash), '#/journal?text=apple+p');
  await tab.show('journal');
  await until('all rows', async () => (await ids(tab)).length === 3);
  await tab.page.click('label.check');
  const visible = () => tab.page.$$eval('tr[data-id]', (rows) => rows.filter((row) => row.checkVisibility()).map((row) => row.dataset.id).join());
  await until('the row with a finding', async () => await visible() === '2');
  await tab.waitForText('[role="status"]', '1 of 3 requests with findings');
  await gateway.ask('plum', { body: { logit_bia: {} } });
  await until('the new row with a finding', async () => await visible() === '4,2');
  await tab.close();
  await gateway.stop();
});

test('a request and its retries form a group, even with another request between them', async () => {
  const gateway = await Gateway.start({ mock_gateway: 1, stubs: [{ when: { user_says: 'limit' }, replies: [{ failure: 429 }, { failure: 503 }, 'Fine.'] }] });
  const tab = await Console.open(browser, gateway);
  const shown = () => tab.page.$$eval('tr[data-id]', (rows) => rows.map((row) => `${row.dataset.id} ${row.querySelector('.try').textContent}`.trim()).join());
  await gateway.ask('limit');
  await gateway.ask('other');
  await gateway.ask('limit');
  await until('the first retry', async () => await shown() === '3 2 tries,1 try 1,2');
  await (await tab.page.$('tr[data-id="3"] a')).focus();
  await gateway.ask('limit');
  await gateway.ask('limit');
  await until('the group', async () => await shown() === '5,4 3 tries,3 try 2,1 try 1,2');
  assert.equal(await tab.focused(), 'Exchange 3');
  await tab.page.reload();
  await until('the group', async () => await shown() === '5,4 3 tries,3 try 2,1 try 1,2');
  await tab.close();
  await gateway.stop();
});
