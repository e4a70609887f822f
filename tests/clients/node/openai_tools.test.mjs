// Tool calls: plain, streamed, parallel, forced, and in the SDK's own loop.
import assert from 'node:assert/strict';
import { zodFunction } from 'openai/helpers/zod';
import { z } from 'zod';
import { collect, finishReasons, inEveryProfile, MODEL, user } from './support.mjs';

const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
        required: ['city', 'days'],
        additionalProperties: false,
      },
    },
  },
  {
    type: 'function',
    function: {
      name: 'get_time',
      description: 'The time',
      parameters: { type: 'object', properties: { zone: { type: 'string' } }, additionalProperties: false },
    },
  },
];

// A client's view of tool deltas: id and name from the first fragment, joined arguments.
function streamedCalls(chunks) {
  const calls = [];
  for (const delta of chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []))) {
    const call = (calls[delta.index] ??= { id: delta.id, name: delta.function.name, arguments: '', fragments: 0 });
    call.arguments += delta.function.arguments ?? '';
    call.fragments += 1;
  }
  return calls;
}

inEveryProfile('tools', (test) => {
  const ask = (client, text, parameters = {}) =>
    client.chat.completions.create({ model: MODEL, messages: user(text), tools, ...parameters });

  test('a tool is called', async ({ client }) => {
    const [{ message, finish_reason }] = (await ask(client, 'weather')).choices;
    assert.equal(finish_reason, 'tool_calls');
    assert.equal(message.content, null);
    assert.equal(message.tool_calls.length, 1);
    const [call] = message.tool_calls;
    assert.ok(call.id);
    assert.equal(call.type, 'function');
    assert.equal(call.function.name, 'get_weather');
    assert.deepEqual(JSON.parse(call.function.arguments), { city: 'Paris', days: 3 });
  });

  test('a tool call is streamed in fragments', async ({ client }) => {
    const chunks = await collect(await ask(client, 'weather', { stream: true }));
    const [call, ...others] = streamedCalls(chunks);
    assert.equal(others.length, 0);
    assert.ok(call.id);
    assert.equal(call.name, 'get_weather');
    assert.deepEqual(JSON.parse(call.arguments), { city: 'Paris', days: 3 });
    assert.ok(call.fragments > 1);
    assert.deepEqual(finishReasons(chunks), ['tool_calls']);
  });

  test('two tools are called in parallel', async ({ client }) => {
    const { tool_calls: calls } = (await ask(client, 'weather and time')).choices[0].message;
    assert.deepEqual(
      calls.map((call) => call.function.name),
      ['get_weather', 'get_time'],
    );
    assert.deepEqual(JSON.parse(calls[1].function.arguments), { zone: 'Europe/Paris' });
    assert.notEqual(calls[0].id, calls[1].id);
  });

  test('two tool calls are streamed one after the other', async ({ client }) => {
    const calls = streamedCalls(await collect(await ask(client, 'weather and time', { stream: true })));
    assert.deepEqual(
      calls.map(({ name }) => name),
      ['get_weather', 'get_time'],
    );
    assert.deepEqual(
      calls.map((call) => JSON.parse(call.arguments)),
      [{ city: 'Paris', days: 3 }, { zone: 'Europe/Paris' }],
    );
  });

  test('required forces a call that fits the tool', async ({ unscripted }) => {
    const { tool_calls: calls } = (await ask(unscripted, 'Hi', { tool_choice: 'required' })).choices[0].message;
    assert.ok(calls.length >= 1);
    for (const call of calls) {
      const args = JSON.parse(call.function.arguments);
      if (call.function.name === 'get_weather') {
        assert.equal(typeof args.city, 'string');
        assert.ok(Number.isInteger(args.days) && args.days >= 1);
      } else {
        assert.equal(call.function.name, 'get_time');
      }
    }
  });

  test('a named tool is called', async ({ unscripted }) => {
    const named = { type: 'function', function: { name: 'get_time' } };
    const { tool_calls: calls } = (await ask(unscripted, 'Hi', { tool_choice: named })).choices[0].message;
    assert.deepEqual([...new Set(calls.map((call) => call.function.name))], ['get_time']);
  });

  test('without parallel calls there is at most one call', async ({ unscripted }) => {
    const parameters = { tool_choice: 'required', parallel_tool_calls: false };
    assert.equal((await ask(unscripted, 'Hi', parameters)).choices[0].message.tool_calls.length, 1);
  });

  test('none forbids calls', async ({ unscripted }) => {
    const { message } = (await ask(unscripted, 'Hi', { tool_choice: 'none' })).choices[0];
    assert.equal(message.tool_calls, undefined);
    assert.ok(message.content);
  });

  const runnable = (results) =>
    tools.map((tool) => ({
      ...tool,
      function: { ...tool.function, parse: JSON.parse, function: (args) => results(tool.function.name, args) },
    }));

  for (const stream of [false, true]) {
    test(`the SDK runs the tools and gets the final answer (${stream ? 'streamed' : 'plain'})`, async ({ client }) => {
      const called = [];
      const runner = client.chat.completions.runTools({
        model: MODEL,
        messages: user('weather and time'),
        stream,
        tools: runnable((name, args) => {
          called.push([name, args]);
          return name === 'get_weather' ? '21 degrees' : 'noon';
        }),
      });
      assert.equal(await runner.finalContent(), 'It is 21 degrees in Paris at noon.');
      assert.deepEqual(called, [
        ['get_weather', { city: 'Paris', days: 3 }],
        ['get_time', { zone: 'Europe/Paris' }],
      ]);
    });
  }

  test('the zod tool helper parses the arguments', async ({ unscripted }) => {
    const completion = await unscripted.chat.completions.parse({
      model: MODEL,
      messages: user('Hi'),
      tools: [
        zodFunction({
          name: 'plan',
          parameters: z.object({ city: z.string(), days: z.number().int().min(1).max(14) }),
        }),
      ],
      tool_choice: { type: 'function', function: { name: 'plan' } },
    });
    const { parsed_arguments: parsed } = completion.choices[0].message.tool_calls[0].function;
    assert.equal(typeof parsed.city, 'string');
    assert.ok(parsed.days >= 1 && parsed.days <= 14);
  });

  test('the stream helper collects tool calls', async ({ client }) => {
    const helper = client.chat.completions.stream({ model: MODEL, messages: user('weather and time'), tools });
    const { tool_calls: calls } = (await helper.finalChatCompletion()).choices[0].message;
    assert.deepEqual(
      calls.map((call) => call.function.name),
      ['get_weather', 'get_time'],
    );
    assert.deepEqual(JSON.parse(calls[0].function.arguments), { city: 'Paris', days: 3 });
  });
});
