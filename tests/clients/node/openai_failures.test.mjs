// Failures as the SDK's own exceptions, and its automatic retries.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import OpenAI from 'openai';
import {
  breaking,
  collect,
  connect,
  DISABLED_KEY,
  failing,
  failure,
  findings,
  inEveryProfile,
  limited,
  MODEL,
  MODEL_WITH_SLASH,
  retryCounts,
  scripted,
  seen,
  SMALL_MODEL,
  strict,
  test,
  user,
} from './support.mjs';

// The error of a call, which must be of this class.
async function failed(call, kind) {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof kind, `${error.constructor.name}: ${error.message}`);
    return error;
  }
  assert.fail(`nothing failed, expected ${kind.name}`);
}

const ask = (client, parameters = {}) =>
  client.chat.completions.create({ model: MODEL, messages: user('capital of France'), ...parameters });
const content = (answer) => answer.choices[0].message.content;

// The codes of errors; the type of the error of a wrong key is last.
const CODES = {
  documented: { key: 'unauthorized', limit: 'rate_limit_exceeded', body: 'value_above_maximum', model: 'model_not_found', type: 'error' },
  openai: { key: 'invalid_api_key', limit: 'rate_limit_exceeded', body: 'decimal_above_max_value', model: 'model_not_found', type: 'invalid_request_error' },
  dashscope: { key: 'invalid_api_key', limit: 'limit_requests', body: 'invalid_parameter_error', model: 'model_not_found', type: 'invalid_request_error' },
  deepseek: { key: 'invalid_request_error', limit: 'rate_limit_reached_error', body: 'invalid_request_error', model: 'invalid_request_error', type: 'authentication_error' },
};

inEveryProfile('failures', (test, profile) => {
  const codes = CODES[profile];

  for (const apiKey of ['sk-unknown', 'no-prefix', 'sk-']) {
    test(`the wrong key "${apiKey}" is an AuthenticationError`, async ({ gateway }) => {
      const client = connect(gateway, { apiKey });
      for (const call of [() => ask(client), () => client.models.list()]) {
        const error = await failed(call(), OpenAI.AuthenticationError);
        assert.equal(error.status, 401);
        assert.equal(error.code, codes.key);
        assert.equal(error.type, codes.type);
        if (profile === 'documented') {
          assert.deepEqual(error.error, { code: 'unauthorized', message: 'unauthorized', type: 'error' });
          assert.equal(error.message, '401 unauthorized');
        }
      }
    });
  }

  test('a disabled key is a PermissionDeniedError', async ({ gateway }) => {
    const error = await failed(ask(connect(gateway, { apiKey: DISABLED_KEY })), OpenAI.PermissionDeniedError);
    assert.equal(error.status, 403);
    if (profile === 'documented') {
      assert.deepEqual(error.error, { code: 'unauthorized', message: 'unauthorized', type: 'error' });
    }
  });

  test('a client follows the state changes of its key', async ({ gateway }) => {
    const { server } = gateway;
    const { id, secret } = await server.createKey({ name: 'through its states' });
    const client = connect(gateway, { apiKey: secret });
    assert.equal(content(await ask(client)), 'Paris.');
    assert.equal((await server.disableKey(id)).state, 'disabled');
    await failed(ask(client), OpenAI.PermissionDeniedError);
    assert.equal((await server.enableKey(id)).state, 'enabled');
    assert.equal(content(await ask(client)), 'Paris.');
    await server.deleteKey(id);
    await failed(ask(client), OpenAI.AuthenticationError);
  });

  test('a key limited to a model sees and uses only that model', async ({ gateway }) => {
    const { secret } = await gateway.server.createKey({ name: 'small', models: [SMALL_MODEL] });
    const client = connect(gateway, { apiKey: secret });
    assert.deepEqual(
      (await collect(client.models.list())).map(({ id }) => id),
      [SMALL_MODEL],
    );
    assert.equal((await ask(client, { model: SMALL_MODEL })).model, SMALL_MODEL);
    await failed(ask(client, { model: MODEL_WITH_SLASH }), OpenAI.PermissionDeniedError);
  });

  test('the rate limit of a key is a RateLimitError', async ({ gateway }) => {
    const { secret } = await gateway.server.createKey({ name: 'limited', limit: '1/1h' });
    const client = connect(gateway, { apiKey: secret });
    await ask(client);
    const error = await failed(ask(client), OpenAI.RateLimitError);
    assert.equal(error.status, 429);
    assert.equal(error.code, codes.limit);
    const retryAfter = Number(error.headers.get('retry-after'));
    assert.ok(retryAfter >= 3_590 && retryAfter <= 3_600, `Retry-After is ${retryAfter}`);
  });

  test('a bad body is a BadRequestError with the place of the mistake', async ({ gateway, client }) => {
    const error = await failed(ask(client, { top_p: 1.5 }), OpenAI.BadRequestError);
    assert.equal(error.status, 400);
    assert.match(error.message, /top_p/);
    assert.equal(error.code, codes.body);
    if (profile === 'openai') assert.equal(error.param, 'top_p');
    if (profile === 'documented') assert.deepEqual(Object.keys(error.error), ['code', 'message', 'type']);
    assert.deepEqual(await findings(gateway), ['request_refused']);
  });

  test('an unknown model is a NotFoundError', async ({ client }) => {
    for (const call of [() => ask(client, { model: 'no-such-model' }), () => client.models.retrieve('no-such-model')]) {
      const error = await failed(call(), OpenAI.NotFoundError);
      assert.equal(error.status, 404);
      assert.equal(error.code, codes.model);
    }
  });

  test('an unknown operation is a NotFoundError', async ({ gateway, client }) => {
    await failed(client.images.generate({ model: MODEL, prompt: 'Hi' }), OpenAI.NotFoundError);
    assert.deepEqual(await findings(gateway), ['request_refused']);
  });

  for (const [status, kind] of [
    [409, OpenAI.ConflictError],
    [422, OpenAI.UnprocessableEntityError],
    [500, OpenAI.InternalServerError],
    [502, OpenAI.InternalServerError],
    [503, OpenAI.InternalServerError],
    [504, OpenAI.InternalServerError],
    [529, OpenAI.InternalServerError],
  ]) {
    test(`a scripted ${status} is a ${kind.name}`, async ({ gateway, client }) => {
      const { messages } = await failing(gateway, { status });
      const error = await failed(ask(client, { messages }), kind);
      assert.equal(error.status, status);
      assert.equal(error.code, 'scripted');
      assert.equal(error.message, `${status} attempt 1`);
    });
  }

  test('a failure forced on a key affects every operation', async ({ gateway, client }) => {
    const failures = [
      { status: 503, code: 'first' },
      { status: 500, code: 'second' },
    ];
    for (const each of failures) await gateway.fail(failure(each));
    for (const { status, code } of failures) {
      const error = await failed(client.models.list(), OpenAI.InternalServerError);
      assert.deepEqual([error.status, error.code], [status, code]);
    }
    assert.equal(content(await ask(client)), 'Paris.');
  });
});

