// Console sessions: the code in an address is exchanged for the token once, and the token leaves no trace.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { script } from './script.mjs';
import { Console, Gateway, startBrowser, until, watch } from './support.mjs';

/// The program on a terminal, with its output and its token, which the terminal never shows.
class OnTerminal {
  static async start() {
    const own = new OnTerminal();
    own.folder = await mkdtemp(join(tmpdir(), 'console-'));
    own.info = join(own.folder, 'info.json');
    own.shown = '';
    // Python's module pty provides a terminal wherever the tests run. It ends when its stdin is closed.
    own.process = spawn('python3', ['-c', 'import pty, sys; pty.spawn(sys.argv[1:])', process.env.MOCK_GATEWAY_BIN, 'serve',
      '--port', '0', '--control', '0', '--quiet', '--info-file', own.info], { stdio: ['pipe', 'pipe', 'inherit'] });
    own.ended = new Promise((resolve) => own.process.on('exit', resolve));
    own.process.stdout.on('data', (piece) => { own.shown += piece; });
    await until('it is ready', () => own.shown.includes('ready'));
    const { readFile } = await import('node:fs/promises');
    Object.assign(own, JSON.parse(await readFile(own.info, 'utf8')));
    return own;
  }

  get token() { return this.control_token; }
  get controlUrl() { return this.control_url; }

  /// Returns the addresses that the terminal has shown.
  get addresses() { return [...this.shown.matchAll(/console +(\S+)/g)].map((match) => match[1]); }

  async stop() {
    process.kill(this.pid, 'SIGTERM');
    await this.ended;
    await rm(this.folder, { recursive: true });
  }
}

/// Opens a tab of the same profile at this address, which may contain a code.
async function openAt(context, gateway, address) {
  const tab = new Console();
  tab.gateway = gateway;
  tab.context = context;
  tab.page = await context.newPage();
  tab.page.setDefaultTimeout(10_000);
  tab.wrong = watch(tab.page, gateway.controlUrl);
  await tab.page.goto(address);
  return tab;
}

async function closeTab(tab, expected = []) {
  await tab.page.close();
  assert.deepEqual(tab.wrong.filter((line) => !expected.some((pattern) => pattern.test(line))), []);
}

const address = (tab) => tab.page.evaluate(() => location.href);

test('the address on the terminal opens the console once; a used address says so, and the terminal shows a fresh one', async () => {
  const gateway = await OnTerminal.start();
  const browser = await startBrowser();
  const first = await openAt(await browser.createBrowserContext(), gateway, gateway.addresses[0]);
  await first.waitForText('header', 'listening');
  assert.equal(await address(first), `${gateway.controlUrl}/#/journal`);
  await first.page.reload();
  await first.waitForText('header', 'listening');

  const other = await openAt(await browser.createBrowserContext(), gateway, gateway.addresses[0]);
  await other.waitForText('[role="alert"]', 'was already used');
  assert.equal(await address(other), `${gateway.controlUrl}/#/journal`);
  await until('a fresh address', () => gateway.addresses.length === 2);
  await other.page.evaluate((hash) => { location.hash = hash; }, new URL(gateway.addresses[1]).hash);
  await other.waitForText('header', 'listening');
  await closeTab(first);
  await closeTab(other, [/status of 401/]);
  await browser.close();
  assert.ok(!gateway.shown.includes(gateway.token), 'the terminal does not show the token');
  await gateway.stop();
});

test('the page says that a code has expired or is unknown, and asks for the token', async () => {
  const gateway = await OnTerminal.start();
  const browser = await startBrowser();
  for (const [code, said] of [['late_code', 'older than a minute'], ['wrong_code', 'Unknown code']]) {
    const context = await browser.createBrowserContext();
    const tab = await openAt(context, gateway, 'about:blank');
    if (code === 'late_code') {
      await tab.page.setRequestInterception(true);
      tab.page.on('request', (request) => request.url().endsWith('/session') ?
        request.respond({ status: 401, contentType: 'application/json', body: JSON.stringify({ code, message: '', problems: [] }) }) :
        request.continue());
    }
    await tab.page.goto(`${gateway.controlUrl}/#code=abcdefghijklmnopqrstuvwxyz`);
    await tab.waitForText('[role="alert"]', said);
    assert.equal(await tab.focused(), 'Token');
    await tab.enter(gateway.token);
    await tab.waitForText('header', 'listening');
    await closeTab(tab, [/status of 401/]);
  }
  assert.equal(gateway.addresses.length, 1, 'a foreign code shows no address');
  await browser.close();
  await gateway.stop();
});

