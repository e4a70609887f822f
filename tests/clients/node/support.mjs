// The gateways of the suites, and functions that script their replies.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test as nodeTest } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { MockGateway, openGateway } from '../../../helpers/node/mock-gateway.mjs';

export const MODEL = 'mock-model';
export const SMALL_MODEL = 'mock-small';
export const MODEL_WITH_SLASH = 'team/large model';
export const PROFILES = ['documented', 'openai', 'dashscope', 'deepseek'];
export const DISABLED_KEY = 'sk-disabled-from-the-start'; // of script.jsonc

const MODELS = ['--model', MODEL, '--model', SMALL_MODEL, '--model', `${MODEL_WITH_SLASH}=a team`];
const SCRIPT = ['--script', fileURLToPath(new URL('../script.jsonc', import.meta.url))];
const servers = new Map();

// Opens a test's scope on the server with these flags. The first scope starts the server.
async function open(t, ...flags) {
  const words = flags.join(' ');
  if (!servers.has(words)) servers.set(words, MockGateway.start({ flags: [...MODELS, ...flags] }));
  return openGateway(t, await servers.get(words));
}
after(async () => {
  for (const server of servers.values()) await (await server).stop();
});

export const scripted = (t, profile = 'documented') => open(t, '--profile', profile, ...SCRIPT);
export const strict = (t) => open(t, '--strict');
export const limited = (t) => open(t, '--limit', '2/1h'); // one limit for all keys

// The SDK with a gateway as its server; without retries by default.
export function connect({ baseURL, apiKey }, settings = {}) {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 10_000, ...settings });
}

// A test with a timeout.
export const test = (name, body) => nodeTest(name, { timeout: 30_000 }, body);

// Runs the same tests in every profile. The body of each test gets a scope of the profile's scripted gateway and two
// SDK clients: one for this gateway, one for a gateway without stubs.
export function inEveryProfile(about, define) {
  for (const profile of PROFILES) {
    const testInProfile = (name, body) =>
      test(name, async (t) => {
        const gateway = await scripted(t, profile);
        const unscripted = connect(await open(t, '--profile', profile));
        await body({ gateway, client: connect(gateway), unscripted });
      });
    describe(`${about} (${profile})`, () => define(testInProfile, profile));
  }
}

export const user = (text) => [{ role: 'user', content: text }];

// A failure in the form that scripts use.
export function failure({ status, code = 'scripted', message = 'scripted', ...setters }) {
  return { failure: { status, code, message }, ...setters };
}

// A prompt that fails `times` times and then gets a reply. Failures and reply contain the number of the attempt.
export function failing(gateway, { status, times = 1, ...setters }) {
  const attempt = (_, i) => failure({ status, message: `attempt ${i + 1}`, ...setters });
  return answered(gateway, [...Array.from({ length: times }, attempt), `ok at attempt ${times + 1}`]);
}

// A prompt whose first reply has this fault; later replies are complete.
export function breaking(gateway, fault) {
  const text = 'one two three four';
  return answered(gateway, [{ text, faults: [fault] }, text]);
}

async function answered(gateway, replies) {
  const prompt = randomUUID();
  const stub = await gateway.stub({ when: { user_says: { equals: prompt } }, replies });
  return { prompt, messages: user(prompt), stub };
}

// The exchanges of the test, oldest first, after all have ended.
export async function seen(gateway) {
  const deadline = Date.now() + 5000;
  for (;;) {
    const exchanges = await gateway.journal();
    if (exchanges.every(({ outcome }) => outcome !== 'pending')) return exchanges.reverse();
    assert.ok(Date.now() < deadline, 'an exchange has not ended');
    await sleep(5);
  }
}

// The codes of the test's review findings. Tests of mistakes expect them; in other tests they are failures.
export async function findings(gateway) {
  return (await gateway.review()).findings.map(({ code }) => code);
}

export function retryCounts(exchanges) {
  return exchanges.map(({ request }) => {
    const [, count] = request.headers.find(([name]) => name.toLowerCase() === 'x-stainless-retry-count');
    return Number(count);
  });
}

export async function collect(iterable) {
  const items = [];
  for await (const item of iterable) items.push(item);
  return items;
}

export function joined(chunks, { index = 0, field = 'content' } = {}) {
  return chunks
    .flatMap((chunk) => chunk.choices)
    .filter((choice) => choice.index === index)
    .map((choice) => choice.delta[field] ?? '')
    .join('');
}

export function finishReasons(chunks, index = 0) {
  return chunks
    .flatMap((chunk) => chunk.choices)
    .filter((choice) => choice.index === index && choice.finish_reason)
    .map((choice) => choice.finish_reason);
}
