// Starts mock-gateway for tests and talks to its control API. One file, no dependencies, Node 18.19 or newer.
//
// With node:test and vitest:
//
//   test('retries', async (t) => {
//     const gateway = await openGateway(t);
//     await gateway.stub({ when: { user_says: 'Hi' }, replies: [{ failure: 503, retry_after: '2s' }, 'Hello.'] });
//     assert.equal(await ask(new OpenAI({ baseURL: gateway.baseURL, apiKey: gateway.apiKey }), 'Hi'), 'Hello.');
//   });
//
// `gateway` is a Scope with an API key for one test. Its stubs answer requests with this key only, so tests may run in
// parallel. After the test, the gateway verifies and reviews the requests with this key. Problems fail the test,
// unless the test has already read them. With jest:
//
//   beforeEach(async () => { gateway = await openGateway(expect.getState().currentTestName); });
//   afterEach(() => gateway.close());
//
// All tests of a process share one server. For other settings:
//
//   const server = await MockGateway.start({ scripts: ['agent.jsonc'], flags: ['--profile', 'openai'] });
//   test('with an agent', async (t) => { const gateway = await openGateway(t, server); … });
//
// Stubs, failures and keys have the same fields as in scripts. If the server refuses a call, the helper throws a
// GatewayError with its text.

import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readSync, unlinkSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

// The program did not start or answer, or it refused a request. If it refused, `code` and `problems` are the server's.
export class GatewayError extends Error {
  constructor(message, { code = null, problems = [], cause } = {}) {
    super(message, { cause });
    Object.assign(this, { name: 'GatewayError', code, problems });
  }
}

// A running mock-gateway. It ends with stop(), or with this process, even if the process is killed.
export class MockGateway {
  #child;
  #ended; // 'exit code 0', 'SIGKILL'
  #info;
  #log;
  #stopped = false;
  #agent = new http.Agent({ maxSockets: 32 }); // the server accepts 64 connections

