// The program, a browser, and a page that watches itself; what the tests of the console share.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import puppeteer from 'puppeteer-core';

/// Resolves with the first true value of `look`, which it asks again and again; fails after so long.
export async function until(what, look, milliseconds = 10_000) {
  const end = Date.now() + milliseconds;
  let last;
  for (;;) {
    last = await look();
    if (last) return last;
    if (Date.now() > end) assert.fail(`${what}: not within ${milliseconds} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/// The programs of tests that failed before they stopped theirs: Node would wait for them.
const running = new Set();
after(() => { for (const gateway of running) gateway.process.kill(); });

/// The program, serving a script, with its control API.
export class Gateway {
  static async start(script = { mock_gateway: 1 }, flags = [], environment = {}) {
    const gateway = new Gateway();
    gateway.folder = await mkdtemp(join(tmpdir(), 'console-'));
    gateway.file = join(gateway.folder, 'demo.jsonc');
    await writeFile(gateway.file, typeof script === 'string' ? script : JSON.stringify(script, null, 2));
    gateway.process = spawn(process.env.MOCK_GATEWAY_BIN, ['serve', '--port', '0', '--control', '0', '--print', 'json',
      '--until-eof', '--quiet', '--script', gateway.file, ...flags], { stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, ...environment } });
    running.add(gateway);
    gateway.ended = new Promise((resolve) => gateway.process.on('exit', (code) => {
      running.delete(gateway);
      resolve(code);
    }));
    const line = await Promise.race([
      new Promise((resolve) => createInterface(gateway.process.stdout).once('line', resolve)),
      gateway.ended.then((code) => assert.fail(`the program ended with ${code} before it said where it is`))]);
    gateway.info = JSON.parse(line);
    // Reusing connections keeps several hundred requests a second from using up ports.
    gateway.agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
    return gateway;
  }

  get controlUrl() { return this.info.control_url; }
  get token() { return this.info.control_token; }
  get isRunning() { return this.process.exitCode === null && this.process.signalCode === null; }

  async stop() {
    this.agent.destroy();
    this.process.stdin.end();
    await this.ended;
    await rm(this.folder, { recursive: true });
  }

  /// The control API, past the page.
  async control(method, path, body) {
    const response = await fetch(`${this.controlUrl}/control/v1${path}`, { method,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  /// A client's request: {status, text}, and whether it was `broken` off. `said` is what the user says; `body` is added to
  /// the chat request. Rejects when no answer has begun.
  ask(said, { key = this.info.api_key, path = '/chat/completions', body = {}, raw } = {}) {
    const content = raw ?? JSON.stringify({ model: 'mock-model', messages: [{ role: 'user', content: said }], ...body });
    return new Promise((resolve, reject) => {
      const request = http.request(this.info.base_url + path, { method: 'POST', agent: this.agent,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(content) } });
      let begun;
      request.on('error', (error) => begun ? resolve({ ...begun, broken: true }) : reject(error));
      request.on('response', (response) => {
        let text = '';
        begun = { status: response.statusCode, text };
        response.setEncoding('utf8');
        response.on('data', (piece) => { text += piece; });
        response.on('end', () => resolve({ status: response.statusCode, text }));
        response.on('error', () => resolve({ status: response.statusCode, text, broken: true }));
      });
      request.end(content);
    });
  }

  /// A client that leaves when the first piece of its stream has come.
  leave(said) {
    return new Promise((resolve, reject) => {
      const request = http.request(this.info.base_url + '/chat/completions', { method: 'POST', agent: false,
        headers: { Authorization: `Bearer ${this.info.api_key}`, 'Content-Type': 'application/json' } });
      request.on('error', reject);
      request.on('response', (response) => response.once('data', () => {
        response.on('error', () => {});
        request.destroy();
        resolve();
      }));
      request.end(JSON.stringify({ model: 'mock-model', stream: true, messages: [{ role: 'user', content: said }] }));
    });
  }
}

export function startBrowser(flags = []) {
  // Chromium's own sandbox does not work for root, as in a container.
  const sandbox = process.getuid() === 0 ? ['--no-sandbox'] : [];
  return puppeteer.launch({ executablePath: process.env.CHROMIUM, headless: true,
    args: [...sandbox, '--disable-gpu', '--disable-dev-shm-usage', '--no-proxy-server', ...flags] });
}

/// Records what a page must not have: errors, warnings, violations of its policy, requests to other places.
export function watch(page, origin) {
  const wrong = [];
  page.on('console', (message) => {
    if (['error', 'warn', 'warning', 'issue'].includes(message.type())) wrong.push(`console: ${message.text()} (${message.location()?.url ?? ''})`);
  });
  page.on('pageerror', (error) => wrong.push(`page error: ${error.stack ?? error}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) wrong.push(`fetched ${request.url()}`);
  });
  return wrong;
}

