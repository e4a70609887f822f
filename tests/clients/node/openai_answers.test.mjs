// Models and plain chat replies, as the SDK's own objects.
import assert from 'node:assert/strict';
import {
  collect,
  connect,
  findings,
  inEveryProfile,
  MODEL,
  MODEL_WITH_SLASH,
  seen,
  SMALL_MODEL,
  strict,
  test,
  user,
} from './support.mjs';

const MANY_WORDS = 'Zürich, naïve, 東京 and 👩‍🚀 agree: "quoted"\n\ttabbed.';

inEveryProfile('answers', (test, profile) => {
  const ask = (client, text, parameters = {}) =>
    client.chat.completions.create({ model: MODEL, messages: user(text), ...parameters });

  test('models are listed', async ({ client }) => {
    const models = await collect(client.models.list());
    assert.deepEqual(
      models.map(({ id }) => id),
      [MODEL, SMALL_MODEL, MODEL_WITH_SLASH],
    );
    assert.deepEqual(
      models.map(({ owned_by }) => owned_by),
      ['mock_gateway', 'mock_gateway', 'a team'],
    );
    assert.ok(models.every(({ object, created }) => object === 'model' && created > 0));
  });

  test('a model is retrieved by its id', async ({ client }) => {
    const model = await client.models.retrieve(SMALL_MODEL);
    assert.equal(model.id, SMALL_MODEL);
    assert.equal(model.object, 'model');
  });

  test('a model whose id has a slash is retrieved percent-encoded', async ({ client }) => {
    assert.equal((await client.models.retrieve(MODEL_WITH_SLASH)).id, MODEL_WITH_SLASH);
  });

  test('a scripted answer arrives', async ({ client }) => {
    const answer = await ask(client, 'What is the capital of France?');
    assert.equal(answer.object, 'chat.completion');
    assert.equal(answer.model, MODEL);
    assert.ok(answer.created > 0);
    assert.equal(answer.choices.length, 1);
    const [choice] = answer.choices;
    assert.equal(choice.index, 0);
    assert.equal(choice.message.role, 'assistant');
    assert.equal(choice.message.content, 'Paris.');
    assert.equal(choice.finish_reason, 'stop');
    const { prompt_tokens, completion_tokens, total_tokens } = answer.usage;
    assert.ok(prompt_tokens > 0 && completion_tokens > 0);
    assert.equal(total_tokens, prompt_tokens + completion_tokens);
  });

  test('text outside ASCII arrives whole', async ({ client }) => {
    assert.equal((await ask(client, 'many words')).choices[0].message.content, MANY_WORDS);
  });

  test('the reply names the model', async ({ client }) => {
    assert.equal((await ask(client, 'another model')).model, 'mock-model-2024');
  });

  test('without a script the gateway replies with a default', async ({ unscripted }) => {
    const { message, finish_reason } = (await ask(unscripted, 'Hi')).choices[0];
    assert.match(message.content, /\S/);
    assert.equal(finish_reason, 'stop');
  });

  test('two candidates', async ({ unscripted }) => {
    const { choices } = await ask(unscripted, 'Hi', { n: 2 });
    assert.deepEqual(
      choices.map(({ index }) => index),
      [0, 1],
    );
    assert.notEqual(choices[0].message.content, choices[1].message.content);
  });

  test('two candidates have different finish reasons', async ({ client }) => {
    const { choices } = await ask(client, 'two endings', { n: 2 });
    assert.deepEqual(
      choices.map(({ message, finish_reason }) => [message.content, finish_reason]),
      [
        ['yes', 'stop'],
        ['no', 'length'],
      ],
    );
  });

  test('max_tokens cuts the answer', async ({ client }) => {
    const { choices, usage } = await ask(client, 'many words', { max_tokens: 2 });
    assert.equal(choices[0].message.content, 'Zürich, naïve,');
    assert.equal(choices[0].finish_reason, 'length');
    assert.equal(usage.completion_tokens, 2);
  });

  test('stop cuts the answer before the match', async ({ gateway, client }) => {
    const [{ message, finish_reason }] = (await ask(client, 'many words', { stop: ' naïve' })).choices;
    assert.equal(message.content, 'Zürich,');
    assert.equal(finish_reason, 'stop');
    assert.deepEqual(await findings(gateway), profile === 'openai' ? [] : ['stop_as_string']);
  });

  test('the same seed repeats the answer', async ({ unscripted }) => {
    const say = async (seed) => (await ask(unscripted, 'Hi', { seed })).choices[0].message.content;
    assert.equal(await say(7), await say(7));
    assert.ok(new Set([await say(1), await say(2), await say(3), await say(4)]).size > 1);
  });

  test('every documented parameter reaches the gateway', async ({ gateway, client }) => {
    const sent = {
      temperature: 0.2,
      top_p: 0.9,
      max_tokens: 50,
      presence_penalty: -0.5,
      n: 1,
      seed: 3,
      stop: ['###'],
      response_format: { type: 'text' },
      enable_thinking: false,
      repetition_penalty: 1.1,
    };
    await ask(client, 'capital of France', sent);
    const [exchange, ...others] = await seen(gateway);
    assert.equal(others.length, 0);
    assert.equal(exchange.outcome, 'completed');
    const { model, messages, ...received } = exchange.request.body.json;
    assert.deepEqual(received, sent);
    assert.deepEqual(await findings(gateway), ['temperature_and_top_p']);
  });

  test('content as text parts is understood', async ({ client }) => {
    const content = [
      { type: 'text', text: 'What is the capital' },
      { type: 'text', text: ' of France?' },
    ];
    assert.equal((await ask(client, content)).choices[0].message.content, 'Paris.');
  });

  test('thinking comes in addition to the answer', async ({ client }) => {
    const { message } = (await ask(client, 'think')).choices[0];
    assert.equal(message.reasoning_content, 'Two and two make four.');
    assert.equal(message.content, 'Four.');
  });

  test('the request switches thinking on', async ({ unscripted }) => {
    const thinking = await ask(unscripted, 'Hi', { enable_thinking: true });
    assert.ok(thinking.choices[0].message.reasoning_content);
    assert.ok(thinking.choices[0].message.content);
    assert.ok(thinking.usage.completion_tokens_details.reasoning_tokens > 0);
    const plain = await ask(unscripted, 'Hi');
    assert.ok(!plain.choices[0].message.reasoning_content);
  });

  test('log probabilities come for each token', async ({ client }) => {
    const answer = await ask(client, 'capital of France', { logprobs: true, top_logprobs: 2 });
    const [{ logprobs, message }] = answer.choices;
    assert.equal(logprobs.content.map(({ token }) => token).join(''), message.content);
    for (const { token, logprob, bytes, top_logprobs } of logprobs.content) {
      assert.ok(logprob <= 0);
      assert.equal(Buffer.from(bytes).toString(), token);
      assert.equal(top_logprobs.length, 2);
    }
  });

  test('a refusal has its own field if the profile has one', async ({ client }) => {
    const { content, refusal } = (await ask(client, 'refuse')).choices[0].message;
    const text = 'I cannot help with that.';
    assert.deepEqual([content, refusal ?? null], profile === 'openai' ? [null, text] : [text, null]);
  });

  test('a request id is present if the profile has one', async ({ client }) => {
    const answer = await ask(client, 'capital of France');
    if (profile === 'openai') assert.match(answer._request_id, /^req_/);
  });
});

test('a strict gateway accepts a documented request', async (t) => {
  const client = connect(await strict(t));
  const body = { model: MODEL, messages: user('Hi'), temperature: 1, stop: ['###'], max_tokens: 5 };
  assert.ok((await client.chat.completions.create(body)).choices[0].message.content);
  const chunks = await collect(await client.chat.completions.create({ ...body, stream: true }));
  assert.ok(chunks.at(-1).choices[0].finish_reason);
});
