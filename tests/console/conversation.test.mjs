// The conversation of an exchange: the messages with their roles, formatted tool calls, and the sent reply.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Console, Gateway, startBrowser } from './support.mjs';

const IMAGE = `data:image/png;base64,${'A'.repeat(400)}`;

function script() {
  return {
    mock_gateway: 1,
    gateway: { profile: 'deepseek', acceptance: 'openai' },
    stubs: [
      { when: { user_says: 'weather' }, reply: { thinking: 'A tool knows.', text: 'Let me look.', tool_call: { name: 'get_weather', arguments: { city: 'Paris', days: [1, 2] } } } },
      { when: { user_says: 'broken arguments' }, reply: { tool_call: { name: 'get_weather', malformed_arguments: '{"city": ' } } },
      { when: { user_says: 'two' }, reply: { choices: ['yes', 'no'] } },
      { when: { user_says: 'cut' }, reply: { text: 'one two three four', faults: [{ after_tokens: 2, effect: 'close_connection' }] } },
      { when: { user_says: 'refuse' }, reply: { refusal: 'I will not.' } },
      { when: { user_says: 'fail' }, reply: { failure: { status: 500, code: 'broken', message: 'It <b>broke</b>.' } } },
      { reply: 'Fine.' },
    ],
  };
}

let gateway, browser;
before(async () => {
  gateway = await Gateway.start(script());
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
});

/// Opens the exchange of a request. Returns the turns of its conversation as "role: text".
async function shown(text, options = {}) {
  await gateway.ask(text, options).catch(() => {});
  const { exchanges: [{ id }] } = await gateway.control('GET', '/journal');
  const tab = await Console.open(browser, gateway, { view: `exchange/${id}` });
  await tab.page.waitForSelector('.conversation');
  const turns = await tab.page.$$eval('.turn', (all) => all.map((one) => `${one.querySelector('.role').textContent}: ${[...one.children].slice(1).map((part) => part.textContent).join(' | ')}`));
  return { tab, turns, text: await tab.page.$eval('.conversation', (element) => element.textContent) };
}

for (const stream of [false, true]) {
  test(`a reply with thinking, text and a tool call is formatted (${stream ? 'streamed' : 'plain'})`, async () => {
    const { tab, turns, text } = await shown('the weather', { body: { stream, ...(stream && { stream_options: { include_usage: true } }), tools: [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }] } });
    assert.equal(turns.length, 2);
    assert.equal(turns[0], 'user: the weather');
    assert.match(turns[1], /^assistant finish_reason tool_calls: ThinkingA tool knows\. \| Let me look\. \| calls get_weather call_\w+.*"city": "Paris",\n  "days": \[\n    1,\n    2/s);
    assert.match(text, /Usage: \{.*"completion_tokens":\d+/);
    assert.match(text, /Offered 1 tool: get_weather/);
    assert.equal((await tab.page.$$('svg[role="img"]')).length, stream ? 1 : 0, 'what left in one piece has no timeline');
    const events = await tab.page.$$eval('.events li', (all) => all.map((one) => one.textContent));
    assert.equal(events.length > 3, stream);
    if (stream) assert.match(events.at(-1), /^\d[\d.]* ms data: \[DONE\]$/);
    await tab.close();
  });
}

test('roles, tool results, images and other parts are labelled', async () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: [{ type: 'text', text: 'In verse.' }] },
    { role: 'user', content: [{ type: 'text', text: 'Look:' }, { type: 'image_url', image_url: { url: IMAGE } }, { type: 'image_url', image_url: { url: 'https://a.example/b.png' } }] },
    { role: 'assistant', content: null, tool_calls: [{ id: 'call_7', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
    { role: 'tool', tool_call_id: 'call_7', content: '21' },
  ];
  const { tab, turns } = await shown('', { body: { messages } });
  assert.deepEqual(turns.slice(0, 5), ['system: Be brief.', 'developer: In verse.',
    'user: Look: | image image/png, 300 bytes | image https://a.example/b.png',
    'assistant: calls f call_7{\n  "a": 1\n}', 'tool: result of call_7 | 21']);
  assert.equal(turns[5], 'assistant finish_reason stop: Fine.');
  assert.equal((await tab.page.$$('.conversation img')).length, 0, 'nothing is loaded from elsewhere');
  await tab.close();
});

test('a broken reply is shown up to the break', async () => {
  const cut = await shown('cut', { body: { stream: true } });
  assert.match(cut.turns[1], /^assistant no finish_reason: one two/);
  await cut.tab.close();
  const malformed = await shown('broken arguments', { body: { tools: [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }] } });
  assert.match(malformed.turns[1], /\{"city": $/);
  await malformed.tab.close();
});

test('several choices, a refusal and an error are shown separately', async () => {
  const two = await shown('two', { body: { n: 2 } });
  assert.deepEqual(two.turns.slice(1), ['assistant finish_reason stop: yes', 'assistant finish_reason stop: no']);
  await two.tab.close();
  const refused = await shown('refuse');
  assert.match(refused.turns[1], /I will not\./);
  await refused.tab.close();
  const failed = await shown('fail');
  assert.equal(failed.turns[1], 'error status 500: It <b>broke</b>.');
  await failed.tab.close();
});

test('an exchange other than a chat shows its response and no conversation', async () => {
  await gateway.ask('', { raw: '{"model": ' });
  const { exchanges: [{ id }] } = await gateway.control('GET', '/journal');
  const tab = await Console.open(browser, gateway, { view: `exchange/${id}` });
  await tab.waitForText('pre', 'Content-Type: application/json');
  assert.equal((await tab.page.$$('.conversation')).length, 0);
  await tab.waitForText('pre', '"error": {');
  const names = await tab.page.$$eval('dt', (all) => all.map((one) => one.textContent));
  assert.ok(names.includes('Answered by') && !names.includes('Faults'), 'only facts that there are');
  await tab.close();
});
