// Tests of mock-gateway.mjs with the program $MOCK_GATEWAY_BIN. helpers/run.sh runs them.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmdirSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, test as nodeTest } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { GatewayError, MockGateway, openGateway, programOfPackage } from './mock-gateway.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mock-gateway-test-'));
after(() => rmSync(folder, { recursive: true }));

// A timeout for tests that hang; it does not pace them.
const SECONDS = 20;
const test = (name, body) => nodeTest(name, { timeout: SECONDS * 2000 }, body);

// Sends a chat request as a new call, and not as a retry.
async function post({ baseURL, apiKey }, content, fields = {}) {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'x-stainless-retry-count': '0' },
    body: JSON.stringify({ model: 'mock-model', messages: [{ role: 'user', content }], ...fields }),
  });
  return { status: response.status, answer: await response.json() };
}

// The text of the reply.
async function ask(place, content) {
  const { status, answer } = await post(place, content);
  assert.equal(status, 200, JSON.stringify(answer));
  return answer.choices[0].message.content;
}

// Whether the process runs and is not a zombie.
function isRunning(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1).trim()[0] !== 'Z';
  } catch {
    return false;
  }
}

async function assertEnds(pid) {
  const deadline = Date.now() + SECONDS * 1000;
  while (isRunning(pid)) {
    assert.ok(Date.now() < deadline, `process ${pid} is still there`);
    await sleep(10);
  }
}

// Writes a file of the test and returns its path. It is executable unless `mode` says otherwise.
function file(name, text, mode = 0o755) {
  const path = join(folder, name);
  writeFileSync(path, text, { mode });
  return path;
}

// The result of a start with other environment variables.
async function start(env, options) {
  const before = { ...process.env };
  Object.assign(process.env, env);
  if (env.MOCK_GATEWAY_BIN === undefined) delete process.env.MOCK_GATEWAY_BIN;
  try {
    return await MockGateway.start(options);
  } finally {
    Object.assign(process.env, before);
  }
}

// The result of node:test for a file with this code, in a separate process.
function suite(code, env = {}) {
  const beginning = `
    import assert from 'node:assert/strict';
    import { test } from 'node:test';
    import { MockGateway, openGateway } from ${JSON.stringify(join(here, 'mock-gateway.mjs'))};
    ${ask}
    ${post}
  `;
  const name = file(`suite-${Math.random()}.test.mjs`, beginning + code, 0o644);
  // NODE_TEST_CONTEXT would make the child report to this test run.
  const { NODE_TEST_CONTEXT, ...rest } = process.env;
  const { stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', name], {
    env: { ...rest, ...env },
    encoding: 'utf8',
  });
  const results = Object.fromEntries(
    [...stdout.matchAll(/^ *(ok|not ok) \d+ - (?!.*\.mjs)(.*)$/gm)].map(([, result, test]) => [test, result]),
  );
  return { results, stdout };
}

