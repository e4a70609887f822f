// Streamed replies: the joined chunks, their arrival one by one, and broken streams.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import {
  breaking,
  collect,
  connect,
  finishReasons,
  inEveryProfile,
  joined,
  MODEL,
  retryCounts,
  seen,
  user,
} from './support.mjs';

const MANY_WORDS = 'Zürich, naïve, 東京 and 👩‍🚀 agree: "quoted"\n\ttabbed.';

// The words that arrived, and the error at their end, if any.
async function read(client, messages) {
  const words = [];
  try {
    for await (const chunk of await client.chat.completions.create({ model: MODEL, messages, stream: true })) {
      const content = chunk.choices[0]?.delta.content;
      if (content) words.push(content);
    }
  } catch (error) {
    return { words, error };
  }
  return { words };
}

inEveryProfile('streams', (test, profile) => {
  const stream = (client, text, parameters = {}) =>
    client.chat.completions.create({ model: MODEL, messages: user(text), stream: true, ...parameters }).then(collect);

  test('chunks join to the answer', async ({ client }) => {
    const chunks = await stream(client, 'many words');
    assert.equal(joined(chunks), MANY_WORDS);
    assert.deepEqual(finishReasons(chunks), ['stop']);
    assert.equal(chunks[0].choices[0].delta.role, 'assistant');
    assert.equal(
      new Set(chunks.map(({ id, created, model, object }) => `${id} ${created} ${model} ${object}`)).size,
      1,
    );
    assert.equal(chunks[0].object, 'chat.completion.chunk');
    assert.ok(chunks.length > 5);
  });

  test('without include_usage no chunk has usage', async ({ client }) => {
    assert.ok((await stream(client, 'capital of France')).every((chunk) => !('usage' in chunk)));
  });

  test('usage comes on request', async ({ client }) => {
    const chunks = await stream(client, 'capital of France', { stream_options: { include_usage: true } });
    const { usage } = await client.chat.completions.create({ model: MODEL, messages: user('capital of France') });
    assert.deepEqual(chunks.map((chunk) => chunk.usage).filter(Boolean), [usage]);
    assert.deepEqual(chunks.at(-1).usage, usage);
    assert.equal(chunks.at(-1).choices.length, profile === 'deepseek' ? 1 : 0);
  });

  test('two candidates are interleaved', async ({ client }) => {
    const chunks = await stream(client, 'many words', { n: 2 });
    assert.equal(joined(chunks, { index: 0 }), MANY_WORDS);
    assert.equal(joined(chunks, { index: 1 }), MANY_WORDS);
    const order = chunks.flatMap(({ choices }) => choices.map(({ index }) => index));
    assert.deepEqual(
      order,
      order.map((_, position) => position % 2),
    );
  });

  test('two candidates have different finish reasons', async ({ client }) => {
    const chunks = await stream(client, 'two endings', { n: 2 });
    assert.deepEqual([joined(chunks, { index: 0 }), finishReasons(chunks, 0)], ['yes', ['stop']]);
    assert.deepEqual([joined(chunks, { index: 1 }), finishReasons(chunks, 1)], ['no', ['length']]);
  });

  test('thinking comes before the answer', async ({ client }) => {
    const chunks = await stream(client, 'think');
    assert.equal(joined(chunks, { field: 'reasoning_content' }), 'Two and two make four.');
    assert.equal(joined(chunks), 'Four.');
    const lastThought = chunks.findLastIndex((chunk) => chunk.choices[0]?.delta.reasoning_content);
    const firstWord = chunks.findIndex((chunk) => chunk.choices[0]?.delta.content);
    assert.ok(lastThought < firstWord);
  });

  test('the request switches thinking on', async ({ unscripted }) => {
    const chunks = await stream(unscripted, 'Hi', { enable_thinking: true });
    const { message } = (
      await unscripted.chat.completions.create({ model: MODEL, messages: user('Hi'), enable_thinking: true })
    ).choices[0];
    assert.equal(joined(chunks, { field: 'reasoning_content' }), message.reasoning_content);
    assert.equal(joined(chunks), message.content);
  });

  test('a refusal is streamed', async ({ client }) => {
    const field = profile === 'openai' ? 'refusal' : 'content';
    assert.equal(joined(await stream(client, 'refuse'), { field }), 'I cannot help with that.');
  });

  test('log probabilities are streamed', async ({ client }) => {
    const tokens = (await stream(client, 'capital of France', { logprobs: true })).flatMap(({ choices }) =>
      choices.flatMap(({ logprobs }) => logprobs?.content ?? []),
    );
    assert.equal(tokens.map(({ token }) => token).join(''), 'Paris.');
  });

  for (const dialect of ['CRLF', 'lone CR', 'no DONE']) {
    test(`the dialect "${dialect}" is understood`, async ({ client }) => {
      const chunks = await stream(client, dialect);
      assert.equal(joined(chunks), 'one two three');
      assert.deepEqual(finishReasons(chunks), ['stop']);
    });
  }

  test('the stream helper builds the completion', async ({ client }) => {
    const deltas = [];
    const helper = client.chat.completions.stream({ model: MODEL, messages: user('many words') });
    helper.on('content', (delta) => deltas.push(delta));
    const completion = await helper.finalChatCompletion();
    assert.equal(completion.choices[0].message.content, MANY_WORDS);
    assert.equal(completion.choices[0].finish_reason, 'stop');
    assert.equal(deltas.join(''), MANY_WORDS);
    assert.equal(await helper.finalContent(), MANY_WORDS);
  });

  test('the stream helper reports usage', async ({ client }) => {
    const helper = client.chat.completions.stream({
      model: MODEL,
      messages: user('capital of France'),
      stream_options: { include_usage: true },
    });
    const { usage } = await helper.finalChatCompletion();
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
  });

  test('aborting a stream is visible to the gateway', async ({ gateway, client }) => {
    const { messages } = await breaking(gateway, { after_tokens: 2, effect: 'stall' });
    const controller = new AbortController();
    const chunks = await client.chat.completions.create(
      { model: MODEL, messages, stream: true },
      { signal: controller.signal },
    );
    const words = [];
    for await (const chunk of chunks) {
      const content = chunk.choices[0]?.delta.content;
      if (content) words.push(content);
      if (words.length === 2) controller.abort();
    }
    assert.deepEqual(words, ['one', ' two']);
    const [exchange] = await seen(gateway);
    assert.equal(exchange.outcome, 'client left');
    assert.equal(exchange.sent.tokens, 2);
  });

  test('leaving the loop over a stream is visible to the gateway', async ({ gateway, client }) => {
    const { messages } = await breaking(gateway, { after_tokens: 1, effect: 'stall' });
    for await (const chunk of await client.chat.completions.create({ model: MODEL, messages, stream: true })) {
      if (chunk.choices[0]?.delta.content) break;
    }
    assert.equal((await seen(gateway))[0].outcome, 'client left');
  });

  test('aborting before the answer is an abort error', async ({ gateway, client }) => {
    const { messages, stub } = await breaking(gateway, { before_headers: true, effect: 'stall' });
    const controller = new AbortController();
    const answer = client.chat.completions.create({ model: MODEL, messages }, { signal: controller.signal });
    answer.catch(() => {});
    await stub.wait();
    controller.abort();
    await assert.rejects(answer, OpenAI.APIUserAbortError);
    assert.equal((await seen(gateway))[0].outcome, 'client left');
  });

  for (const effect of ['close_connection', 'reset_connection']) {
    test(`a stream cut in the middle (${effect}) is an error and not retried`, async ({ gateway }) => {
      const { messages } = await breaking(gateway, { after_tokens: 2, effect });
      const { words, error } = await read(connect(gateway, { maxRetries: 2 }), messages);
      assert.deepEqual(words, ['one', ' two']);
      assert.equal(error?.message, 'terminated');
      const exchanges = await seen(gateway);
      assert.deepEqual(retryCounts(exchanges), [0]);
      assert.equal(exchanges[0].outcome, 'broken by fault');
      assert.equal(exchanges[0].sent.tokens, 2);
    });

    test(`a stream cut before [DONE] (${effect}) is an error`, async ({ gateway, client }) => {
      const { messages } = await breaking(gateway, { before_done: true, effect });
      const { words, error } = await read(client, messages);
      assert.deepEqual(words, ['one', ' two', ' three', ' four']);
      assert.equal(error?.message, 'terminated');
    });
  }

  test('the stream helper detects a truncated stream', async ({ gateway, client }) => {
    const { messages } = await breaking(gateway, { after_tokens: 2, effect: 'close_connection' });
    await assert.rejects(client.chat.completions.stream({ model: MODEL, messages }).finalChatCompletion());
  });

  test('a client keeps working after a truncated stream', async ({ gateway, client }) => {
    const { messages } = await breaking(gateway, { after_tokens: 1, effect: 'reset_connection' });
    assert.deepEqual((await read(client, messages)).words, ['one']);
    assert.deepEqual(await read(client, messages), { words: ['one', ' two', ' three', ' four'] });
  });
});
