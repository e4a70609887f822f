// Failures as the SDK's own exceptions, and what it retries by itself.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import OpenAI from 'openai';
import {
  collect,
  inEveryProfile,
  limited,
  MODEL,
  MODEL_WITH_SLASH,
  newMarker,
  retryCounts,
  script,
  scripted as scriptedIn,
  SMALL_MODEL,
  strict,
  test,
  user,
} from './support.mjs';

// The error that a call ends with, which must be of this class.
async function failure(call, kind) {
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

inEveryProfile('failures', (scripted, unscripted, profile) => {
  for (const apiKey of ['sk-unknown', 'no-prefix', 'sk-']) {
    test(`the wrong key "${apiKey}" is an AuthenticationError`, async () => {
      const client = scripted.client({ apiKey });
      for (const call of [() => ask(client), () => client.models.list()]) {
        const error = await failure(call(), OpenAI.AuthenticationError);
        assert.equal(error.status, 401);
        if (profile === 'openai') {
          assert.equal(error.code, 'invalid_api_key');
          assert.equal(error.type, 'invalid_request_error');
        } else {
          assert.deepEqual(error.error, { code: 'unauthorized', message: 'unauthorized', type: 'error' });
          assert.equal(error.message, '401 unauthorized');
          assert.equal(error.code, 'unauthorized');
          assert.equal(error.type, 'error');
        }
      }
    });
  }

  test('a disabled key is a PermissionDeniedError', async () => {
    const error = await failure(ask(scripted.client({ apiKey: scripted.disabledKey })), OpenAI.PermissionDeniedError);
    assert.equal(error.status, 403);
    if (profile !== 'openai') {
      assert.deepEqual(error.error, { code: 'unauthorized', message: 'unauthorized', type: 'error' });
    }
  });

  test('a key goes through its states while the client runs', async () => {
    const { id, secret } = await scripted.createKey();
    const client = scripted.client({ apiKey: secret });
    assert.equal(content(await ask(client)), 'Paris.');
    assert.equal(await scripted.setKeyState(id, 'disabled'), 'disabled');
    await failure(ask(client), OpenAI.PermissionDeniedError);
    assert.equal(await scripted.setKeyState(id, 'enabled'), 'enabled');
    assert.equal(content(await ask(client)), 'Paris.');
    assert.equal(await scripted.setKeyState(id, 'deleted'), 'deleted');
    await failure(ask(client), OpenAI.AuthenticationError);
  });

  test('a key limited to a model sees and uses only that', async () => {
    const { secret } = await scripted.createKey({ models: [SMALL_MODEL] });
    const client = scripted.client({ apiKey: secret });
    assert.deepEqual(
      (await collect(client.models.list())).map(({ id }) => id),
      [SMALL_MODEL],
    );
    assert.equal((await ask(client, { model: SMALL_MODEL })).model, SMALL_MODEL);
    await failure(ask(client, { model: MODEL_WITH_SLASH }), OpenAI.PermissionDeniedError);
  });

  test('the rate limit of a key is a RateLimitError', async () => {
    const { secret } = await scripted.createKey({ limit: 1, window_ms: 3_600_000 });
    const client = scripted.client({ apiKey: secret });
    await ask(client);
    const error = await failure(ask(client), OpenAI.RateLimitError);
    assert.equal(error.status, 429);
    assert.equal(error.code, 'rate_limit_exceeded');
    const retryAfter = Number(error.headers.get('retry-after'));
    assert.ok(retryAfter >= 3_590 && retryAfter <= 3_600, `Retry-After is ${retryAfter}`);
  });

  test('a bad body is a BadRequestError that names the place', async () => {
    const error = await failure(ask(scripted.client(), { top_p: 1.5 }), OpenAI.BadRequestError);
    assert.equal(error.status, 400);
    assert.match(error.message, /top_p/);
    if (profile === 'openai') {
      assert.equal(error.param, 'top_p');
      assert.equal(error.code, 'decimal_above_max_value');
    } else {
      assert.equal(error.code, 'value_above_maximum');
      assert.deepEqual(Object.keys(error.error), ['code', 'message', 'type']);
    }
  });

  test('an unknown model is a NotFoundError', async () => {
    const client = scripted.client();
    for (const call of [() => ask(client, { model: 'no-such-model' }), () => client.models.retrieve('no-such-model')]) {
      const error = await failure(call(), OpenAI.NotFoundError);
      assert.equal(error.status, 404);
      assert.equal(error.code, 'model_not_found');
    }
  });

  test('an operation that is not served is a NotFoundError', async () => {
    await failure(scripted.client().embeddings.create({ model: MODEL, input: 'Hi' }), OpenAI.NotFoundError);
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
    test(`a scripted ${status} is a ${kind.name}`, async () => {
      const { messages } = script('fail', { status });
      const error = await failure(ask(scripted.client(), { messages }), kind);
      assert.equal(error.status, status);
      assert.equal(error.code, 'scripted');
      assert.equal(error.message, `${status} attempt 1`);
    });
  }

  test('a failure forced on a key answers whatever it asks', async () => {
    const { secret } = await scripted.createKey({
      fail: [
        { status: 503, code: 'first' },
        { status: 500, code: 'second' },
      ],
    });
    const client = scripted.client({ apiKey: secret });
    for (const [status, code] of [
      [503, 'first'],
      [500, 'second'],
    ]) {
      const error = await failure(client.models.list(), OpenAI.InternalServerError);
      assert.deepEqual([error.status, error.code], [status, code]);
    }
    assert.equal(content(await ask(client)), 'Paris.');
  });
});

inEveryProfile('retries', (scripted) => {
  const client = scripted.client({ maxRetries: 2 });

  for (const spec of [
    { status: 429, retry_after_ms: 5 },
    { status: 429, retry_after: '0.01' },
    { status: 429, retry_after: '0' },
    { status: 408, retry_after_ms: 5 },
    { status: 409, retry_after_ms: 5 },
    { status: 500, retry_after_ms: 5 },
    { status: 503, retry_after_ms: 5 },
    { status: 400, retry_after_ms: 5, should_retry: true },
  ]) {
    test(`a passing failure is retried once: ${JSON.stringify(spec)}`, async () => {
      const { messages, marker } = script('fail', spec);
      assert.equal(content(await ask(client, { messages })), 'ok at attempt 2');
      const exchanges = await scripted.seen(marker);
      assert.deepEqual(
        exchanges.map(({ status }) => status),
        [spec.status, 200],
      );
      assert.deepEqual(retryCounts(exchanges), [0, 1]);
    });
  }

  test('a lasting failure is given up after two retries', async () => {
    const { messages, marker } = script('fail', { status: 429, times: 9, retry_after_ms: 5 });
    const error = await failure(ask(client, { messages }), OpenAI.RateLimitError);
    assert.equal(error.message, '429 attempt 3');
    assert.deepEqual(retryCounts(await scripted.seen(marker)), [0, 1, 2]);
  });

  for (const status of [400, 401, 403, 404, 422]) {
    test(`a ${status} is not retried`, async () => {
      const { messages, marker } = script('fail', { status });
      await failure(ask(client, { messages }), OpenAI.APIError);
      assert.deepEqual(retryCounts(await scripted.seen(marker)), [0]);
    });
  }

  for (const status of [429, 500]) {
    test(`x-should-retry: false stops retries of a ${status}`, async () => {
      const { messages, marker } = script('fail', { status, should_retry: false });
      await failure(ask(client, { messages }), OpenAI.APIError);
      assert.deepEqual(retryCounts(await scripted.seen(marker)), [0]);
    });
  }

  test('a stream request is retried too', async () => {
    const { messages, marker } = script('fail', { status: 429, retry_after_ms: 5 });
    const chunks = await collect(await ask(client, { messages, stream: true }));
    assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'ok at attempt 2');
    assert.deepEqual(retryCounts(await scripted.seen(marker)), [0, 1]);
  });

  for (const effect of ['close', 'reset']) {
    test(`a connection lost before the answer (${effect}) is retried`, async () => {
      const { messages, marker } = script('break', { trigger: 'before_headers', effect });
      assert.equal(content(await ask(client, { messages })), 'one two three four');
      const exchanges = await scripted.seen(marker);
      assert.deepEqual(retryCounts(exchanges), [0, 1]);
      assert.deepEqual(
        exchanges.map(({ outcome }) => outcome),
        ['broken by fault', 'completed'],
      );
    });

    test(`without retries a lost connection (${effect}) is an APIConnectionError`, async () => {
      const { messages } = script('break', { trigger: 'before_headers', effect });
      await failure(ask(scripted.client(), { messages }), OpenAI.APIConnectionError);
    });
  }
});

// What takes seconds is the same in every profile.
describe('waiting', () => {
  const scripted = scriptedIn('documented');
  const client = scripted.client({ maxRetries: 2 });

  for (const spec of [
    { status: 429, retry_after: '1' },
    { status: 429, retry_after_date_ms: 2000 },
  ]) {
    test(`the time in Retry-After is waited out: ${JSON.stringify(spec)}`, async () => {
      const { messages, marker } = script('fail', spec);
      assert.equal(content(await ask(client, { messages })), 'ok at attempt 2');
      const [first, second] = await scripted.seen(marker);
      const waited = second.received_ms - first.received_ms; // a date has whole seconds
      assert.ok(waited >= 990, `waited ${waited} ms`);
    });
  }

  test('a real limit passes', async () => {
    const { secret } = await scripted.createKey({ limit: 1, window_ms: 2000 });
    const limitedClient = scripted.client({ apiKey: secret, maxRetries: 2 });
    const marker = newMarker();
    for (const _ of [1, 2]) {
      assert.equal(content(await ask(limitedClient, { messages: user(`capital of France #${marker}`) })), 'Paris.');
    }
    assert.deepEqual(
      (await scripted.seen(marker)).map(({ status }) => status),
      [200, 429, 200],
    );
  });

  test('a gateway that says nothing is a timeout', async () => {
    const { messages, marker } = script('break', { trigger: 'before_headers', effect: 'stall' });
    await failure(ask(scripted.client({ timeout: 1000 }), { messages }), OpenAI.APIConnectionTimeoutError);
    assert.equal((await scripted.seen(marker))[0].outcome, 'client left');
  });

  for (const status of [429, 500]) {
    test(`without a header the client backs off from a ${status} by itself`, async () => {
      const { messages, marker } = script('fail', { status });
      assert.equal(content(await ask(client, { messages })), 'ok at attempt 2');
      assert.deepEqual(retryCounts(await scripted.seen(marker)), [0, 1]);
    });
  }
});

test('a limit that all keys share', async () => {
  const client = limited.client();
  await failure(
    (async () => {
      for (let i = 0; i < 3; ++i) await ask(client);
    })(),
    OpenAI.RateLimitError,
  );
});

test('a strict gateway refuses what is not documented', async () => {
  const client = strict.client();
  await failure(ask(client, { frequency_penalty: 0.5 }), OpenAI.BadRequestError);
  await failure(ask(client, { stop: '###' }), OpenAI.BadRequestError);
});
