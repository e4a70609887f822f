// Structured output: the SDK's parse helper with replies that the gateway generates from a schema.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { inEveryProfile, MODEL, user } from './support.mjs';

const Place = z.object({ name: z.string().min(2).max(40), latitude: z.number().min(-90).max(90) });
const Storm = z.object({ kind: z.literal('storm'), severity: z.number().int().min(1).max(5) });
const Calm = z.object({ kind: z.literal('calm') });
const Step = z.object({
  explanation: z.string(),
  get next() {
    return Step.nullable();
  },
});
const Forecast = z.object({
  place: Place,
  unit: z.enum(['celsius', 'fahrenheit']),
  highs: z.array(z.number()).min(1).max(7),
  note: z.string().nullable(),
  tags: z.array(z.enum(['dry', 'wet'])),
  event: z.union([Storm, Calm]),
  certain: z.boolean(),
  firstStep: Step,
});
const City = z.object({ city: z.string(), population: z.number().int() });

inEveryProfile('structured output', (test) => {
  const request = (parameters = {}) => ({
    model: MODEL,
    messages: user('The forecast?'),
    response_format: zodResponseFormat(Forecast, 'forecast'),
    ...parameters,
  });

  for (const seed of [0, 1, 2, 3, 4]) {
    test(`the parse helper gets an instance of the schema (seed ${seed})`, async ({ unscripted }) => {
      const { message, finish_reason } = (await unscripted.chat.completions.parse(request({ seed }))).choices[0];
      assert.equal(finish_reason, 'stop');
      assert.deepEqual(Forecast.parse(JSON.parse(message.content)), message.parsed);
    });
  }

  test('a streamed instance is parsed too', async ({ unscripted }) => {
    const plain = await unscripted.chat.completions.parse(request());
    const streamed = await unscripted.chat.completions.stream(request()).finalChatCompletion();
    assert.deepEqual(streamed.choices[0].message.parsed, plain.choices[0].message.parsed);
  });

  test('a truncated instance is reported as truncated', async ({ unscripted }) => {
    const cut = unscripted.chat.completions.parse(request({ max_tokens: 1 }));
    await assert.rejects(cut, OpenAI.LengthFinishReasonError);
  });

  test('a scripted JSON answer is parsed', async ({ client }) => {
    const { parsed } = (
      await client.chat.completions.parse({
        model: MODEL,
        messages: user('city as JSON'),
        response_format: zodResponseFormat(City, 'city'),
      })
    ).choices[0].message;
    assert.deepEqual(parsed, { city: 'Paris', population: 2102650 });
  });

  test('json_object gives a JSON object', async ({ unscripted }) => {
    const answer = await unscripted.chat.completions.create({
      model: MODEL,
      messages: user('Some JSON, please'),
      response_format: { type: 'json_object' },
    });
    const value = JSON.parse(answer.choices[0].message.content);
    assert.ok(value !== null && typeof value === 'object' && !Array.isArray(value));
  });
});