describe('what a test does with it', () => {
  test('the environment leads a process to the scope, and around proxies', async (t) => {
    const { env, baseURL, apiKey } = await openGateway(t);
    assert.deepEqual([env.OPENAI_BASE_URL, env.OPENAI_API_KEY], [baseURL, apiKey]);
    assert.equal(env.OPENAI_API_BASE, baseURL); // LangChain reads this one first
    assert.ok(env.NO_PROXY.split(',').includes('127.0.0.1'));
  });

  for (const [given, upper, lower] of [
    [{}, 'localhost,127.0.0.1', 'localhost,127.0.0.1'],
    [{ NO_PROXY: '.corp' }, '.corp,127.0.0.1', '.corp,127.0.0.1'],
    [{ no_proxy: '.corp' }, '.corp,127.0.0.1', '.corp,127.0.0.1'],
    [{ NO_PROXY: 'a', no_proxy: 'b' }, 'a,127.0.0.1', 'b,127.0.0.1'],
    [{ NO_PROXY: '*' }, '*', '*'],
  ]) {
    test(`what goes around proxies still does: ${JSON.stringify(given)}`, async (t) => {
      const { NO_PROXY = '', no_proxy = '' } = process.env;
      t.after(() => Object.assign(process.env, { NO_PROXY, no_proxy }));
      Object.assign(process.env, { NO_PROXY: '', no_proxy: '', ...given });
      const { env } = await openGateway(t);
      assert.deepEqual([env.NO_PROXY, env.no_proxy], [upper, lower]);
    });
  }

  test('a stub counts its calls until it is removed', async (t) => {
    const gateway = await openGateway(t);
    const older = await gateway.stub({ reply: 'older' });
    const newer = await gateway.stub({ reply: 'newer' });
    assert.equal(await ask(gateway, 'Hi'), 'newer');
    assert.deepEqual([await older.calls(), await newer.calls()], [0, 1]);
    await newer.remove();
    assert.equal(await ask(gateway, 'Hi'), 'older');
  });

  test('a stub is named by the line that mounts it', async () => {
    const here = () => `mock-gateway.test.mjs:${/test\.mjs:(\d+)/.exec(new Error().stack.split('\n')[2])[1]}`;
    const gateway = await openGateway('named by lines');
    const title = async (stub) => (await stub.owner.control('GET', stub.path)).title;
    const [one, place] = [await gateway.stub({ when: { user_says: 'Hi' }, reply: 'Hello.', expect: 1 }), here()];
    assert.equal(await title(one), `the stub at ${place}`);
    const [both, places] = [await gateway.stubs([{ name: 'a', when: { user_says: 'a' }, reply: 'a' }, { reply: 'b' }]), here()];
    assert.deepEqual(await Promise.all(both.map(title)), [`"a" (${places})`, `the stub at ${places} (key is "${gateway.id}")`]);
    assert.equal(await title(await gateway.stub({ reply: 'c', source: 'agent.yaml:3' })), 'the stub at agent.yaml:3');
    await assert.rejects(gateway.close(), ({ message }) => message.includes(`expectation not met  the stub at ${place}  expected 1 call`));
  });

  test('a warning about a stub names the line that mounts it', async (t) => {
    const gateway = await openGateway(t);
    const told = t.mock.method(console, 'warn', () => {});
    const line = () => /test\.mjs:(\d+)/.exec(new Error().stack.split('\n')[2])[1];
    const [, place] = [await gateway.stub({ in_state: { machine: 'login', state: 'started' }, reply: 'a' }), line()];
    assert.equal(told.mock.callCount(), 1);
    const [text] = told.mock.calls[0].arguments;
    assert.ok(text.includes(`mock-gateway.test.mjs:${place}: /stubs/0/in_state: {"machine": "login", "state": "started"} names two`), text);
  });

  test('a stub is mounted from a folder that is gone', async (t) => {
    const gateway = await openGateway(t);
    const [before, folder] = [process.cwd(), mkdtempSync(join(tmpdir(), 'mock-gateway-gone-'))];
    const facts = async ({ owner, path }) => owner.control('GET', path);
    try {
      process.chdir(folder);
      rmdirSync(folder);
      assert.equal((await facts(await gateway.stub({ reply: 'Hello.' }))).file, fileURLToPath(import.meta.url));
    } finally {
      process.chdir(before);
    }
  });

  test('a wait for calls ends with the last of them, or fails', async (t) => {
    const gateway = await openGateway(t);
    const stub = await gateway.stub({ reply: 'Hello.', name: 'greeting' });
    await assert.rejects(stub.wait(1, '10ms'), { name: 'AssertionError', message: /greeting/ });
    const answer = ask(gateway, 'Hi');
    await stub.wait();
    assert.equal(await answer, 'Hello.');
  });

  test('failures and limits of a scope are its own until they end', async (t) => {
    const [gateway, another] = [await openGateway(t), await openGateway(t)];
    for (const each of [gateway, another]) await each.stub({ reply: 'Hello.' });
    for (const [begin, status, end] of [
      [() => gateway.fail({ failure: 'overloaded', times: 1 }), 529, () => {}],
      [() => gateway.disable(), 403, () => gateway.enable()],
      [() => gateway.limit('2/1h'), 429, () => gateway.limit(null)],
      [() => gateway.limitTokens('1/1h'), 429, () => gateway.limitTokens(null)],
    ]) {
      await begin();
      const statuses = [];
      for (let number = 0; number < (status === 429 ? 3 : 1); ++number) statuses.push((await post(gateway, 'Hi')).status);
      assert.deepEqual([statuses.at(-1), (await post(another, 'Hi')).status], [status, 200]);
      await end();
      assert.equal((await post(gateway, 'Hi')).status, 200);
    }
  });

  test("the journal has more than a page of the server's", async (t) => {
    const [gateway, another] = [await openGateway(t), await openGateway(t)];
    for (const each of [gateway, another]) await each.stub({ reply: 'Hello.' });
    await ask(another, 'not of this scope');
    for (let number = 0; number < 201; ++number) await ask(gateway, `question ${number}`);
    const idsOf = async (filters) => (await gateway.journal(filters)).map(({ id }) => id);
    const ids = await idsOf();
    assert.equal(ids.length, 201);
    assert.deepEqual(ids, [...ids].sort((a, b) => b - a));
    for (const limit of [3, 200]) assert.deepEqual(await idsOf({ limit }), ids.slice(0, limit));
    assert.deepEqual(await idsOf({ before: ids.at(-3) }), ids.slice(-2));
    assert.deepEqual(await idsOf({ text: 'question 200', status: 200 }), ids.slice(0, 1));
    assert.deepEqual(new Set(await idsOf({ after: 0 })), new Set(ids));
  });

  test("the journal has more bytes than a page of the server's", async (t) => {
    const gateway = await openGateway(t);
    await gateway.stub({ reply: 'Hello.' });
    for (let number = 0; number < 9; ++number) await ask(gateway, 'x'.repeat(1 << 20));
    assert.equal((await gateway.journal({ limit: 9 })).length, 9);
  });

  test('state machines of two scopes do not meet', async (t) => {
    const [gateway, another] = [await openGateway(t), await openGateway(t)];
    for (const each of [gateway, another]) await each.stub({ in_state: { 'an order/1': 'paid' }, reply: 'On its way.' });
    await gateway.setState('an order/1', 'paid');
    assert.deepEqual([await gateway.state('an order/1'), await another.state('an order/1')], ['paid', 'started']);
    assert.equal(await ask(gateway, 'Hi'), 'On its way.');
  });

  test('a gate holds replies until they are let pass', async (t) => {
    const gateway = await openGateway(t);
    await gateway.stub({ reply: { text: 'one two', hold: { gate: 'first', before_token: 1 } } });
    const gate = gateway.gate('first');
    const first = ask(gateway, 'a');
    await gate.wait();
    await gate.wait(1, '5s', 'delivered');
    await gate.release();
    assert.equal(await first, 'one two');
    const second = ask(gateway, 'b');
    await gate.wait(2);
    await gate.open();
    assert.equal(await second, 'one two');
    assert.equal(await ask(gateway, 'c'), 'one two');
    await assert.rejects(gate.wait(9, '10ms'), { name: 'AssertionError', message: /3 of 9/ });
  });

  test('the test answers what it is asked', async (t) => {
    const gateway = await openGateway(t);
    await gateway.stub({ when: { user_says: 'sum' }, reply: { ask: true } });
    await gateway.limitConcurrent(1);
    const answer = ask(gateway, 'the sum of 2 and 3');
    const [question] = await gateway.asked();
    assert.equal((await post(gateway, 'too many')).status, 429);
    await gateway.limitConcurrent(null);
    assert.equal(question.request.messages[0].content, 'the sum of 2 and 3');
    await gateway.answer(question.exchange, { json_text: { sum: 5 } });
    assert.equal(await answer, '{"sum":5}');
  });

  test('keys go through their states', async (t) => {
    const { baseURL, server } = await openGateway(t);
    const { id, secret } = await server.createKey({ name: 'billing' });
    const client = new OpenAI({ baseURL, apiKey: secret, maxRetries: 0 });
    await server.disableKey(id);
    await assert.rejects(client.models.list(), OpenAI.PermissionDeniedError);
    await server.enableKey(id);
    await client.models.list();
    await server.deleteKey(id);
    await assert.rejects(client.models.list(), OpenAI.AuthenticationError);
  });

  test('requests are counted after the fact', async (t) => {
    const gateway = await openGateway(t);
    await gateway.stub({ when: { user_says: 'Hi' }, reply: 'Hello.' });
    for (const text of ['Hi there', 'Hi all']) await ask(gateway, text);
    assert.equal(await gateway.count(), 2);
    assert.equal(await gateway.count({ user_says: 'there' }), 1);
    assert.equal(await gateway.count({ user_says: 'Hi' }, { status: 429 }), 0);
  });

  test('what is a note fails and says nothing', async (t) => {
    const gateway = await openGateway('noted');
    const told = t.mock.method(console, 'warn', () => {});
    await gateway.stub({ reply: 'Hello.' });
    await post(gateway, 'Hi', { service_tier: 'auto' });
    const { findings } = await gateway.server.control('GET', '/review', undefined, { scope: gateway.id });
    assert.deepEqual(findings.map(({ severity }) => severity), ['note']);
    await gateway.close();
    assert.equal(told.mock.callCount(), 0);
  });

  test('the types name all that there is, and nothing else', async (t) => {
    const declared = readFileSync(join(here, 'mock-gateway.d.mts'), 'utf8');
    const helper = await import('./mock-gateway.mjs');
    const values = [...declared.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, name]) => name);
    assert.deepEqual(values.sort(), Object.keys(helper).sort());
    const gateway = await openGateway(t);
    const stub = await gateway.stub({ reply: 'Hello.' });
    const objects = { MockGateway: gateway.server, Scope: gateway, Stub: stub, Gate: gateway.gate('g') };
    for (const [type, object] of Object.entries(objects)) {
      const body = declared.match(new RegExp(`^export (?:class|interface) ${type} \\{$([^]*?)^\\}$`, 'm'))[1];
      const named = [...body.matchAll(/^  (?:static |readonly )*(\w+)[(?:]/gm)].map(([, name]) => name);
      const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(object)).filter((name) => name !== 'constructor');
      for (const name of named) assert.ok(name === 'start' || name in object, `there is no ${type}.${name}`);
      for (const name of methods) assert.ok(named.includes(name), `${type} has ${name}, which the types do not`);
    }
  });

  test('a manual clock is moved', async (t) => {
    const script = file('manual.json', '{"mock_gateway": 1, "gateway": {"clock": "manual"}}', 0o644);
    const server = await MockGateway.start({ scripts: [script] });
    t.after(() => server.stop());
    const gateway = await server.scope('slow');
    await gateway.stub({ reply: 'Hello.' });
    await gateway.limit('1/1h');
    for (const status of [200, 429]) assert.equal((await post(gateway, 'Hi')).status, status);
    await server.advance('1h');
    assert.equal(await ask(gateway, 'Hi'), 'Hello.');
    await gateway.close();
  });
});

