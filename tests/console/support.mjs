// Support for the tests of the console: the program, a browser, and a page whose errors are recorded.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import puppeteer from 'puppeteer-core';

/// Calls `look` repeatedly and returns its first true value. Fails after `milliseconds`.
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

/// Running programs, to be stopped at the end. Node would wait for those that failed tests did not stop.
const running = new Set();
after(() => { for (const gateway of running) gateway.process.kill(); });

/// The program, which serves a script and has its control API.
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
    // Connections are reused, because several hundred requests per second would use up the ports.
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

  /// Calls the control API directly, without the page.
  async control(method, path, body) {
    const response = await fetch(`${this.controlUrl}/control/v1${path}`, { method,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  /// Sends a client's request. Returns {status, text} and whether the response was `broken` off. `said` is the user
  /// message; `body` is added to the chat request. Rejects if no response has begun.
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

  /// Sends a stream request as a client that leaves after the first piece of the stream.
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
  // Chromium's sandbox does not work for root, for example in a container.
  const sandbox = process.getuid() === 0 ? ['--no-sandbox'] : [];
  return puppeteer.launch({ executablePath: process.env.CHROMIUM, headless: true,
    args: [...sandbox, '--disable-gpu', '--disable-dev-shm-usage', '--no-proxy-server', ...flags] });
}

/// Records everything that a page must not cause: errors, warnings, policy violations, requests to other origins.
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

/// The console page in a tab with a new profile.
export class Console {
  /// Opens the console. Reduced motion is set, so that a button has its final colour at once.
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

  /// Enters the token on the page that asks for it.
  async enter(token) {
    await this.write('Token', token);
    await this.page.keyboard.press('Enter');
    await this.page.waitForSelector('nav:not([hidden])');
  }

  scheme(colours, motion = 'no-preference') {
    return this.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours },
      { name: 'prefers-reduced-motion', value: motion }]);
  }

  /// Opens a view by its address and waits for its heading.
  async show(view) {
    const titles = { journal: 'Journal', review: 'Review', keys: 'API keys', stubs: 'Stubs', script: 'Script', control: 'Failures and clock' };
    const [name, id] = view.split('?')[0].split('/');
    await this.page.evaluate((hash) => { location.hash = hash; }, `#/${view}`);
    const ofOne = { exchange: 'Exchange', stubs: 'Stub' };
    await this.waitForText('h1', id ? `${ofOne[name]} ${id}` : titles[name]);
  }

  /// Waits until an element that matches the selector contains the text.
  waitForText(selector, text) {
    return until(`${selector} with "${text}"`, () => this.page.$$eval(selector,
      (found, wanted) => found.some((element) => element.textContent.includes(wanted)), text).catch(() => false));
  }

  text(selector = 'main') {
    return this.page.$eval(selector, (element) => element.textContent);
  }

  /// Waits until the button with this name is visible and returns it. Searches only the dialog if one is open.
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
    // Waits until the button stays in place, because a late list above moves it. Scrolls it away from the lower edge,
    // which a message may cover.
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

  /// Returns the input, text area or selection with this label. Searches only the dialog if one is open.
  async field(label) {
    const found = await this.page.waitForFunction((wanted) => {
      const labels = (document.querySelector('dialog[open]') ?? document).querySelectorAll('label[for]');
      return [...labels].find((each) => each.textContent === wanted)?.control;
    }, {}, label);
    return found.asElement();
  }

  /// Replaces the text of a field without key presses, which is faster.
  async write(label, text) {
    const input = await this.field(label);
    await input.evaluate((element) => { element.value = ''; });
    await input.focus();
    await this.page.keyboard.sendCharacter(text);
  }

  /// Returns the name of the focused element.
  focused() {
    return this.page.evaluate(() => {
      const element = document.activeElement;
      const label = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
      return label.trim();
    });
  }

  /// Presses Tab until the element with this name has the focus.
  async tabTo(name, most = 120) {
    for (let pressed = 0; pressed < most; ++pressed) {
      if (await this.focused() === name) return;
      await this.page.keyboard.press('Tab');
    }
    assert.fail(`Tab does not reach "${name}"`);
  }

  clipboard() {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /// Closes the tab and checks that nothing was recorded. `expected` lists messages that the test causes, such as the
  /// line that chromium prints for a 400.
  async close(expected = []) {
    const state = await this.page.evaluate(() => ({ address: location.href, text: document.documentElement.outerHTML }));
    await this.context.close();
    const unexpected = this.wrong.filter((line) => !expected.some((pattern) => pattern.test(line)));
    assert.deepEqual(unexpected, [], 'nothing is wrong on the console of the browser');
    assert.ok(!state.address.includes(this.gateway.token), 'the token is not in the address');
    assert.ok(!state.text.includes(this.gateway.token), 'the token is not in the document');
  }
}
