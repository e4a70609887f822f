// The views of the console: what they show about clients and the gateway, and what their buttons change.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { script, traffic } from './script.mjs';
import { Console, Gateway, startBrowser, until } from './support.mjs';

let gateway, browser, seen;
before(async () => {
  gateway = await Gateway.start(script());
  browser = await startBrowser();
  seen = await traffic(gateway);
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
});

test('the journal shows what answered each request, and why', async () => {
  const tab = await Console.open(browser, gateway);
  await tab.page.waitForFunction(() => document.querySelectorAll('tr[data-id]').length === 7);
  const row = (id) => tab.page.$eval(`tr[data-id="${id}"]`, (element) => element.textContent);
  assert.match(await row(seen.greeted), /POST \/v1\/chat\/completions.*Hello.*200.*stub.*greeting/);
  assert.match(await row(seen.unmatched), /wether in Paris\?.*422.*unmatched.*closest: weather question, 2 of 3/);
  assert.match(await row(seen.forbidden), /old billing.*403.*rejected.*the key is disabled/);
  assert.match(await row(seen.broken), /broken by fault/);
  assert.doesNotMatch(await row(seen.greeted), /completed/, 'only an outcome that says something');
  await until('the client has left', async () => (await row(seen.left)).includes('client left'));
  assert.match(await row(seen.refused), /400.*rejected/);
  await tab.close();
});