inEveryProfile('retries', (test) => {
  for (const spec of [
    { status: 429, retry_after_ms: '5ms' },
    { status: 429, retry_after_text: '0.01' },
    { status: 429, retry_after_text: '0' },
    { status: 408, retry_after_ms: '5ms' },
    { status: 409, retry_after_ms: '5ms' },
    { status: 500, retry_after_ms: '5ms' },
    { status: 503, retry_after_ms: '5ms' },
    { status: 400, retry_after_ms: '5ms', should_retry: true },
  ]) {
    test(`a temporary failure is retried once: ${JSON.stringify(spec)}`, async ({ gateway }) => {
      const { messages } = await failing(gateway, spec);
      const client = connect(gateway, { maxRetries: 2 });
      assert.equal(content(await ask(client, { messages })), 'ok at attempt 2');
      const exchanges = await seen(gateway);
      assert.deepEqual(
        exchanges.map(({ status }) => status),
        [spec.status, 200],
      );
      assert.deepEqual(retryCounts(exchanges), [0, 1]);
    });
  }

  test('a permanent failure ends after two retries', async ({ gateway }) => {
    const { messages } = await failing(gateway, { status: 429, times: 9, retry_after_ms: '5ms' });
    const client = connect(gateway, { maxRetries: 2 });
    const error = await failed(ask(client, { messages }), OpenAI.RateLimitError);
    assert.equal(error.message, '429 attempt 3');
    assert.deepEqual(retryCounts(await seen(gateway)), [0, 1, 2]);
  });

  for (const status of [400, 401, 403, 404, 422]) {
    test(`a ${status} is not retried`, async ({ gateway }) => {
      const { messages } = await failing(gateway, { status });
      const client = connect(gateway, { maxRetries: 2 });
      await failed(ask(client, { messages }), OpenAI.APIError);
      assert.deepEqual(retryCounts(await seen(gateway)), [0]);
    });
  }

  for (const status of [429, 500]) {
    test(`x-should-retry: false stops retries of a ${status}`, async ({ gateway }) => {
      const { messages } = await failing(gateway, { status, should_retry: false });
      const client = connect(gateway, { maxRetries: 2 });
      await failed(ask(client, { messages }), OpenAI.APIError);
      assert.deepEqual(retryCounts(await seen(gateway)), [0]);
    });
  }

  test('a stream request is retried too', async ({ gateway }) => {
    const { messages } = await failing(gateway, { status: 429, retry_after_ms: '5ms' });
    const client = connect(gateway, { maxRetries: 2 });
    const chunks = await collect(await ask(client, { messages, stream: true }));
    assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'ok at attempt 2');
    assert.deepEqual(retryCounts(await seen(gateway)), [0, 1]);
  });

  for (const effect of ['close_connection', 'reset_connection']) {
    test(`a connection lost before the answer (${effect}) is retried`, async ({ gateway }) => {
      const { messages } = await breaking(gateway, { before_headers: true, effect });
      const client = connect(gateway, { maxRetries: 2 });
      assert.equal(content(await ask(client, { messages })), 'one two three four');
      const exchanges = await seen(gateway);
      assert.deepEqual(retryCounts(exchanges), [0, 1]);
      assert.deepEqual(
        exchanges.map(({ outcome }) => outcome),
        ['broken by fault', 'completed'],
      );
    });

    test(`without retries a lost connection (${effect}) is an APIConnectionError`, async ({ gateway, client }) => {
      const { messages } = await breaking(gateway, { before_headers: true, effect });
      await failed(ask(client, { messages }), OpenAI.APIConnectionError);
    });
  }
});

