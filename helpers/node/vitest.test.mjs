// Tests of mock-gateway.mjs with vitest; mock-gateway.test.mjs has the other tests.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openGateway } from './mock-gateway.mjs';

const here = dirname(fileURLToPath(import.meta.url));

async function ask({ baseURL, apiKey }, content) {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  const answer = await client.chat.completions.create({ model: 'mock-model', messages: [{ role: 'user', content }] });
  return answer.choices[0].message.content;
}

test("a scope comes with the test's context", async (t) => {
  const gateway = await openGateway(t);
  await gateway.stub({ when: { user_says: 'Hi' }, reply: 'Hello.', expect: 1 });
  expect(await ask(gateway, 'Hi')).toBe('Hello.');
});

test('a stub is named by the line that mounts it, as it stands in the file', async (t) => {
  const gateway = await openGateway(t);
  const stub = await gateway.stub({ reply: 'Hello.' }); // the line in the report
  const { title, file, line } = await stub.owner.control('GET', stub.path);
  expect(title).toBe(`the stub at vitest.test.mjs:${line}`);
  expect(file).toMatch(/vitest\.test\.mjs$/);
  expect(readFileSync(fileURLToPath(import.meta.url), 'utf8').split('\n')[line - 1]).toContain('// the line in the report');
});

describe('a scope is there before each test', () => {
  let gateway;
  beforeEach(async () => {
    gateway = await openGateway(expect.getState().currentTestName);
    await gateway.stub({ reply: 'Hello.', expect: 1 });
  });
  afterEach(() => gateway.close());

  for (const text of ['Hi', 'Good morning']) {
    test(text, async () => expect(await ask(gateway, text)).toBe('Hello.'));
  }
});

describe.concurrent('tests at once do not meet', () => {
  test.each(Array.from({ length: 40 }, (_, number) => number))('number %i', async (number) => {
    const gateway = await openGateway(`number ${number}`);
    await gateway.stub({ when: { user_says: 'Who?' }, reply: `number ${number}`, expect: 2 });
    const answers = await Promise.all([ask(gateway, 'Who?'), ask(gateway, 'Who?')]);
    await gateway.close();
    if (answers.some((answer) => answer !== `number ${number}`)) throw new Error(answers.join());
  });
});

test('a test that expects a 429 and asks again passes, and is told', async () => {
  const told = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const gateway = await openGateway('asks again');
  await gateway.stub({ replies: [{ failure: 'rate_limited', retry_after: '3600s' }, 'Hello.'], expect: 2 });
  await expect(ask(gateway, 'Hi')).rejects.toThrow(OpenAI.RateLimitError);
  expect(await ask(gateway, 'Hi')).toBe('Hello.');
  await gateway.close();
  expect(told.mock.calls.join()).toMatch(/^asked_again_early \(exchange \d+ after \d+\): /);
  told.mockRestore();
});

test('what is wrong fails the test that it belongs to', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'mock-gateway-vitest-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, 'wrong.test.mjs'),
    `
    import { openGateway } from ${JSON.stringify(join(here, 'mock-gateway.mjs'))};
    test('before', async (t) => {
      const gateway = await openGateway(t);
      await gateway.stub({ reply: 'Hello.' });
    });
    test('unmet', async (t) => {
      const gateway = await openGateway(t);
      await gateway.stub({ name: 'greeting', reply: 'Hello.', expect: 1 });
    });
    describe('with hooks', () => {
      let gateway;
      beforeEach(async () => { gateway = await openGateway('with hooks'); });
      afterEach(() => gateway.close());
      test('unmet too', () => gateway.stub({ name: 'farewell', reply: 'Bye.', expect: 1 }));
      test('after', () => gateway.stub({ reply: 'Hello.' }));
    });
    `,
  );
  const vitest = join(here, 'node_modules/vitest/vitest.mjs');
  const flags = ['run', '--globals', '--root', folder, '--reporter', 'json', '--outputFile', 'report.json'];
  spawnSync(process.execPath, [vitest, ...flags], { cwd: folder, stdio: 'ignore' });
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
  const results = report.testResults[0].assertionResults;
  expect(Object.fromEntries(results.map(({ title, status }) => [title, status]))).toEqual({
    before: 'passed',
    unmet: 'failed',
    'unmet too': 'failed',
    after: 'passed',
  });
  expect(results[1].failureMessages.join()).toContain('greeting');
  expect(results[2].failureMessages.join()).toContain('farewell');
});