describe('two hundred tests at once do not meet', { concurrency: 200 }, () => {
  let arrived = 0;
  let allHaveCome;
  const together = new Promise((resolve) => (allHaveCome = resolve));
  for (let number = 0; number < 200; ++number) {
    test(`number ${number}`, async (t) => {
      const gateway = await openGateway(t);
      if (++arrived === 200) allHaveCome();
      await together;
      const stub = await gateway.stub({ when: { user_says: 'Who?' }, reply: `number ${number}`, expect: 2 });
      const answers = await Promise.all([ask(gateway, 'Who?'), ask(gateway, 'Who?')]);
      assert.deepEqual(answers, [`number ${number}`, `number ${number}`]);
      await stub.wait(2);
      assert.equal((await gateway.journal()).length, 2);
    });
  }
});

describe('mistakes', () => {
  test("a misspelt field is the server's error", async (t) => {
    const gateway = await openGateway(t);
    const wrong = gateway.stubs([{ reply: 'Hello.' }, { when: { user_say: 'Hi' }, reply: 'Hello.' }]);
    await assert.rejects(wrong, (error) => {
      assert.ok(error instanceof GatewayError, error.stack);
      assert.match(error.message, /\/stubs\/1\/when\/user_say.*unknown key "user_say"; did you mean "user_says"\?/);
      assert.equal(error.code, 'invalid_script');
      assert.deepEqual(
        error.problems.map(({ pointer }) => pointer),
        ['/stubs/1/when/user_say'],
      );
      return true;
    });
    await gateway.stub({ reply: 'the only one' });
    assert.equal((await gateway.control('GET', '/stubs')).stubs.length, 1);
  });

  test('a function is not left out in silence', async (t) => {
    const gateway = await openGateway(t);
    await assert.rejects(gateway.stub({ reply: 'Hello.', should: () => true }), /"should" is a function/);
  });

  test('what is wrong rejects when the scope is closed', async (t) => {
    const gateway = await openGateway('unmet');
    await gateway.stub({ name: 'greeting', reply: 'Hello.', expect: 1 });
    await assert.rejects(gateway.close(), { name: 'AssertionError', message: /greeting/ });
    await gateway.close(); // closing again has no effect
    const { scopes } = await gateway.server.control('GET', '/scopes');
    assert.ok(!scopes.some(({ id }) => id === gateway.id));
  });

  test('what the test has looked at does not fail it', async (t) => {
    const gateway = await openGateway(t);
    await gateway.stub({ when: { user_says: 'Hi' }, reply: 'Hello.' });
    assert.equal((await post(gateway, 'something else')).status, 422);
    assert.equal((await gateway.verify()).ok, false);
    assert.equal((await post(gateway, 'Hi', { mood: 'calm' })).status, 200);
    assert.deepEqual(
      (await gateway.review()).findings.map(({ code }) => code),
      ['unknown_field'],
    );
  });

  test('what is wrong once more fails it', async () => {
    const gateway = await openGateway('once more');
    await gateway.stub({ reply: 'Hello.' });
    await post(gateway, 'Hi', { mood: 'calm' });
    assert.equal((await gateway.review()).ok, false);
    await post(gateway, 'Hi', { mood: 'calm' });
    await assert.rejects(gateway.close(), { name: 'AssertionError', message: /^unknown_field \(exchange \d+\): .*$/ });
  });

  test('an unmet expectation that was looked at may get another explanation', async () => {
    const unmet = { when: { user_says: 'Hi' }, reply: 'Hello.', expect: 1 };
    const explained = await openGateway('explained');
    await explained.stubs([unmet, { reply: 'Sorry?' }]);
    const [before] = (await explained.verify()).problems;
    await ask(explained, 'Good morning');
    const [after] = (await explained.server.control('GET', '/verify', undefined, { scope: explained.id })).problems;
    assert.notEqual(after.message, before.message);
    await explained.close();

    const another = await openGateway('another stub');
    await another.stub(unmet);
    await another.verify();
    await another.stub(unmet);
    await assert.rejects(another.close(), /expected 1 call, got 0/);
  });
});

