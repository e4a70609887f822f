// Tests of mock-gateway.mjs with vitest; mock-gateway.test.mjs has the other tests.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openGateway } from './mock-gateway.mjs';

const here = dirname(fileURLToPath(import.meta.url));

test('a stub is named by the line that mounts it, as it stands in the file', async (t) => {
  const gateway = await openGateway(t);
  const stub = await gateway.stub({ reply: 'Hello.' }); // the line in the report
  const { title, file, line } = await stub.owner.control('GET', stub.path);
  expect(title).toBe(`the stub at vitest.test.mjs:${line}`);
  expect(file).toMatch(/vitest\.test\.mjs$/);
  expect(readFileSync(fileURLToPath(import.meta.url), 'utf8').split('\n')[line - 1]).toContain('// the line in the report');
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
