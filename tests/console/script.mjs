// The script and the client traffic for the tests of views.

/// Returns the script. `gateway` adds gateway settings, such as a manual clock for tests that advance it.
export function script(gateway = {}) {
  return {
    mock_gateway: 1,
    gateway,
    keys: [{ name: 'old billing', secret: 'sk-old-billing-service', state: 'disabled' }],
    stubs: [
      { name: 'weather question', when: { user_says: 'weather', has_tool: 'get_weather', model_is: 'mock-model' }, reply: 'It is 21 degrees.' },
      { name: 'broken stream', when: { user_says: 'break' }, reply: { text: 'one two three four', every: '200ms', faults: [{ after_tokens: 2, effect: 'reset_connection' }] } },
      { name: 'slow', when: { user_says: 'slow' }, reply: { text: 'one two three four five six seven eight nine ten', every: '40ms' } },
      { name: 'gated', when: { user_says: 'gate' }, reply: { text: 'one two three', hold: { gate: 'first', before_token: 2 } } },
      { name: 'asked', when: { user_says: 'ask me' }, reply: { ask: true } },
      { name: 'greeting', when: { user_says: 'Hello' }, reply: 'Hello.', expect: 1 },
      { name: 'count', when: { user_says: 'count' }, reply: 'Counted.' },
      { name: 'hidden', when: { user_says: 'count', stream_is: true }, reply: 'Never.' },
    ],
  };
}

/// Makes one exchange of each kind. Returns the number of each kind's exchange.
export async function traffic(gateway) {
  await gateway.ask('Hello');
  await gateway.ask('wether in Paris?', { body: { tools: [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }] } });
  await gateway.ask('Hello', { key: 'sk-old-billing-service' });
  await gateway.ask('break', { body: { stream: true } });
  await gateway.leave('slow');
  await gateway.ask('Hello', { body: { stop: 'END' } });
  await gateway.ask('Hello', { raw: '{"model": ' });
  const { stubs: [{ id: stub }] } = await gateway.control('GET', '/stubs');
  return { stub, greeted: 1, unmatched: 2, forbidden: 3, broken: 4, left: 5, warned: 6, refused: 7 };
}
