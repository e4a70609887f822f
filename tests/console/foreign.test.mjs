// Pages of other origins and rebound host names, which must read nothing and change nothing.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { Console, Gateway, startBrowser, until } from './support.mjs';

const NAME = 'evil.test';
let gateway, browser, site;
before(async () => {
  gateway = await Gateway.start();
  browser = await startBrowser([`--host-resolver-rules=MAP ${NAME} 127.0.0.1`]);
  site = http.createServer(async (request, response) => {
    const attack = request.url.startsWith('/attack.mjs');
    response.setHeader('Content-Type', attack ? 'text/javascript' : 'text/html');
    response.end(attack ? await readFile(new URL('attack.mjs', import.meta.url)) :
      '<!doctype html><title>elsewhere</title><script type="module" src="/attack.mjs"></script>');
  });
  await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  await browser?.close();
  site?.closeAllConnections();
  site?.close();
  await gateway?.stop();
});

/// Returns everything that an attack could have changed.
async function state() {
  // Waits, because a client may have its response before the gateway has recorded the end of the exchange.
  const root = await until('every exchange ends', async () => {
    const status = await gateway.control('GET', '');
    return status.counts.open === 0 && status;
  });
  const read = (path) => gateway.control('GET', path);
  return JSON.stringify([root.instance, root.listening, root.counts, await read('/keys'), await read('/stubs'), await read('/failures'),
    await read('/chaos'), await read('/connections'), await read('/script'),
    (await read('/journal')).exchanges.map((exchange) => exchange.id)]);
}

/// Runs the attacks from a page of this origin. The browser reports refused requests on its console, which is expected.
async function attack(origin, target, token) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.goto(`${origin}/#${encodeURIComponent(JSON.stringify({ target, token }))}`);
  const results = await until('the attack ends', () => page.evaluate(() => window.results), 30_000);
  await context.close();
  return results;
}

for (const [title, withToken] of [['without the token', false], ['even with the token', true]]) {
  test(`a page on another port reads nothing and changes nothing (${title})`, async () => {
    await gateway.ask('the secret prompt');
    const before = await state();
    const results = await attack(`http://127.0.0.1:${site.address().port}`, gateway.controlUrl, withToken ? gateway.token : 'guess');
    assert.ok(Object.keys(results).length >= 12, JSON.stringify(results));
    for (const [what, result] of Object.entries(results)) assert.equal(result, 'nothing', what);
    assert.ok(gateway.isRunning);
    assert.equal(await state(), before);
  });
}

test('a rebound host name gets 421 for the page and for the API, and changes nothing', async () => {
  const before = await state();
  const port = new URL(gateway.controlUrl).port;
  const results = await attack(`http://${NAME}:${site.address().port}`, `http://${NAME}:${port}`, gateway.token);
  for (const [what, result] of Object.entries(results)) assert.equal(result, 'nothing', what);

  // The name now resolves to the control port itself, so the browser treats both as one origin.
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const opened = await page.goto(`http://${NAME}:${port}/`);
  assert.equal(opened.status(), 421);
  const answers = await page.evaluate(async (token) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const all = [];
    for (const [method, path, body] of [['GET', '/control/v1'], ['GET', '/control/v1/keys'], ['GET', '/control/v1/journal'], ['GET', '/'], ['GET', '/app.mjs'],
      ['POST', '/control/v1/keys', '{"name": "evil"}'], ['POST', '/control/v1/stop'], ['PUT', '/control/v1/listening', '{"listening": false}'],
      ['DELETE', '/control/v1/journal']]) {
      const answer = await fetch(path, { method, body, headers }).then(async (response) => [response.status, await response.text()], () => [0, '']);
      all.push([`${method} ${path}`, ...answer]);
    }
    return all;
  }, gateway.token);
  for (const [request, status, text] of answers) {
    assert.ok(status === 421 || status === 0, `${request}: ${status}`);
    assert.doesNotMatch(text, /secret prompt|"keys"|api_key|<script/, request);
  }
  await context.close();
  assert.ok(gateway.isRunning);
  assert.equal(await state(), before);
});

test('another page cannot show the console in a frame', async () => {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${site.address().port}/#none`);
  await page.evaluate((target) => {
    const frame = document.createElement('iframe');
    frame.src = target;
    document.body.append(frame);
  }, gateway.controlUrl);
  const frame = await until('a frame', () => page.frames().find((each) => each !== page.mainFrame()));
  await until('the frame is refused', () => frame.url().startsWith('chrome-error:'));
  await context.close();
});

test('a tab with the console does not give its token to the page that opened it', async () => {
  const tab = await Console.open(browser, gateway);
  const page = await tab.context.newPage();
  await page.goto(`http://127.0.0.1:${site.address().port}/#none`);
  const seen = await page.evaluate(async (target) => {
    const opened = window.open(target);
    // Waits, because the new tab is an empty page of this origin until the other page has loaded.
    for (const end = Date.now() + 10_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
      try { void opened.sessionStorage.length; } catch (error) { return error.name; }
    }
    return 'it was read';
  }, gateway.controlUrl);
  assert.equal(seen, 'SecurityError');
  await tab.close();
});