test('the server filters the journal, and the address contains the filter', async () => {
  const tab = await Console.open(browser, gateway);
  await (await tab.field('Status')).select('403');
  await tab.page.waitForFunction((id) => {
    const rows = [...document.querySelectorAll('tr[data-id]')];
    return rows.length === 1 && rows[0].dataset.id === String(id);
  }, {}, seen.forbidden);
  assert.match(await tab.page.evaluate(() => location.hash), /^#\/journal\?status=403$/);
  await (await tab.field('Answered by')).select('unmatched');
  await (await tab.field('Status')).select('422');
  await tab.waitForText('tr[data-id]', 'wether');
  await tab.show('journal?text=Paris');
  await tab.page.waitForFunction(() => document.querySelectorAll('tr[data-id]').length === 1);
  await tab.show('journal?text=nowhere');
  await tab.waitForText('[role="status"]', 'No request passes the filters.');
  await tab.page.goBack();
  await tab.waitForText('tr[data-id]', 'wether');
  await tab.close();
});

test('an unmatched request shows the closest stubs, condition by condition', async () => {
  const tab = await Console.open(browser, gateway, { view: `exchange/${seen.unmatched}` });
  await tab.waitForText('h2', 'Closest stubs');
  const near = await tab.page.$$eval('.near > li', (items) => items.map((item) => item.textContent));
  assert.ok(near.some((text) => /weather question.*demo\.jsonc:\d+.*2 of 3 conditions/s.test(text)), near.join('\n'));
  assert.ok(near.some((text) => text.includes('✔ model is "mock-model"') && text.includes('✘ user text contains "weather"') &&
    text.includes('wether in Paris?')), near.join('\n'));
  await tab.close();
});

test('a 403 shows which key was refused, and why', async () => {
  const tab = await Console.open(browser, gateway, { view: `exchange/${seen.forbidden}` });
  await tab.waitForText('h2', 'Facts');
  const facts = await tab.page.$eval('dl', (list) => list.textContent);
  assert.match(facts, /Answered byrejected 403 unauthorized.*Keyold billing disabled.*Rightsall modelsall operations/s);
  await tab.close();
});

test('a broken stream has a timeline with its events, tokens and the fault', async () => {
  const tab = await Console.open(browser, gateway, { view: `exchange/${seen.broken}` });
  const told = await tab.page.waitForSelector('svg[role="img"]').then((drawing) => drawing.evaluate((element) => element.getAttribute('aria-label')));
  assert.match(told, /3 events, 2 tokens\. First byte at .*Fault: reset the connection after 2 tokens at \d.* ms. End: broken by fault at/);
  const strokes = (kind) => tab.page.$eval(`path.stroke.${kind}`, (path) => path.getAttribute('d').split('M').length - 1);
  assert.equal(await strokes('token'), 2);
  assert.equal(await strokes('event'), 2, 'two left at once');
  await tab.close();
});

test('the timeline shows when and how a client left', async () => {
  const tab = await Console.open(browser, gateway, { view: `exchange/${seen.left}` });
  await tab.waitForText('.legend', 'The client left');
  await tab.waitForText('dd', 'after the last write');
  await tab.close();
});

test('an exchange shows its findings, its request with masked keys, and a curl line that repeats the request', async () => {
  const tab = await Console.open(browser, gateway, { view: `exchange/${seen.warned}` });
  await tab.waitForText('code', 'stop_as_string');
  const content = await tab.text();
  assert.match(content, /Bearer sk-\*\*\*/);
  assert.ok(!content.includes(gateway.info.api_key));
  assert.match(content, /"stop": "END"/);
  await tab.click('Copy as curl');
  await tab.waitForText('#said', 'Copied');
  assert.match(await tab.clipboard(), /curl.*\$OPENAI_API_KEY/s);
  await tab.show('exchange/9999');
  await tab.waitForText('main', 'not in the journal');
  await tab.close([/status of 404/]);
});

test('an exchange can be downloaded as a bundle, which repeats the reply', async () => {
  const tab = await Console.open(browser, gateway, { view: `exchange/${seen.broken}` });
  const folder = await mkdtemp(join(tmpdir(), 'bundle-'));
  const session = await tab.page.createCDPSession();
  await session.send('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
  await tab.click('Download bundle');
  await tab.waitForText('#said', `Saved: exchange-${seen.broken}.json`);
  const file = join(folder, `exchange-${seen.broken}.json`);
  const bundle = await until('the file is there', () => readFile(file, 'utf8').then(JSON.parse).catch(() => null));
  assert.deepEqual(Object.keys(bundle).slice(0, 2), ['bundle', 'mock_gateway']);
  assert.equal(bundle.bundle.exchange.id, seen.broken);
  assert.ok(bundle.stubs[0].reply.faults.some((fault) => fault.effect === 'reset_connection'));
  assert.ok(!JSON.stringify(bundle).includes(gateway.info.api_key));
  await rm(folder, { recursive: true });
  await tab.close();
});

test('an exchange shows only its own findings of the review', async () => {
  const tab = await Console.open(browser, gateway, { view: `exchange/${seen.refused}` });
  await tab.waitForText('code', 'request_refused');
  const content = await tab.text();
  assert.doesNotMatch(content, /no errors or warnings/);
  assert.doesNotMatch(content, /stop_as_string/);
  await tab.show(`exchange/${seen.greeted}`);
  await tab.waitForText('.note', 'no errors or warnings');
  await tab.close();
});

test('a 64-bit integer is shown and copied as the client sent it', async () => {
  const own = await Gateway.start(script());
  await own.ask('', { raw: '{"model": "mock-model", "seed": 9007199254740993, "messages": [{"role": "user", "content": "Hello"}]}' });
  await own.ask('', { raw: '{"messages": [{"role": "user", "content": [{"text": 18446744073709551615}, {"text": "and a text"}]}]}' });
  const tab = await Console.open(browser, own);
  await tab.waitForText('tr[data-id="2"] .said-by-user', 'and a text');
  await tab.show('exchange/1');
  await tab.click('Copy the body');
  await tab.waitForText('#said', 'Copied');
  assert.match(await tab.clipboard(), /"seed": 9007199254740993,/);
  const shown = await tab.text();
  assert.match(shown, /"seed": 9007199254740993,/);
  assert.doesNotMatch(shown, /9007199254740992/);
  await tab.show('exchange/2');
  await tab.waitForText('pre', '"text": 18446744073709551615');
  await tab.close();
  await own.stop();
});

test('the page reports once that an open exchange was removed, and no longer asks for it', async () => {
  const own = await Gateway.start(script());
  const answer = own.ask('gate', { body: { stream: true } });
  await until('it is under way', async () => (await own.control('GET', '')).counts.open === 1);
  const tab = await Console.open(browser, own, { view: 'exchange/1' });
  await tab.waitForText('.lead', 'pending');
  await own.control('DELETE', '/journal');
  await tab.waitForText('main [role="alert"]', 'exchange 1 was removed when the journal was cleared');
  let looks = 0;
  tab.page.on('request', (request) => { looks += request.url().endsWith('/journal/1') ? 1 : 0; });
  // The head of the page asks every three seconds. In that time the page would ask for the exchange six times.
  for (let round = 0; round < 2; ++round) await tab.page.waitForRequest(`${own.controlUrl}/control/v1`);
  assert.equal(looks, 0);
  assert.equal(await tab.text('#said'), '');
  assert.equal(await tab.page.$$eval('main [role="alert"]', (all) => all.filter((one) => one.textContent).length), 1);
  await own.control('POST', '/gates/first/open');
  await answer;
  await tab.close([/status of 404/]);
  await own.stop();
});

test('stubs are listed in order, with conditions, reply, calls, line and the stub that hides them', async () => {
  const tab = await Console.open(browser, gateway, { view: 'stubs' });
  await tab.waitForText('tr[id]', 'greeting');
  await tab.waitForText('tr[id]', 'It is 21 degrees.');
  await tab.waitForText('tr[id]', 'Never.');
  const rows = await tab.page.$$eval('tr[id]', (all) => all.map((row) => row.textContent));
  assert.match(rows[0], /^1weather question.*has tool "get_weather".*It is 21 degrees\..*demo\.jsonc:\d+/);
  const greeting = rows.find((text) => text.includes('greeting'));
  assert.match(greeting, /Hello\.21 not met/);
  assert.match(rows.find((text) => text.includes('hidden by')), /hidden.*never reached hidden by count/);
  await tab.close();
});

test('a stub can be added on the page, answers requests, counts them, and can be removed', async () => {
  const tab = await Console.open(browser, gateway, { view: 'stubs' });
  await tab.write('Stub', '{"name": "added here", "when": {"user_say": "page"}, "reply": "From the page."}');
  await tab.click('Add');
  await tab.waitForText('[role="alert"]', 'did you mean "user_says"?');
  assert.equal(await tab.page.$eval('pre.source .caret', (caret) => caret.textContent.trim().endsWith('^')), true);
  await tab.write('Stub', '{"name": "added here", "when": {"user_says": "page"}, "reply": "From the page."}');
  await tab.click('Add');
  await tab.waitForText('tr[id]', 'added here');
  assert.match((await gateway.ask('the page')).text, /From the page\./);
  await tab.page.waitForFunction(() => [...document.querySelectorAll('tr[id]')].some((row) =>
    row.textContent.includes('added here') && row.querySelector('[data-label="Calls"]').textContent === '1'));
  await tab.page.$$eval('tr[id] a', (links) => links.find((link) => link.textContent === 'added here').click());
  await tab.waitForText('h1', 'Stub ');
  await tab.click('Remove');
  await tab.waitForText('dialog h2', 'Remove this stub?');
  await tab.click('Remove');
  await tab.waitForText('h1', 'Stubs');
  await until('the stub is gone', async () => !(await tab.text('tbody')).includes('added here'));
  assert.equal((await gateway.ask('the page')).status, 422);
  await tab.close([/status of 400/]);
});

test('the page shows which stub would answer a request, without sending the request', async () => {
  const tab = await Console.open(browser, gateway, { view: 'stubs' });
  const before = (await gateway.control('GET', '')).counts.requests;
  await tab.write('Chat request', '{"model": "mock-model", "messages": [{"role": "user", "content": "please count"}]}');
  await tab.click('Explain');
  await tab.waitForText('[role="status"] a', 'count');
  assert.equal((await gateway.control('GET', '')).counts.requests, before);
  await tab.close();
});

test('a script can be checked and mounted; its mistakes are shown with a line and a caret', async () => {
  const tab = await Console.open(browser, gateway, { view: 'script' });
  await tab.waitForText('code', 'demo.jsonc');
  await tab.waitForText('.problems', 'this stub never answers');
  await tab.write('Script', '{"mock_gateway": 1,\n "stubs": [{"repli": "Hi"}]}');
  await tab.click('Check');
  await tab.waitForText('[role="status"]', 'The script is not valid.');
  const told = await tab.text('[role="status"] .problems');
  assert.match(told, /2:\d+.*unknown key "repli"; did you mean "reply"\?/s);
  await tab.write('Script', '{"mock_gateway": 1, // mounted by hand\n "stubs": [{"name": "by hand", "when": {"user_says": "hand"}, "reply": "By hand."}]}');
  await tab.click('Mount');
  await tab.waitForText('#said', 'The script is mounted: 1 stub.');
  await tab.waitForText('h2', 'Mounted by this page or the API');
  assert.match((await gateway.ask('hand')).text, /By hand\./);
  await tab.close();
});

test('a mistake in a served file is shown with its line until the file is corrected', async () => {
  const own = await Gateway.start(script());
  const tab = await Console.open(browser, own, { view: 'script' });
  await writeFile(own.file, '{"mock_gateway": 1, "stubs": [\n  {"reply": 7}\n]}');
  await tab.waitForText('header', 'the script has a mistake');
  await tab.waitForText('.problems', 'demo.jsonc:2:');
  await writeFile(own.file, '{"mock_gateway": 1, "stubs": [{"reply": "Hi"}]}');
  await tab.waitForText('main', 'Its present version is served.');
  await until('the head says no mistake', async () => !(await tab.text('header')).includes('mistake'));
  await tab.close();
  await own.stop();
});

test('a failure can be forced for a number of requests, is listed, and can be cleared', async () => {
  const tab = await Console.open(browser, gateway, { view: 'control' });
  await tab.page.waitForSelector('option[value="overloaded"]');
  await (await tab.field('Failure')).select('overloaded');
  await tab.write('Times', '3');
  await tab.click('Force it');
  await tab.waitForText('section li', '3 left');
  const { status } = await gateway.ask('Hello');
  assert.ok(status >= 500, `forced: ${status}`);
  await tab.waitForText('section li', '2 left');
  await tab.click('Clear all: Forced failures');
  await tab.waitForText('#said', 'cleared');
  assert.equal((await gateway.ask('Hello')).status, 200);
  await tab.close();
});

test('chaos and connection faults can be added and cleared, and the port can be closed and opened', async () => {
  const tab = await Console.open(browser, gateway, { view: 'control' });
  await tab.write('Rule', '{"failure": "overloaded", "nth": 3}');
  // Waits for the message, which comes when the list has changed, so that no button moves under the pointer.
  for (const [name, said] of [['Add the rule', 'The rule is added.'], ['Clear all: Chaos', 'Chaos: cleared.'],
    ['Add the fault', 'The fault waits for a connection.'], ['Clear all: Connection faults', 'Connection faults: cleared.'],
    ['Refuse connections', 'Connections are refused.']]) {
    await tab.click(name);
    await tab.waitForText('#said', said);
  }
  await tab.waitForText('header', 'not listening');
  gateway.agent.destroy();
  await assert.rejects(gateway.ask('Hello'));
  await tab.click('Accept connections');
  await tab.button('Refuse connections');
  assert.equal((await gateway.ask('Hello')).status, 200);
  await tab.close();
});

test('an exchange shows the gate that holds it, and ends when the page opens the gate', async () => {
  const tab = await Console.open(browser, gateway);
  const answer = gateway.ask('gate', { body: { stream: true } });
  await tab.waitForText('tr[data-id]:first-child', 'pending');
  const id = await tab.page.$eval('tr[data-id]', (row) => row.dataset.id);
  await tab.show(`exchange/${id}`);
  await tab.waitForText('main', '1 request held at gate first');
  await tab.click('Open the gate');
  assert.match((await answer).text, /\[DONE\]/);
  await until('it has ended', async () => !(await tab.text('.lead')).includes('pending'));
  assert.ok(!(await tab.text()).includes('held at gate'));
  await tab.close();
});

test('a manual clock can be advanced on the page', async () => {
  const own = await Gateway.start(script({ clock: 'manual' }));
  const tab = await Console.open(browser, own, { view: 'control' });
  const answer = own.ask('slow', { body: { stream: true } });
  await tab.waitForText('section li', ' in 40 ms');
  await tab.click('To the next wait');
  await tab.waitForText('#said', 'Advanced by 40 ms');
  await tab.write('By', '1s');
  await tab.click('Advance');
  assert.match((await answer).text, /\[DONE\]/);
  await tab.close();
  await own.stop();
});

test('the review shows problems and findings, also of new requests', async () => {
  const tab = await Console.open(browser, gateway, { view: 'review' });
  await tab.waitForText('.badge', 'unmet expectation');
  await tab.waitForText('.badge', 'unmatched');
  await tab.waitForText('code', 'stop_as_string');
  await gateway.ask('Hello', { body: { stream_options: { include_usage: true } } });
  await tab.waitForText('code', 'stream_options_without_stream');
  await tab.close();
});

test('the review keeps the focus, whether or not a request changes the list', async () => {
  await gateway.ask('count'); // the first call of the stub removes a note
  const tab = await Console.open(browser, gateway, { view: 'review' });
  await tab.page.waitForSelector('.near a');
  const judged = () => tab.page.$eval('.lead', (summary) => Number(/in ([\d,]+) request/.exec(summary.textContent)[1]));
  const counted = (before) => until('the request is counted', async () => await judged() === before + 1);
  const link = await tab.page.$('.near a');
  await link.focus();
  let before = await judged();
  await gateway.ask('count');
  await counted(before);
  assert.ok(await link.evaluate((element) => element === document.activeElement), 'the same element has the focus');
  const name = await tab.focused();
  before = await judged();
  await gateway.ask('no stub has this');
  await counted(before);
  assert.ok(!await link.evaluate((element) => element.isConnected), 'the list is drawn anew');
  assert.equal(await tab.focused(), name);
  const text = await tab.page.$('.problems pre.text');
  await text.focus();
  before = await judged();
  await gateway.ask('Hello', { body: { stop: 'END' } });
  await counted(before);
  assert.equal(await tab.page.evaluate(() => document.activeElement.className), 'text');
  await tab.close();
});

test('a reset removes exchanges and what was mounted on the page, and keeps the keys', async () => {
  const own = await Gateway.start(script());
  await own.ask('Hello');
  await own.control('POST', '/stubs', { name: 'by hand', reply: 'Hi' });
  const tab = await Console.open(browser, own, { view: 'control' });
  await (await tab.page.waitForSelector('[data-focus="reset"]')).click();
  await tab.page.waitForSelector('dialog .danger').then((button) => button.click());
  await tab.waitForText('#said', 'Kept: ');
  await tab.show('journal');
  await tab.waitForText('[role="status"]', 'No requests yet.');
  await tab.show('stubs');
  await tab.waitForText('tr[id]', 'greeting');
  assert.ok(!(await tab.text('tbody')).includes('by hand'));
  await tab.close();
  await own.stop();
});

test('without a token, or with a wrong one, the page asks for it', async () => {
  const tab = await Console.open(browser, gateway, { token: '' });
  await tab.waitForText('h1', 'Control token');
  assert.equal(await tab.focused(), 'Token');
  await tab.page.keyboard.type('not-the-token-of-this-one');
  await tab.page.keyboard.press('Enter');
  await tab.waitForText('[role="alert"]', 'refused this token');
  await tab.page.keyboard.type(gateway.token);
  await tab.page.keyboard.press('Enter');
  await tab.waitForText('h1', 'Journal');
  await tab.waitForText('tr[data-id]', 'greeting');
  assert.equal((await tab.page.evaluate(() => document.cookie)), '');
  await tab.close([/status of 401/]);
});

test('a token is kept for this tab', async () => {
  const tab = await Console.open(browser, gateway, { view: null });
  await tab.waitForText('tr[data-id]', 'greeting');
  await tab.page.reload();
  await tab.waitForText('tr[data-id]', 'greeting');
  assert.equal(await tab.page.evaluate(() => localStorage.length), 0);
  await tab.page.evaluate(() => { location.hash = '#/exchange/%'; });
  await tab.waitForText('h1', 'Exchange %');
  await tab.close([/status of 404/]);
});

test('typed text and a paused list stay while the gateway does not answer and when another gateway answers', async () => {
  const tab = await Console.open(browser, gateway, { view: 'script' });
  const away = async () => {
    await tab.waitForText('header', 'listening');
    await tab.page.setOfflineMode(true);
    await tab.waitForText('header', 'does not answer');
    await tab.page.setOfflineMode(false);
    await tab.waitForText('header', 'listening');
  };
  const typed = '{"not": "yet';
  const typedIs = async () => {
    assert.equal(await (await tab.field('Script')).evaluate((element) => element.value), typed);
    assert.equal(await tab.focused(), 'Script');
  };
  await tab.write('Script', typed);
  await away();
  await typedIs();
  // Acts as if the program had restarted with the same port and token.
  await tab.page.evaluate(() => {
    const { fetch } = window;
    window.fetchAgain = () => { window.fetch = fetch; };
    window.fetch = async (path, init) => {
      const answer = await fetch(path, init);
      if (path !== '/control/v1') return answer;
      return Response.json({ ...await answer.json(), instance: 'another', version: 'of another' });
    };
  });
  await tab.waitForText('header', 'of another');
  await typedIs();
  await tab.page.evaluate(() => window.fetchAgain());
  await until('the head is that of the first', async () => !(await tab.text('header')).includes('of another'));

  await tab.show('journal');
  await tab.waitForText('tr[data-id]', 'greeting');
  await tab.click('Pause');
  await away();
  await tab.button('Resume');
  await gateway.ask('while it is paused');
  await tab.waitForText('[role="status"]', 'since.');
  await tab.click('Resume');
  await tab.waitForText('tr[data-id]', 'while it is paused');
  await tab.close([/ERR_INTERNET_DISCONNECTED/, /status of 422/]);
});

test('the page shows that the gateway does not answer', async () => {
  const own = await Gateway.start(script());
  const tab = await Console.open(browser, own, { view: 'keys' });
  await tab.waitForText('header', 'listening');
  await own.stop();
  await tab.waitForText('header', 'does not answer');
  await tab.close([/ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE|ERR_SOCKET/]);
});