test('a link does not replace a valid token and logs out no tab', async () => {
  const gateway = await Gateway.start(script());
  const browser = await startBrowser();
  const tab = await Console.open(browser, gateway);
  for (const hash of ['#token=x', '#token=', '#token=50%', '#token=%E2%82%AC', '#token=another-good-looking-token',
    '#code=x', '#code=', '#code=%', '#code=abcdefghijklmnopqrstuvwxyz']) {
    await tab.page.evaluate((wanted) => { location.hash = wanted; }, hash);
    await until(`${hash} is cleared`, async () => (await address(tab)) === `${gateway.controlUrl}/#/journal`);
    await tab.page.goto('about:blank');
    await tab.page.goto(`${gateway.controlUrl}/${hash}`);
    await tab.waitForText('header', 'listening');
    assert.equal(await address(tab), `${gateway.controlUrl}/#/journal`);
    assert.equal(await tab.page.evaluate(() => sessionStorage.getItem('mock-gateway-control-token')), gateway.token);
  }
  await tab.close();
  // The page does not even accept the right token from an address.
  const other = await Console.open(browser, gateway, { token: '' });
  await other.page.goto('about:blank');
  await other.page.goto(`${gateway.controlUrl}/#token=${gateway.token}`);
  await other.waitForText('[role="alert"]', 'no token from an address');
  await other.close();
  await browser.close();
  await gateway.stop();
});

test('a second tab gets the token from an open tab, even with a used address', async () => {
  const gateway = await OnTerminal.start();
  const browser = await startBrowser();
  const context = await browser.createBrowserContext();
  const first = await openAt(context, gateway, gateway.addresses[0]);
  await first.waitForText('header', 'listening');
  for (const place of [gateway.addresses[0], gateway.controlUrl, `${gateway.controlUrl}/#/keys`]) {
    const tab = await openAt(context, gateway, place);
    await tab.waitForText('header', 'listening');
    await closeTab(tab);
  }
  assert.equal(gateway.addresses.length, 1, 'no code was used up');
  // A tab does not pass on a token that the program no longer accepts.
  await first.page.evaluate(() => sessionStorage.setItem('mock-gateway-control-token', 'the-token-of-another-program'));
  const tab = await openAt(context, gateway, gateway.controlUrl);
  await tab.waitForText('h1', 'Control token');
  await tab.enter(gateway.token);
  await tab.waitForText('header', 'listening');
  await closeTab(tab, [/status of 401/]);
  await closeTab(first, [/status of 401/]);
  await browser.close();
  await gateway.stop();
});

test('the history of the browser contains the code but not the token', async () => {
  const gateway = await OnTerminal.start();
  const profile = await mkdtemp(join(tmpdir(), 'profile-'));
  const browser = await startBrowser([`--user-data-dir=${profile}`]);
  const tab = await openAt(browser.defaultBrowserContext(), gateway, gateway.addresses[0]);
  await tab.waitForText('header', 'listening');
  await tab.show('keys');
  await tab.page.goto('about:blank');
  await tab.page.goto(`${gateway.controlUrl}/`);
  await tab.waitForText('header', 'listening');
  await browser.close();  // writes its profile
  const read = spawnSync('python3', ['-c', `import json, sqlite3, sys
history = sqlite3.connect(sys.argv[1])
tables = [name for (name,) in history.execute("select name from sqlite_master where type = 'table'")]
rows = [[str(value) for value in row] for table in tables for row in history.execute(f'select * from "{table}"')]
print(json.dumps(rows))`, join(profile, 'Default', 'History')], { encoding: 'utf8' });
  assert.equal(read.status, 0, read.stderr);
  const rows = JSON.parse(read.stdout).flat();
  assert.ok(rows.includes(gateway.addresses[0]), 'the history was kept, and has the address that was opened');
  assert.deepEqual(rows.filter((value) => value.includes(gateway.token)), []);
  await rm(profile, { recursive: true });
  // The code in the history is no longer valid.
  const response = await fetch(`${gateway.controlUrl}/control/v1/session`, { method: 'POST',
    headers: { Authorization: `Bearer ${gateway.addresses[0].split('#code=')[1]}` } });
  assert.equal(response.status, 401);
  assert.equal((await response.json()).code, 'used_code');
  await gateway.stop();
});
