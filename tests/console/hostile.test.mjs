// Hostile texts from clients: markup stays text, invisible and bidirectional characters are shown, long texts are cut.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Console, Gateway, startBrowser } from './support.mjs';

const MARKUP = '<img src=x onerror="window.struck=1"><script>window.struck=1</script><b id="struck">bold</b>';
const TURNING = 'invoice\u202egpj.exe \u0000\u001b[31m \u200bzero\u2066iso';

let gateway, browser;
before(async () => {
  gateway = await Gateway.start({ mock_gateway: 1, stubs: [{ name: `${MARKUP}${TURNING}`, when: { user_says: 'struck' }, reply: 'Hi' }] });
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
});

async function assertHarmless(tab) {
  assert.deepEqual(await tab.page.evaluate(() => [window.struck ?? 'no', document.querySelectorAll('#struck, main img, main script').length]), ['no', 0]);
  const text = await tab.page.evaluate(() => document.documentElement.textContent +
    [...document.querySelectorAll('*')].flatMap((element) => [...element.attributes].map((attribute) => attribute.value)).join(''));
  assert.doesNotMatch(text, /[\0\x1b\u200b\u202e\u2066]/, 'no hidden character reaches the document');
}

test('markup and hidden characters of a prompt, a key, a header and a stub are shown as text', async () => {
  await gateway.control('POST', '/keys', { name: `${MARKUP}${TURNING}` });
  await gateway.ask(`${MARKUP} ${TURNING}`);
  await gateway.ask('', { raw: `{"model": "mock-model", "messages": [{"role": "user", "content": "${'\\u202e'}"}], "${'\\u0000'}<b>": 1` });
  const tab = await Console.open(browser, gateway);
  await tab.waitForText('tr[data-id] .said-by-user', 'invoice\\u202egpj.exe');
  for (const view of ['journal', 'journal?text=%E2%80%AE', 'exchange/1', 'exchange/2', 'keys', 'stubs', 'script', 'control', 'review']) {
    await tab.show(view);
    if (view === 'keys' || view === 'stubs') await tab.waitForText('tbody', '\\u202e');
    if (view === 'exchange/1') await tab.waitForText('pre', 'invoice\\u202egpj.exe \\u0000');
    await assertHarmless(tab);
  }
  await tab.close();
});

test('a text of a megabyte is cut, and shown completely on request', async (context) => {
  const { length: number } = (await gateway.control('GET', '/journal?limit=1000')).exchanges;
  await gateway.ask('word '.repeat(200_000) + 'the end');
  const tab = await Console.open(browser, gateway, { view: `exchange/${number + 1}` });
  const body = 'section pre.text';
  await tab.page.waitForSelector(body);
  assert.ok((await tab.text('main')).length < 50_000, 'the page begins with a part');
  const begin = Date.now();
  await (await tab.page.waitForSelector('::-p-text(Show all)')).click();
  await tab.waitForText(body, 'the end');
  await tab.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  context.diagnostic(`shown whole after ${Date.now() - begin} ms`);
  assert.ok(Date.now() - begin < 5000);
  await tab.show('journal');
  await tab.waitForText('tr[data-id]', 'word word');
  assert.ok((await tab.text('tr[data-id]')).length < 1000);
  await tab.close();
});

test('a megabyte of hidden characters does not freeze the page', async () => {
  const { length: number } = (await gateway.control('GET', '/journal?limit=1000')).exchanges;
  await gateway.ask('a\u202e'.repeat(250_000));
  const tab = await Console.open(browser, gateway, { view: `exchange/${number + 1}` });
  await (await tab.page.waitForSelector('::-p-text(Show all)')).click();
  await tab.page.waitForFunction(() => [...document.querySelectorAll('pre.text')].some((text) => text.textContent.length > 1_000_000));
  await assertHarmless(tab);
  await tab.close();
});

test('the content security policy prevents markup and code from texts, and requests to other origins', async () => {
  const tab = await Console.open(browser, gateway);
  const refused = await tab.page.evaluate(async () => {
    const attempts = {
      markup: () => { document.querySelector('main').innerHTML = '<b>bold</b>'; },
      'an inline handler': () => {
        const made = document.createElement('button');
        made.setAttribute('onclick', 'window.struck = 1');
        made.click();
        if (!window.struck) throw new Error('nothing happened');
      },
      'a request elsewhere': () => fetch('http://127.0.0.1:1/'),
    };
    const found = [];
    for (const [what, attempt] of Object.entries(attempts)) {
      try { await attempt(); } catch { found.push(what); }
    }
    return found;
  });
  assert.deepEqual(refused, ['markup', 'an inline handler', 'a request elsewhere']);
  await tab.close([/Content Security Policy|TrustedHTML|TrustedScript|violates the following/i, /fetched http:\/\/127\.0\.0\.1:1\//]);
});