describe('node:test', () => {
  test('what is wrong fails the test that it belongs to', () => {
    const { results, stdout } = suite(`
      test('before', async (t) => {
        const gateway = await openGateway(t);
        await gateway.stub({ reply: 'Hello.', expect: 1 });
        assert.equal(await ask(gateway, 'Hi'), 'Hello.');
      });
      test('unmet', async (t) => {
        const gateway = await openGateway(t);
        await gateway.stub({ name: 'greeting', when: { user_says: 'Hi' }, reply: 'Hello.', expect: 1 });
      });
      test('failed and unmatched', async (t) => {
        const gateway = await openGateway(t);
        await gateway.stub({ when: { user_says: 'Hi' }, reply: 'Hello.' });
        const { status } = await post(gateway, 'Good morning');
        assert.equal(status, 200);
      });
      test('after', async (t) => {
        const gateway = await openGateway(t);
        await gateway.stub({ reply: 'Hello.' });
        assert.equal(await ask(gateway, 'Hi'), 'Hello.');
      });
    `);
    assert.deepEqual(results, { before: 'ok', unmet: 'not ok', 'failed and unmatched': 'not ok', after: 'ok' }, stdout);
    assert.match(stdout, /not ok \d+ - unmet[^]*greeting[^]*not ok \d+ - failed and unmatched[^]*422 !== 200/);
    if (process.versions.node.split('.')[0] >= 22) assert.match(stdout, /# .*Good morning/);
  });

  test('a test that expects a 429 and asks again passes, and is told', () => {
    const { results, stdout } = suite(`
      for (const looks of [false, true]) {
        test('looks: ' + looks, async (t) => {
          const gateway = await openGateway(t);
          await gateway.stub({ replies: [{ failure: 'rate_limited', retry_after: '3600s' }, 'Hello.'], expect: 2 });
          for (const status of [429, 200]) assert.equal((await post(gateway, 'Hi')).status, status);
          if (looks) {
            const { ok, findings } = await gateway.review();
            assert.deepEqual([ok, findings.map(({ code }) => code)], [true, ['asked_again_early']]);
          }
        });
      }
    `);
    assert.deepEqual(results, { 'looks: false': 'ok', 'looks: true': 'ok' }, stdout);
    // The test that read the findings does not print them again.
    assert.equal(stdout.match(/asked_again_early \(exchange \d+ after \d+\): .*Retry-After was 3600 s/g)?.length, 1, stdout);
  });
});

describe('the program', () => {
  test('of its package comes after the variable and before the PATH', async () => {
    const program = `node_modules/@mock-gateway/${process.platform}-${process.arch}`;
    mkdirSync(join(folder, program), { recursive: true });
    symlinkSync(process.env.MOCK_GATEWAY_BIN, join(folder, program, 'mock-gateway'));
    const none = file('none-of-it', '#!/bin/sh\nexit 3\n');
    const code = `
      import { MockGateway, programOfPackage } from './mock-gateway.mjs';
      console.log(programOfPackage());
      await (await MockGateway.start()).stop();
    `;
    copyFileSync(join(here, 'mock-gateway.mjs'), join(folder, 'mock-gateway.mjs'));
    const run = (env) => spawnSync(process.execPath, [file('of-package.mjs', code, 0o644)], { env, encoding: 'utf8' });
    mkdirSync(join(folder, 'on-path'));
    symlinkSync(none, join(folder, 'on-path/mock-gateway'));
    const found = run({ PATH: join(folder, 'on-path') });
    assert.equal(found.status, 0, found.stderr);
    assert.equal(found.stdout.trim(), realpathSync(process.env.MOCK_GATEWAY_BIN));
    const named = run({ MOCK_GATEWAY_BIN: none });
    assert.match(named.stderr, /none-of-it did not start/);
    assert.equal(programOfPackage(), undefined, 'none is installed here');
  });

  for (const [name, env, expected] of [
    ['that is not there', { MOCK_GATEWAY_BIN: undefined, PATH: '/nowhere' }, /^cannot run mock-gateway: ENOENT. Set/],
    ['that is none', { MOCK_GATEWAY_BIN: file('none', '', 0o644) }, /EACCES. Set MOCK_GATEWAY_BIN/],
    [
      'that is another',
      { MOCK_GATEWAY_BIN: file('another', '#!/bin/sh\necho ready\necho not me >&2\nexit 3\n') },
      /another did not start [^]*'ready\n'; it ended with exit code 3[^]*not me/,
    ],
  ]) {
    test(`${name} is told so`, async () => {
      await assert.rejects(start(env), { name: 'GatewayError', message: expected });
    });
  }

  test('of another process is not taken for the one that was started', async () => {
    const flags = ['--port=0', '--control=0', '--print=json', '--until-eof', '--quiet'];
    const other = spawn(process.env.MOCK_GATEWAY_BIN, ['serve', ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [line] = await once(createInterface(other.stdout), 'line');
    const info = { ...JSON.parse(line), instance: 'another' };
    const program = file('impostor', `#!/bin/sh\necho '${JSON.stringify(info)}'\ncat\n`);
    await assert.rejects(start({ MOCK_GATEWAY_BIN: program }), /another process has its control port/);
    other.stdin.end();
    await once(other, 'exit');
  });

  test('that takes too long is given up', async () => {
    // The sleep inherits the shell's stdout: readers see no end of file while it runs.
    const program = file('slow', `#!/bin/sh\nsleep 1000 &\necho $! >${folder}/pid\nwait\n`);
    await assert.rejects(start({ MOCK_GATEWAY_BIN: program }, { within: 2000 }), /did not start within 2000 ms/);
    await assertEnds(Number(readFileSync(join(folder, 'pid'))));
  });

  test('that crashes is told with how it ended', async () => {
    const server = await MockGateway.start();
    const { pid } = await server.control('GET', '');
    process.kill(pid, 'SIGKILL');
    await assertEnds(pid);
    await assert.rejects(server.control('GET', '/stubs'), /does not answer GET \/control\/v1\/stubs/);
    await assert.rejects(server.stop(), /ended with SIGKILL/);
    await server.stop();
  });

  test('is gone when it is stopped', async () => {
    const server = await MockGateway.start();
    const { pid } = await server.control('GET', '');
    await server.stop();
    assert.ok(!isRunning(pid));
    await assert.rejects(server.control('GET', '/stubs'), /does not answer GET \/control\/v1\/stubs/);
  });

  const started = `
    import { MockGateway } from ${JSON.stringify(join(here, 'mock-gateway.mjs'))};
    const server = await MockGateway.start();
    console.log((await server.control('GET', '')).pid);
  `;

  test('ends with a parent that is killed', async () => {
    const code = `${started} setInterval(() => {}, 1000);`;
    const stdio = ['ignore', 'pipe', 'inherit'];
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio });
    const [pid] = await once(createInterface(parent.stdout), 'line');
    assert.ok(isRunning(Number(pid)));
    parent.kill('SIGKILL');
    await assertEnds(Number(pid));
  });

  test('does not keep a process that has nothing more to do', async () => {
    const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', started], {
      encoding: 'utf8',
      timeout: SECONDS * 1000,
    });
    assert.equal(status, 0);
    await assertEnds(Number(stdout));
  });
});
