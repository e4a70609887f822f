// Uses every name of the helper as a TypeScript test would. `tsc --strict` compiles this file; it is never run.

import { test } from 'node:test';
import { GatewayError, MockGateway, openGateway, type Exchange, type Scope } from './mock-gateway.mjs';

test('every name', async (t) => {
  const server: MockGateway = await MockGateway.start({ scripts: ['a.jsonc'], flags: ['--strict'], within: 1000 });
  const gateway: Scope = await openGateway(t, server);
  await openGateway('by name');
  const stub = await gateway.stub({ when: { user_says: 'Hi' }, reply: 'Hello.', expect: 1 });
  await gateway.stubs([{ reply: 'a' }]);
  await stub.wait(2, '1s');
  const calls: number = await stub.calls();
  await stub.remove();
  await gateway.disable();
  await gateway.enable();
  await gateway.limit('2/1m');
  await gateway.limit(null);
  await gateway.fail({ failure: 'overloaded', times: 2 });
  const codes: string[] = (await gateway.review()).findings.map(({ code }) => code);
  const texts: string[] = (await gateway.verify()).problems.map(({ message }) => message);
  const count: number = await gateway.count({ user_says: 'Hi' }, { status: 429, text_in: 'answer' });
  const newest: Exchange | undefined = (await gateway.journal({ limit: 1, status: '4xx' }))[0];
  const said: string = newest?.request.body.json.messages[0].content;
  const state: string = await gateway.state('login');
  await gateway.setState('login', state);
  const gate = gateway.gate('first');
  await gate.wait(1, '1s', 'delivered');
  await gate.release();
  await gate.open();
  for (const { exchange } of await gateway.asked('1s')) await gateway.answer(exchange, 'Hello.');
  const lines: string[] = [gateway.id, gateway.baseURL, gateway.apiKey, gateway.env['OPENAI_API_KEY'] ?? ''];
  await gateway.control('GET', '/verify', undefined, { wait: '1s' });
  const { id, secret } = await gateway.server.createKey({ name: 'mine' });
  await server.disableKey(id);
  await server.enableKey(id);
  await server.deleteKey(id);
  await server.advance('60s');
  await server.control('POST', '/failures', { failure: 503 });
  await using scope = await server.scope('other');
  await scope.close();
  try {
    await server.stop();
  } catch (error) {
    if (error instanceof GatewayError) throw new Error(`${error.code} ${error.problems[0]?.pointer} ${server.stderr()}`);
  }
  void [calls, codes, texts, count, said, lines, secret, server.baseURL, server.apiKey];
  // @ts-expect-error a rate is a string
  await gateway.limit(2);
  // @ts-expect-error there is no such method
  await gateway.stubb({});
});
