// The gateway's review of SDKs with their defaults: ordinary use has no findings.
import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { breaking, collect, failing, MODEL, scripted, test, user } from './support.mjs';

const City = z.object({ city: z.string(), population: z.number().int() });
const weather = () => ({ degrees: 21 });

// The SDKs in their default configurations.
const openai = ({ baseURL, apiKey }) => new OpenAI({ baseURL, apiKey });
const aiSdk = ({ baseURL, apiKey }) =>
  createOpenAICompatible({ name: 'mock', baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true })(MODEL);

async function assertClean(gateway, least) {
  const { ok, judged, message } = await gateway.review();
  assert.ok(ok, message);
  assert.ok(judged >= least, message);
}

const afterOne = 'ok at attempt 2';

const scenarios = {
  'plain answers': async (client) => {
    for (const text of ['capital of France', 'think']) {
      await client.chat.completions.create({ model: MODEL, messages: user(text) });
    }
  },
  streams: async (client) => {
    const ask = { model: MODEL, messages: user('many words'), stream: true };
    await collect(await client.chat.completions.create(ask));
    await collect(await client.chat.completions.create({ ...ask, stream_options: { include_usage: true } }));
    await client.chat.completions.stream(ask).finalContent();
  },
  'streams that are left': async (client, gateway) => {
    const { messages } = await breaking(gateway, { after_tokens: 1, effect: 'stall' });
    const ask = { model: MODEL, messages, stream: true };
    for await (const chunk of await client.chat.completions.create(ask)) if (chunk.choices[0].delta.content) break;
  },
  "the SDK's loop of tools": async (client) => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = [
      { type: 'function', function: { name: 'get_weather', parameters, parse: JSON.parse, function: weather } },
    ];
    for (const stream of [false, true]) {
      const runner = client.chat.completions.runTools({ model: MODEL, messages: user('weather'), tools, stream });
      assert.equal(await runner.finalContent(), 'It is 21 degrees in Paris.');
    }
  },
  'structured output': async (client) => {
    const response_format = zodResponseFormat(City, 'city');
    const messages = user('city as JSON');
    const { choices } = await client.chat.completions.parse({ model: MODEL, messages, response_format });
    assert.equal(choices[0].message.parsed.city, 'Paris');
  },
  models: async (client) => {
    await collect(client.models.list());
    await client.models.retrieve(MODEL);
  },
  'failures that pass': async (client, gateway) => {
    for (const spec of [
      { status: 429, retry_after: '1s' },
      { status: 429, retry_after_ms: '300ms' },
      { status: 429, retry_after_date: '2s' },
      { status: 429, without_retry_after: true },
      { status: 500 },
    ]) {
      const { messages } = await failing(gateway, spec);
      const { choices } = await client.chat.completions.create({ model: MODEL, messages });
      assert.equal(choices[0].message.content, afterOne);
    }
  },
  'failures that stay, asked about twice': async (client, gateway) => {
    for (const spec of [
      { status: 400, times: 9 },
      { status: 401, times: 9 },
      { status: 403, times: 9 },
    ]) {
      const { messages } = await failing(gateway, spec);
      const ask = { model: MODEL, messages };
      for (const _ of [1, 2]) await assert.rejects(client.chat.completions.create(ask), OpenAI.APIError);
    }
  },
  'the same, many times at once': async (client, gateway) => {
    const { messages } = await failing(gateway, { status: 429, times: 6, retry_after: '1s' });
    const ask = () => client.chat.completions.create({ model: MODEL, messages });
    await Promise.all(Array.from({ length: 6 }, ask));
  },
};

for (const [name, scenario] of Object.entries(scenarios)) {
  test(`openai is clean: ${name}`, async (t) => {
    const gateway = await scripted(t);
    await scenario(openai(gateway), gateway);
    await assertClean(gateway, 1);
  });
}

test('the AI SDK is clean', async (t) => {
  const gateway = await scripted(t);
  const model = aiSdk(gateway);
  const tools = {
    get_weather: tool({ inputSchema: z.object({ city: z.string(), days: z.number() }), execute: weather }),
  };
  await generateText({ model, prompt: 'capital of France' });
  await collect(streamText({ model, prompt: 'many words' }).textStream);
  await generateText({ model, prompt: 'weather', tools, stopWhen: stepCountIs(3) });
  await collect(streamText({ model, prompt: 'weather', tools, stopWhen: stepCountIs(3) }).textStream);
  await generateObject({ model, prompt: 'city as JSON', schema: City });
  for (const spec of [{ status: 429, retry_after: '1s' }, { status: 429, retry_after_ms: '300ms' }, { status: 500 }]) {
    const { messages } = await failing(gateway, spec);
    const { text } = await generateText({ model, messages });
    assert.equal(text, afterOne);
  }
  await assertClean(gateway, 13);
});

test('a client that retries at once gets a finding', async (t) => {
  const gateway = await scripted(t);
  const { messages } = await failing(gateway, { status: 429, retry_after: '60s' });
  const body = JSON.stringify({ model: MODEL, messages });
  const headers = { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' };
  for (const _ of [1, 2]) {
    await (await fetch(`${gateway.baseURL}/chat/completions`, { method: 'POST', headers, body })).text();
  }
  const { ok, message } = await gateway.review();
  assert.ok(!ok);
  assert.match(message, /^1 finding in 1 call, 2 tries, 1 injected fault\nretry_after_ignored .* Retry-After was 60 s\. Wait as long as the header says before retrying\.$/);
});

test('an SDK set to send undocumented fields or to retry permanent errors gets findings', async (t) => {
  const gateway = await scripted(t);
  const client = openai(gateway);
  const messages = user('capital of France');
  await client.chat.completions.create({ model: MODEL, messages, user: 'somebody' });
  const { messages: last } = await failing(gateway, { status: 400, should_retry: false });
  await assert.rejects(client.chat.completions.create({ model: MODEL, messages: last }), OpenAI.BadRequestError);
  const options = { headers: { 'x-stainless-retry-count': '1' } };
  await client.chat.completions.create({ model: MODEL, messages: last }, options);
  const { message } = await gateway.review();
  assert.match(message, /^2 findings in .*\nretried_final_error .*: retried after 400 "scripted".*\nunknown_field /);
});
