// What the gateway's review says of SDKs as they come: in ordinary use, nothing.
import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { collect, MODEL, newMarker, reviewed, script, test, user } from './support.mjs';

const City = z.object({ city: z.string(), population: z.number().int() });
const weather = () => ({ degrees: 21 });

// A client in the SDK's default configuration, with a key of its own, and what the review says of that.
async function openai() {
  const { id, secret } = await reviewed.createKey();
  return { client: new OpenAI({ baseURL: reviewed.baseURL, apiKey: secret }), review: () => reviewed.review(id) };
}

async function aiSdk() {
  const { id, secret } = await reviewed.createKey();
  const provider = createOpenAICompatible({
    name: 'mock',
    baseURL: reviewed.baseURL,
    apiKey: secret,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  return { model: provider(MODEL), review: () => reviewed.review(id) };
}

async function assertClean(review, least) {
  const { clean, judged, message } = await review();
  assert.ok(clean, message);
  assert.ok(judged >= least, message);
}

// A question that is answered with failures first, and the text of the answer after them.
const failing = (spec) => script('fail', spec).messages;
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
  'streams that are left': async (client) => {
    const held = script('break', { trigger: 'after_tokens', count: 1, effect: 'stall' });
    const ask = { model: MODEL, messages: held.messages, stream: true };
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
  'failures that pass': async (client) => {
    for (const spec of [
      { status: 429, retry_after: '1' },
      { status: 429, retry_after_ms: 300 },
      { status: 429, retry_after_date_ms: 2000 },
      { status: 429 },
      { status: 500 },
    ]) {
      const { choices } = await client.chat.completions.create({ model: MODEL, messages: failing(spec) });
      assert.equal(choices[0].message.content, afterOne);
    }
  },
  'failures that stay, asked about twice': async (client) => {
    for (const spec of [
      { status: 400, times: 9 },
      { status: 401, times: 9 },
      { status: 403, times: 9 },
    ]) {
      const ask = { model: MODEL, messages: failing(spec) };
      for (const _ of [1, 2]) await assert.rejects(client.chat.completions.create(ask), OpenAI.APIError);
    }
  },
  'the same, many times at once': async (client) => {
    const messages = failing({ status: 429, times: 6, retry_after: '1' });
    const ask = () => client.chat.completions.create({ model: MODEL, messages });
    await Promise.all(Array.from({ length: 6 }, ask));
  },
};

for (const [name, scenario] of Object.entries(scenarios)) {
  test(`openai is clean: ${name}`, async () => {
    const { client, review } = await openai();
    await scenario(client);
    await assertClean(review, 1);
  });
}

test('the AI SDK is clean', async () => {
  const { model, review } = await aiSdk();
  const tools = {
    get_weather: tool({ inputSchema: z.object({ city: z.string(), days: z.number() }), execute: weather }),
  };
  await generateText({ model, prompt: 'capital of France' });
  await collect(streamText({ model, prompt: 'many words' }).textStream);
  await generateText({ model, prompt: 'weather', tools, stopWhen: stepCountIs(3) });
  await collect(streamText({ model, prompt: 'weather', tools, stopWhen: stepCountIs(3) }).textStream);
  await generateObject({ model, prompt: 'city as JSON', schema: City });
  for (const spec of [{ status: 429, retry_after: '1' }, { status: 429, retry_after_ms: 300 }, { status: 500 }]) {
    const { text } = await generateText({ model, messages: failing(spec) });
    assert.equal(text, afterOne);
  }
  await assertClean(review, 13);
});

test('a client that comes back at once is not', async () => {
  const { id, secret } = await reviewed.createKey();
  const body = JSON.stringify({ model: MODEL, messages: failing({ status: 429, retry_after: '60' }) });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  for (const _ of [1, 2]) {
    await (await fetch(`${reviewed.baseURL}/chat/completions`, { method: 'POST', headers, body })).text();
  }
  const { clean, message } = await reviewed.review(id);
  assert.ok(!clean);
  assert.match(message, /^retry_after_ignored .* Retry-After was 60 s\. Wait for the header's time before retrying\.$/);
});

test('nor is an SDK that is told to send what is not documented, or to retry what stays', async () => {
  const { client, review } = await openai();
  const messages = user(`capital of France ${newMarker()}`);
  await client.chat.completions.create({ model: MODEL, messages, user: 'somebody' });
  const last = failing({ status: 400, should_retry: false });
  await assert.rejects(client.chat.completions.create({ model: MODEL, messages: last }), OpenAI.BadRequestError);
  const options = { headers: { 'x-stainless-retry-count': '1' } };
  await client.chat.completions.create({ model: MODEL, messages: last }, options);
  const { message } = await review();
  assert.match(message, /^unknown_field .*\nretried_final_error .*: retried after 400 "scripted"/);
});
