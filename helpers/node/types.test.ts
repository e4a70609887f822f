// Uses the helper as a TypeScript test would. `tsc --strict` compiles this file; it is never run. That the types name all
// methods is checked by mock-gateway.test.mjs.

import { test } from 'node:test';
import { GatewayError, MockGateway, openGateway, type Exchange, type Scope } from './mock-gateway.mjs';

test('types', async (t) => {
  const server: MockGateway = await MockGateway.start({ scripts: ['a.jsonc'], flags: ['--strict'], within: 1000 });
  const gateway: Scope = await openGateway(t, server);
  const stub = await gateway.stub({ when: { user_says: 'Hi' }, reply: 'Hello.', expect: 1 });
  await stub.wait(2, '1s');
  const calls: number = await stub.calls();
  await gateway.limit(null);
  await gateway.limitConcurrent(2);
  await gateway.fail({ failure: 'overloaded', times: 2 });
  const codes: string[] = (await gateway.review()).findings.map(({ code }) => code);
  const texts: string[] = (await gateway.verify()).problems.map(({ message }) => message);
  const count: number = await gateway.count({ user_says: 'Hi' }, { status: 429, text: 'there' });
  const newest: Exchange | undefined = (await gateway.journal({ limit: 1, status: '4xx' }))[0];
  const said: string = newest?.request.body.json.messages[0].content;
  const state: string = await gateway.state('login');
  await gateway.gate('first').wait(1, '1s', 'delivered');
  for (const { exchange } of await gateway.asked('1s')) await gateway.answer(exchange, 'Hello.');
  const lines: string[] = [gateway.id, gateway.baseURL, gateway.apiKey, gateway.env['OPENAI_API_KEY'] ?? ''];
  await gateway.control('GET', '/verify', undefined, { wait: '1s' });
  const { id, secret } = await gateway.server.createKey({ name: 'mine' });
  await server.deleteKey(id);
  await server.advance('60s');
  await using scope = await server.scope('other');
  try {
    await server.stop();
  } catch (error) {
    if (error instanceof GatewayError) throw new Error(`${error.code} ${error.problems[0]?.pointer} ${server.stderr()}`);
  }
  void [calls, codes, texts, count, said, lines, secret, scope, state, server.baseURL, server.apiKey];
  // @ts-expect-error a rate is a string
  await gateway.limit(2);
  // @ts-expect-error there is no such method
  await gateway.stubb({});
});
