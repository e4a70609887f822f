// The AI SDK with its provider for OpenAI-compatible gateways.
import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateObject,
  generateText,
  Output,
  RetryError,
  stepCountIs,
  streamObject,
  streamText,
  tool,
} from 'ai';
import { z } from 'zod';
import { breaking, collect, DISABLED_KEY, failing, inEveryProfile, MODEL, seen } from './support.mjs';

const MANY_WORDS = 'Zürich, naïve, 東京 and 👩‍🚀 agree: "quoted"\n\ttabbed.';
const City = z.object({
  city: z.string(),
  kind: z.enum(['town', 'village']),
  districts: z.array(z.object({ name: z.string(), people: z.number().int().min(0) })).min(1),
  mayor: z.string().nullable(),
});

inEveryProfile('AI SDK', (test) => {
  const modelOn = ({ baseURL, apiKey }, settings = {}) =>
    createOpenAICompatible({
      name: 'mock',
      baseURL,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
      ...settings,
    })(MODEL);

  const tools = (called = []) => ({
    get_weather: tool({
      description: 'The weather',
      inputSchema: z.object({ city: z.string(), days: z.number().int() }),
      execute: async (input) => {
        called.push(input);
        return { degrees: 21 };
      },
    }),
  });

  test('generateText gets text and usage', async ({ gateway }) => {
    const model = modelOn(gateway);
    const { text, finishReason, usage, response } = await generateText({ model, prompt: 'many words', maxRetries: 0 });
    assert.equal(text, MANY_WORDS);
    assert.equal(finishReason, 'stop');
    assert.ok(usage.inputTokens > 0 && usage.outputTokens > 0);
    assert.equal(usage.totalTokens, usage.inputTokens + usage.outputTokens);
    assert.equal(response.modelId, MODEL);
  });

  test('streamText gets text word by word, and usage', async ({ gateway }) => {
    const result = streamText({ model: modelOn(gateway), prompt: 'many words', maxRetries: 0 });
    const deltas = await collect(result.textStream);
    assert.equal(deltas.join(''), MANY_WORDS);
    assert.ok(deltas.length > 3);
    assert.equal(await result.finishReason, 'stop');
    const { inputTokens, outputTokens, totalTokens } = await result.usage;
    assert.ok(inputTokens > 0 && outputTokens > 0);
    assert.equal(totalTokens, inputTokens + outputTokens);
  });

  test('reasoning is separate from text', async ({ gateway }) => {
    const plain = await generateText({ model: modelOn(gateway), prompt: 'think', maxRetries: 0 });
    assert.deepEqual([plain.reasoningText, plain.text], ['Two and two make four.', 'Four.']);
    const streamed = streamText({ model: modelOn(gateway), prompt: 'think', maxRetries: 0 });
    assert.equal(await streamed.text, 'Four.');
    assert.equal(await streamed.reasoningText, 'Two and two make four.');
  });

  test('generateObject gets an instance of the schema', async ({ unscripted }) => {
    for (const seed of [1, 2, 3]) {
      const { object } = await generateObject({
        model: modelOn(unscripted),
        schema: City,
        prompt: 'A city',
        seed,
        maxRetries: 0,
      });
      assert.deepEqual(City.parse(object), object);
    }
  });

  test('streamObject builds the same instance as generateObject', async ({ unscripted }) => {
    const call = { model: modelOn(unscripted), schema: City, prompt: 'A city', maxRetries: 0 };
    const streamed = streamObject(call);
    const partials = await collect(streamed.partialObjectStream);
    assert.deepEqual(await streamed.object, (await generateObject(call)).object);
    assert.ok(partials.length > 1);
  });

  test('generateText with an output schema gets an instance', async ({ unscripted }) => {
    const { output } = await generateText({
      model: modelOn(unscripted),
      output: Output.object({ schema: City }),
      prompt: 'A city',
      maxRetries: 0,
    });
    assert.deepEqual(City.parse(output), output);
  });

  test('generateText runs a tool and takes a second step', async ({ gateway }) => {
    const called = [];
    const { text, steps } = await generateText({
      model: modelOn(gateway),
      prompt: 'weather',
      tools: tools(called),
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    assert.deepEqual(called, [{ city: 'Paris', days: 3 }]);
    assert.deepEqual(
      steps.map(({ finishReason }) => finishReason),
      ['tool-calls', 'stop'],
    );
    assert.equal(text, 'It is 21 degrees in Paris.');
  });

  test('streamText runs a tool and takes a second step', async ({ gateway }) => {
    const called = [];
    const result = streamText({
      model: modelOn(gateway),
      prompt: 'weather',
      tools: tools(called),
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    assert.equal((await collect(result.textStream)).join(''), 'It is 21 degrees in Paris.');
    assert.deepEqual(called, [{ city: 'Paris', days: 3 }]);
    assert.equal((await result.steps).length, 2);
  });

  test('a required tool is called with input that its schema accepts', async ({ unscripted }) => {
    const { toolCalls } = await generateText({
      model: modelOn(unscripted),
      prompt: 'Hi',
      tools: tools(),
      toolChoice: 'required',
      maxRetries: 0,
    });
    assert.ok(toolCalls.length >= 1);
    for (const call of toolCalls) {
      assert.equal(call.toolName, 'get_weather');
      assert.ok(!call.invalid);
    }
  });

  for (const [name, apiKey, status] of [
    ['wrong', 'sk-unknown', 401],
    ['disabled', DISABLED_KEY, 403],
  ]) {
    test(`a ${name} key is an APICallError that is not retried`, async ({ gateway }) => {
      const call = generateText({ model: modelOn({ ...gateway, apiKey }), prompt: 'Hi' });
      await assert.rejects(call, (error) => {
        assert.ok(APICallError.isInstance(error), error.stack);
        assert.equal(error.statusCode, status);
        assert.equal(error.isRetryable, false);
        return true;
      });
    });
  }

  for (const spec of [
    { status: 429, retry_after_ms: '5ms' },
    { status: 429, retry_after_text: '0.01' },
    { status: 503, retry_after_ms: '5ms' },
  ]) {
    test(`a temporary failure is retried once: ${JSON.stringify(spec)}`, async ({ gateway }) => {
      const { prompt } = await failing(gateway, spec);
      assert.equal((await generateText({ model: modelOn(gateway), prompt })).text, 'ok at attempt 2');
      assert.deepEqual(
        (await seen(gateway)).map(({ status }) => status),
        [spec.status, 200],
      );
    });
  }

  test('a permanent failure ends after two retries', async ({ gateway }) => {
    const { prompt } = await failing(gateway, { status: 429, times: 9, retry_after_ms: '5ms' });
    await assert.rejects(generateText({ model: modelOn(gateway), prompt }), (error) => {
      assert.ok(RetryError.isInstance(error), error.stack);
      assert.equal(error.errors.length, 3);
      assert.equal(error.lastError.statusCode, 429);
      return true;
    });
    assert.equal((await seen(gateway)).length, 3);
  });

  for (const effect of ['close_connection', 'reset_connection']) {
    test(`a stream cut in the middle (${effect}) ends in an error`, async ({ gateway }) => {
      const { prompt } = await breaking(gateway, { after_tokens: 2, effect });
      const words = [];
      const read = async () => {
        for await (const part of streamText({ model: modelOn(gateway), prompt, onError: () => {} }).fullStream) {
          if (part.type === 'text-delta') words.push(part.text);
          if (part.type === 'error') throw part.error;
          assert.notEqual(part.type, 'finish');
        }
      };
      await assert.rejects(read(), (error) => {
        assert.ok(APICallError.isInstance(error), error.stack);
        assert.equal(error.cause.message, 'terminated');
        return true;
      });
      assert.deepEqual(words, ['one', ' two']);
      const exchanges = await seen(gateway);
      assert.deepEqual(
        exchanges.map(({ outcome }) => outcome),
        ['broken by fault'],
      );
    });
  }

  test('aborting a stream is visible to the gateway', async ({ gateway }) => {
    const { prompt } = await breaking(gateway, { after_tokens: 2, effect: 'stall' });
    const controller = new AbortController();
    const result = streamText({ model: modelOn(gateway), prompt, maxRetries: 0, abortSignal: controller.signal });
    const words = [];
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') words.push(part.text);
      if (words.length === 2) controller.abort();
    }
    assert.deepEqual(words, ['one', ' two']);
    const [exchange] = await seen(gateway);
    assert.equal(exchange.outcome, 'client left');
    assert.equal(exchange.sent.tokens, 2);
  });
});