  // Resolves when the program serves. `scripts` are files or folders of scripts, `flags` other flags of `mock-gateway
  // serve`. Rejects with a GatewayError, after `within` milliseconds at the latest.
  static async start({ scripts = [], flags = [], within = 30_000 } = {}) {
    const program = process.env.MOCK_GATEWAY_BIN || programOfPackage() || 'mock-gateway';
    const words = ['serve', '--port=0', '--control=0', '--print=json', '--until-eof', '--quiet', ...flags];
    words.push(...scripts.map((script) => `--script=${script}`));
    const server = new MockGateway();
    const log = join(tmpdir(), `mock-gateway-${randomUUID()}.log`);
    server.#log = openSync(log, 'wx+', 0o600);
    unlinkSync(log);
    let line = '';
    try {
      // A separate session: Ctrl-C ends the tests, which still need the program for their last requests.
      const child = spawn(program, words, { stdio: ['pipe', 'pipe', server.#log], detached: true });
      server.#child = child;
      server.#ended = new Promise((end) => child.on('exit', (code, signal) => end(signal ?? `exit code ${code}`)));
      child.stdin.on('error', () => {}); // stop() reports how the program ended
      await once(child, 'spawn');
      const late = setTimeout(() => server.#kill(), within);
      for await (const text of child.stdout.setEncoding('utf8')) if ((line += text).includes('\n')) break;
      clearTimeout(late);
      server.#info = JSON.parse(line);
      server.baseURL = server.#info.base_url;
      server.apiKey = server.#info.api_key; // this key belongs to no scope
      const answering = await server.control('GET', '');
      assert.equal(answering.instance, server.#info.instance, 'another process has its control port');
    } catch (cause) {
      const hint = 'Set MOCK_GATEWAY_BIN to the program mock-gateway, put it on PATH, or install its package.';
      let problem = `cannot run ${program}: ${cause.code}. ${hint}`;
      if (server.#child?.pid) {
        const ended = `it ended with ${await server.#end(1000)}, its stderr:\n${server.stderr()}`;
        problem = `${program} did not start within ${within} ms: ${cause.message} in the stdout '${line}'; ${ended}`;
      }
      closeSync(server.#log);
      throw new GatewayError(problem, { cause });
    }
    for (const handle of [server.#child, server.#child.stdin]) handle.unref(); // they must not keep this process alive
    return server;
  }

  // Ends the program. Unless its exit code is 0, rejects with a GatewayError that contains its stderr.
  async stop() {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#child.stdin.end();
    const how = await this.#end(10_000);
    const problem = `mock-gateway ended with ${how}\n${this.stderr()}`;
    closeSync(this.#log);
    if (how !== 'exit code 0') throw new GatewayError(problem);
  }

  #end(grace) {
    const late = setTimeout(() => this.#kill(), grace);
    return this.#ended.finally(() => clearTimeout(late));
  }

  #kill() {
    if (this.#child.exitCode === null) process.kill(-this.#child.pid, 'SIGKILL');
  }

  stderr() {
    const text = Buffer.alloc(1 << 20);
    return text.toString('utf8', 0, readSync(this.#log, text, 0, text.length, 0)).trim();
  }

  // Sends a request to the control API: control('GET', '/journal', undefined, { limit: 1 }). Resolves to the JSON or
  // the text of the response. Rejects with a GatewayError for status 400 and above.
  async control(method, path, body, query = {}) {
    const target = `/control/v1${path}?${new URLSearchParams(query)}`.replace(/\?$/, '');
    const headers = { authorization: `Bearer ${this.#info.control_token}`, 'content-type': 'application/json' };
    const options = { method, headers, agent: this.#agent, signal: AbortSignal.timeout(90_000) };
    const content = body === undefined ? undefined : JSON.stringify(body, refuseFunctions);
    let response;
    let answer = '';
    try {
      response = await new Promise((resolve, reject) => {
        http.request(this.#info.control_url + target, options, resolve).on('error', reject).end(content);
      });
      for await (const text of response.setEncoding('utf8')) answer += text;
    } catch (cause) {
      const said = this.#stopped ? '' : `; its exit code is ${this.#child.exitCode}\n${this.stderr()}`;
      throw new GatewayError(`mock-gateway does not answer ${method} ${target}: ${cause.message}${said}`, { cause });
    }
    if (response.headers['content-type']?.includes('json')) answer = JSON.parse(answer);
    if (response.statusCode >= 400) throw new GatewayError(answer.message, answer);
    return answer;
  }

  // Each method sends one request. `mock-gateway openapi` prints its fields and responses.
  async scope(name) { return new Scope(this, await this.control('POST', '/scopes', { name })); }
  createKey(fields = {}) { return this.control('POST', '/keys', fields); } // with its `id` and `secret`
  disableKey(id) { return this.control('POST', `/keys/${id}/disable`); }
  enableKey(id) { return this.control('POST', `/keys/${id}/enable`); }
  deleteKey(id) { return this.control('DELETE', `/keys/${id}`); }
  advance(by) { return this.control('POST', '/clock/advance', { by }); } // moves a manual clock, for example by '60s'
  [Symbol.asyncDispose]() { return this.stop(); }
}

// A key of a server with its own stubs, failures, states, gates and requests.
export class Scope {
  #seen = new Set();
  #closed = false;

  constructor(server, { id, base_url, api_key }) {
    const env = { OPENAI_BASE_URL: base_url, OPENAI_API_BASE: base_url, OPENAI_API_KEY: api_key, ...aroundProxies() };
    Object.assign(this, { server, id, baseURL: base_url, apiKey: api_key, env }); // `env` is for the process of a client
  }

  control(method, path, body, query) { return this.server.control(method, path, body, { scope: this.id, ...query }); }

  // Mounts all stubs or none. The first matching stub answers. Stubs of later calls come before those of earlier calls.
  // Prints warnings about likely mistakes.
  async stubs(documents) {
    const line = lineOfTest();
    const placed = documents.map((each) => (each === Object(each) ? { ...line, ...each } : each));
    const { stubs, warnings } = await this.control('POST', '/stubs', { stubs: placed });
    const at = line.source ? `${line.source}: ` : '';
    for (const { pointer, message } of warnings) console.warn(`${at}${pointer}: ${message}`);
    return stubs.map(({ id }) => new Stub(this.server, `/stubs/${id}`));
  }

  // Mounts a stub: { when: { user_says: 'Hi' }, reply: 'Hello.', expect: 1 }.
  async stub(fields) { return (await this.stubs([fields]))[0]; }
  // disable(): requests with this test's key get 403 until enable(). limit('2/1m') sets its request limit; requests
  // above it get 429. limit(null) removes the limit.
  disable() { return this.server.disableKey(this.id); }
  enable() { return this.server.enableKey(this.id); }
  limit(rate) { return this.server.control('PATCH', `/keys/${this.id}`, { limit: rate }); }
  // The same for tokens: limitTokens('6000/1m'). For requests at a time: limitConcurrent(2).
  limitTokens(rate) { return this.server.control('PATCH', `/keys/${this.id}`, { limit_tokens: rate }); }
  limitConcurrent(most) { return this.server.control('PATCH', `/keys/${this.id}`, { limit_concurrent: most }); }
  // Forces a failure. The fields are those of an entry of `failures` in scripts: { failure: 'overloaded', times: 2 }.
  fail(fields) { return this.control('POST', '/failures', fields); }
  // verify(): unmet expectations of stubs. review(): mistakes of the client. Returned ones no longer fail the test.
  verify() { return this.#lookAt('/verify', 'problems'); }
  review() { return this.#lookAt('/review', 'findings'); }

  // How many requests fit the matchers, whether or not a stub answered them: count({ user_says: 'Hi' }).
  async count(when, filters = {}) {
    return (await this.control('POST', '/journal/count', when === undefined ? {} : { when }, filters)).count;
  }

  // The exchanges, newest first: journal({ status: 429, text: 'Hi' }). All of them, or the newest `limit`.
  async journal(filters = {}) {
    let page = await this.control('GET', '/journal', undefined, filters);
    const found = page.exchanges;
    while (page.more && found.length < (filters.limit ?? Infinity)) {
      const rest = 'after' in filters ? { after: page.cursor } : { before: found.at(-1).id };
      page = await this.control('GET', '/journal', undefined, { ...filters, ...rest });
      found.push(...page.exchanges);
    }
    return found.slice(0, filters.limit);
  }

  async state(machine) { return (await this.control('GET', `/states/${encodeURIComponent(machine)}`)).state; }
  setState(machine, state) { return this.control('PUT', `/states/${encodeURIComponent(machine)}`, { state }); }
  gate(name) { return new Gate(this, `/gates/${encodeURIComponent(name)}`); }
  // Waits for a request whose reply is `ask` and returns all. answer() replies to one, in the form that stubs use.
  async asked(wait = '5s') { return (await this.control('GET', '/asked', undefined, { wait })).asked; }
  answer(exchange, reply) { return this.server.control('POST', `/asked/${exchange}`, { reply }); }
  [Symbol.asyncDispose]() { return this.close(); }

  // Removes the scope from the server. Rejects with an AssertionError for problems that the test has not read. Prints
  // findings that do not fail a test, such as asked_again_early.
  async close() {
    if (this.#closed) return;
    this.#closed = true;
    // If the test has read the scope's problems, the program's report leaves the scope out.
    const body = this.#seen.size > 0 ? { counts: false } : undefined;
    const { verify, review, message } = await this.server.control('DELETE', `/scopes/${this.id}`, body);
    const found = [...verify.problems, ...review.findings];
    const unseen = found.filter((each) => !this.#seen.has(identity(each)) && each.severity !== 'note');
    const told = unseen.length === found.length ? message : unseen.map(text).join('\n');
    if (unseen.some((each) => each.fails_review ?? true)) assert.fail(told);
    if (unseen.length > 0) console.warn(told);
  }

  async #lookAt(path, those) {
    const answer = await this.control('GET', path);
    answer[those].forEach((each) => this.#seen.add(identity(each)));
    return answer;
  }
}

class Waited {
  constructor(owner, path) { Object.assign(this, { owner, path }); }
  async waitFor(query) {
    const { reached, message } = await this.owner.control('GET', `${this.path}/wait`, undefined, query);
    if (!reached) assert.fail(message);
  }
}

// A mounted stub. wait() resolves when it has answered this many requests, or rejects after `within`.
class Stub extends Waited {
  wait(calls = 1, within = '5s') { return this.waitFor({ calls, within }); }
  async calls() { return (await this.owner.control('GET', this.path)).calls; }
  remove() { return this.owner.control('DELETE', this.path); }
}

// A gate: replies wait there until release() lets one pass, or open() all. wait() resolves when this many replies have
// reached it, or, with 'delivered', when clients have received everything before it; it rejects after `within`.
class Gate extends Waited {
  wait(count = 1, within = '5s', what = 'reached') { return this.waitFor({ for: what, count, within }); }
  release() { return this.owner.control('POST', `${this.path}/release`); }
  open() { return this.owner.control('POST', `${this.path}/open`); }
}

// The program in the package mock-gateway for this platform; undefined if the package is not installed.
export function programOfPackage() {
  try {
    return createRequire(import.meta.url).resolve(`@mock-gateway/${process.platform}-${process.arch}/mock-gateway`);
  } catch {
    return undefined;
  }
}

let shared;

// Opens a scope for a test. With a test's context, the scope closes after the test. With a name, the caller closes it.
export async function openGateway(test, server) {
  server ??= await (shared ??= MockGateway.start());
  const gateway = await server.scope(test.task?.name ?? test.name ?? test);
  const close = async () => {
    try {
      await gateway.close();
    } catch (error) {
      if (!test.error) throw error;
      test.diagnostic(error.message); // the test has failed already
    }
  };
  (test.after ?? test.onTestFinished)?.call(test, close);
  return gateway;
}

// The lines of the caller's stack, innermost first.
function stack() {
  // Error.prepareStackTrace may have made it another type than a string.
  return String(new Error().stack).split('\n').flatMap((line) => {
    const [, place, number] = /(?:\(|at (?:async )?)((?:file:\/\/)?\/.*):(\d+):\d+\)?$/.exec(line) ?? [];
    return place ? [{ file: place.startsWith('file:') ? fileURLToPath(place) : place.replace(/\?.*/, ''), number }] : [];
  });
}

const thisFile = stack()[0]?.file;

// The line that called this file, for reports: { source: 'tests/agent.test.mjs:12' }. Empty if it is unknown.
function lineOfTest() {
  const caller = stack().find(({ file }) => file !== thisFile);
  if (!caller) return {};
  let file = caller.file;
  try {
    const near = relative(process.cwd(), file);
    if (!near.startsWith('..')) file = near;
  } catch { /* a test may have removed its working directory */ }
  return { source: `${file}:${caller.number}` };
}

// Clients read either variable, and some prefer one. If only one is set, both start from its value.
function aroundProxies() {
  const { NO_PROXY: upper, no_proxy: lower } = process.env;
  const around = (hosts) => (hosts === '*' ? hosts : `${hosts},127.0.0.1`);
  return { NO_PROXY: around(upper || lower || 'localhost'), no_proxy: around(lower || upper || 'localhost') };
}

// Distinguishes problems and findings that have the same text.
function identity({ kind, stub, code, message, exchanges }) {
  const unmet = kind === 'unmet expectation'; // later requests change its explanation, but not its first line
  return JSON.stringify(unmet ? [stub.id, message.split('\n')[0]] : [code, message, exchanges]);
}

function text({ code, message, exchanges }) {
  return code ? `${code} (exchange ${exchanges.join(', ')}): ${message}` : message;
}

// JSON.stringify would omit functions silently.
function refuseFunctions(key, value) {
  if (typeof value === 'function') throw new TypeError(`"${key}" is a function, which JSON cannot carry`);
  return value;
}