/// The console in a tab with a new profile.
export class Console {
  /// With motion reduced a button has its colour at once.
  static async open(browser, gateway, { view = 'journal', width = 1280, height = 900, scheme = 'light', motion = 'no-preference',
    token = gateway.token } = {}) {
    const tab = new Console();
    tab.gateway = gateway;
    tab.context = await browser.createBrowserContext();
    await tab.context.overridePermissions(gateway.controlUrl, ['clipboard-read', 'clipboard-sanitized-write']);
    tab.page = await tab.context.newPage();
    tab.page.setDefaultTimeout(10_000);
    tab.wrong = watch(tab.page, gateway.controlUrl);
    await tab.page.setViewport({ width, height });
    await tab.scheme(scheme, motion);
    await tab.page.goto(gateway.controlUrl);
    if (token) await tab.enter(token);
    if (token && view) await tab.show(view);
    return tab;
  }

  /// Pastes the token into the page that asks for it.
  async enter(token) {
    await this.write('Token', token);
    await this.page.keyboard.press('Enter');
    await this.page.waitForSelector('nav:not([hidden])');
  }

  scheme(colours, motion = 'no-preference') {
    return this.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours },
      { name: 'prefers-reduced-motion', value: motion }]);
  }

  /// Goes to a view as its address does, and waits for its heading.
  async show(view) {
    const titles = { journal: 'Journal', review: 'Review', keys: 'API keys', stubs: 'Stubs', script: 'Script', control: 'Failures and clock' };
    const [name, id] = view.split('?')[0].split('/');
    await this.page.evaluate((hash) => { location.hash = hash; }, `#/${view}`);
    const ofOne = { exchange: 'Exchange', stubs: 'Stub' };
    await this.waitForText('h1', id ? `${ofOne[name]} ${id}` : titles[name]);
  }

  /// Waits until an element that fits the selector holds the text.
  waitForText(selector, text) {
    return until(`${selector} with "${text}"`, () => this.page.$$eval(selector,
      (found, wanted) => found.some((element) => element.textContent.includes(wanted)), text).catch(() => false));
  }

  text(selector = 'main') {
    return this.page.$eval(selector, (element) => element.textContent);
  }

  /// The button of this name, once it is seen; in the dialog if one is open.
  async button(name) {
    const found = await this.page.waitForFunction((wanted) => {
      const dialogs = [...document.querySelectorAll('dialog[open]')];
      return [...(dialogs.pop() ?? document).querySelectorAll('button')].find((each) =>
        (each.getAttribute('aria-label') ?? each.textContent) === wanted && each.checkVisibility());
    }, {}, name);
    return found.asElement();
  }

  async click(name) {
    const found = await this.button(name);
    // A list above it that comes late would move it away from under the mouse, and a message covers the lower edge.
    await found.evaluate(async (element) => {
      element.scrollIntoView({ block: 'center' });
      const place = () => JSON.stringify(element.getBoundingClientRect());
      for (let before = '', still = 0; still < 3; ) {
        still = place() === before ? still + 1 : 0;
        before = place();
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    });
    await found.click();
    await found.dispose();
  }

  /// The input, text area or selection with this label, in the dialog if one is open.
  async field(label) {
    const found = await this.page.waitForFunction((wanted) => {
      const labels = (document.querySelector('dialog[open]') ?? document).querySelectorAll('label[for]');
      return [...labels].find((each) => each.textContent === wanted)?.control;
    }, {}, label);
    return found.asElement();
  }

  /// Replaces the text of a field, faster than by key presses.
  async write(label, text) {
    const input = await this.field(label);
    await input.evaluate((element) => { element.value = ''; });
    await input.focus();
    await this.page.keyboard.sendCharacter(text);
  }

  /// What the focused element is called.
  focused() {
    return this.page.evaluate(() => {
      const element = document.activeElement;
      const label = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
      return label.trim();
    });
  }

  /// Presses Tab until the element of that name has the focus; within the buttons of a row, the arrow key.
  async tabTo(name, most = 120) {
    for (let pressed = 0; pressed < most; ++pressed) {
      if (await this.focused() === name) return;
      const isBeside = await this.page.evaluate((wanted) => [...(document.activeElement.closest('[role="toolbar"]')?.children ?? [])]
        .some((each) => (each.getAttribute('aria-label') ?? each.textContent) === wanted), name);
      await this.page.keyboard.press(isBeside ? 'ArrowRight' : 'Tab');
    }
    assert.fail(`Tab does not reach "${name}"`);
  }

  clipboard() {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /// Ends the tab. What a test provokes, such as the line that chromium prints for an answer of 400, is `expected`.
  async close(expected = []) {
    const state = await this.page.evaluate(() => ({ address: location.href, text: document.documentElement.outerHTML }));
    await this.context.close();
    const unexpected = this.wrong.filter((line) => !expected.some((pattern) => pattern.test(line)));
    assert.deepEqual(unexpected, [], 'nothing is wrong on the console of the browser');
    assert.ok(!state.address.includes(this.gateway.token), 'the token is not in the address');
    assert.ok(!state.text.includes(this.gateway.token), 'the token is not in the document');
  }
}
