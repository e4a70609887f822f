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
import { collect, inEveryProfile, MODEL, script, test } from './support.mjs';

const MANY_WORDS = 'Zürich, naïve, 東京 and 👩‍🚀 agree: "quoted"\n\ttabbed.';
const City = z.object({
  city: z.string(),
  kind: z.enum(['town', 'village']),
  districts: z.array(z.object({ name: z.string(), people: z.number().int().min(0) })).min(1),
  mayor: z.string().nullable(),
});

inEveryProfile('AI SDK', (scripted, unscripted) => {
  const modelOn = ({ baseURL, apiKey }, settings = {}) =>
    createOpenAICompatible({
      name: 'mock',
      baseURL,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
      ...settings,
    })(MODEL);
  const model = modelOn(scripted);
  const unscriptedModel = modelOn(unscripted);

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

  test('generateText gets text and usage', async () => {
    const { text, finishReason, usage, response } = await generateText({ model, prompt: 'many words', maxRetries: 0 });
    assert.equal(text, MANY_WORDS);
    assert.equal(finishReason, 'stop');
    assert.ok(usage.inputTokens > 0 && usage.outputTokens > 0);
    assert.equal(usage.totalTokens, usage.inputTokens + usage.outputTokens);
    assert.equal(response.modelId, MODEL);
  });

  test('streamText gets text word by word, and usage', async () => {
    const result = streamText({ model, prompt: 'many words', maxRetries: 0 });
    const deltas = await collect(result.textStream);
    assert.equal(deltas.join(''), MANY_WORDS);
    assert.ok(deltas.length > 3);
    assert.equal(await result.finishReason, 'stop');
    const { inputTokens, outputTokens, totalTokens } = await result.usage;
    assert.ok(inputTokens > 0 && outputTokens > 0);
    assert.equal(totalTokens, inputTokens + outputTokens);
  });

  test('reasoning is told from text', async () => {
    const plain = await generateText({ model, prompt: 'think', maxRetries: 0 });
    assert.deepEqual([plain.reasoningText, plain.text], ['Two and two make four.', 'Four.']);
    const streamed = streamText({ model, prompt: 'think', maxRetries: 0 });
    assert.equal(await streamed.text, 'Four.');
    assert.equal(await streamed.reasoningText, 'Two and two make four.');
  });

  test('generateObject gets an instance of the schema', async () => {
    for (const seed of [1, 2, 3]) {
      const { object } = await generateObject({
        model: unscriptedModel,
        schema: City,
        prompt: 'A city',
        seed,
        maxRetries: 0,
      });
      assert.deepEqual(City.parse(object), object);
    }
  });

  test('streamObject builds the same instance as generateObject', async () => {
    const call = { model: unscriptedModel, schema: City, prompt: 'A city', maxRetries: 0 };
    const streamed = streamObject(call);
    const partials = await collect(streamed.partialObjectStream);
    assert.deepEqual(await streamed.object, (await generateObject(call)).object);
    assert.ok(partials.length > 1);
  });

  test('generateText with an output schema gets an instance', async () => {
    const { output } = await generateText({
      model: unscriptedModel,
      output: Output.object({ schema: City }),
      prompt: 'A city',
      maxRetries: 0,
    });
    assert.deepEqual(City.parse(output), output);
  });

  test('generateText runs a tool and takes a second step', async () => {
    const called = [];
    const { text, steps } = await generateText({
      model,
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

  test('streamText runs a tool and takes a second step', async () => {
    const called = [];
    const result = streamText({
      model,
      prompt: 'weather',
      tools: tools(called),
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    assert.equal((await collect(result.textStream)).join(''), 'It is 21 degrees in Paris.');
    assert.deepEqual(called, [{ city: 'Paris', days: 3 }]);
    assert.equal((await result.steps).length, 2);
  });

  test('a required tool is called with input that its schema accepts', async () => {
    const { toolCalls } = await generateText({
      model: unscriptedModel,
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
    ['disabled', scripted.disabledKey, 403],
  ]) {
    test(`a ${name} key is an APICallError that is not retried`, async () => {
      const call = generateText({ model: modelOn({ ...scripted, apiKey }), prompt: 'Hi' });
      await assert.rejects(call, (error) => {
        assert.ok(APICallError.isInstance(error), error.stack);
        assert.equal(error.statusCode, status);
        assert.equal(error.isRetryable, false);
        return true;
      });
    });
  }

  for (const spec of [
    { status: 429, retry_after_ms: 5 },
    { status: 429, retry_after: '0.01' },
    { status: 503, retry_after_ms: 5 },
  ]) {
    test(`a passing failure is retried once: ${JSON.stringify(spec)}`, async () => {
      const { prompt, marker } = script('fail', spec);
      assert.equal((await generateText({ model, prompt })).text, 'ok at attempt 2');
      assert.deepEqual(
        (await scripted.seen(marker)).map(({ status }) => status),
        [spec.status, 200],
      );
    });
  }

  test('a lasting failure is given up after two retries', async () => {
    const { prompt, marker } = script('fail', { status: 429, times: 9, retry_after_ms: 5 });
    await assert.rejects(generateText({ model, prompt }), (error) => {
      assert.ok(RetryError.isInstance(error), error.stack);
      assert.equal(error.errors.length, 3);
      assert.equal(error.lastError.statusCode, 429);
      return true;
    });
    assert.equal((await scripted.seen(marker)).length, 3);
  });

  for (const effect of ['close', 'reset']) {
    test(`a stream cut in the middle (${effect}) ends in an error`, async () => {
      const { prompt, marker } = script('break', { trigger: 'after_tokens', count: 2, effect });
      const words = [];
      const read = async () => {
        for await (const part of streamText({ model, prompt, onError: () => {} }).fullStream) {
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
      const exchanges = await scripted.seen(marker);
      assert.deepEqual(
        exchanges.map(({ outcome }) => outcome),
        ['broken by fault'],
      );
    });
  }

  test('aborting a stream tells the gateway', async () => {
    const { prompt, marker } = script('break', { trigger: 'after_tokens', count: 2, effect: 'stall' });
    const controller = new AbortController();
    const result = streamText({ model, prompt, maxRetries: 0, abortSignal: controller.signal });
    const words = [];
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') words.push(part.text);
      if (words.length === 2) controller.abort();
    }
    assert.deepEqual(words, ['one', ' two']);
    const [exchange] = await scripted.seen(marker);
    assert.equal(exchange.outcome, 'client left');
    assert.equal(exchange.tokens, 2);
  });
});