// Slow tests: these are the same in every profile.
describe('waiting', () => {
  for (const spec of [
    { status: 429, retry_after: '1s' },
    { status: 429, retry_after_date: '2s' },
  ]) {
    test(`the client waits as Retry-After says: ${JSON.stringify(spec)}`, async (t) => {
      const gateway = await scripted(t);
      const { messages } = await failing(gateway, spec);
      assert.equal(content(await ask(connect(gateway, { maxRetries: 2 }), { messages })), 'ok at attempt 2');
      const [first, second] = (await seen(gateway)).map(({ received }) => Date.parse(received));
      assert.ok(second - first >= 990, `waited ${second - first} ms`); // dates have a resolution of a second
    });
  }

  test('a client waits until a real rate limit resets', async (t) => {
    const gateway = await scripted(t);
    const { id, secret } = await gateway.server.createKey({ name: 'once in five seconds', limit: '1/5s' });
    const client = connect(gateway, { apiKey: secret, maxRetries: 2 });
    for (const _ of [1, 2]) assert.equal(content(await ask(client)), 'Paris.');
    const { exchanges } = await gateway.server.control('GET', '/journal', undefined, { key: id });
    assert.deepEqual(
      exchanges.reverse().map(({ status }) => status),
      [200, 429, 200],
    );
  });

  test('a silent gateway causes a timeout', async (t) => {
    const gateway = await scripted(t);
    const { messages } = await breaking(gateway, { before_headers: true, effect: 'stall' });
    await failed(ask(connect(gateway, { timeout: 3000 }), { messages }), OpenAI.APIConnectionTimeoutError);
    assert.equal((await seen(gateway))[0].outcome, 'client left');
  });

  for (const status of [429, 500]) {
    test(`without a header the client chooses its own backoff for a ${status}`, async (t) => {
      const gateway = await scripted(t);
      const { messages } = await failing(gateway, { status, without_retry_after: true });
      assert.equal(content(await ask(connect(gateway, { maxRetries: 2 }), { messages })), 'ok at attempt 2');
      assert.deepEqual(retryCounts(await seen(gateway)), [0, 1]);
    });
  }
});

test('a limit that all keys share', async (t) => {
  const client = connect(await limited(t));
  await failed(
    (async () => {
      for (let i = 0; i < 3; ++i) await ask(client);
    })(),
    OpenAI.RateLimitError,
  );
});

test('a strict gateway refuses undocumented fields', async (t) => {
  const gateway = await strict(t);
  const client = connect(gateway);
  await failed(ask(client, { frequency_penalty: 0.5 }), OpenAI.BadRequestError);
  await failed(ask(client, { stop: '###' }), OpenAI.BadRequestError);
  assert.deepEqual(await findings(gateway), ['request_refused', 'request_refused']);
});
