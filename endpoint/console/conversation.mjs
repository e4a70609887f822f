// An exchange as a conversation: roles, texts, images, tool calls with their arguments laid out, results, usage.

import { el, text } from './dom.mjs';
import { count, cut, jsonText, milliseconds } from './text.mjs';

/// The messages of a chat request and its answer; null for other requests.
export function conversation(exchange) {
  const sent = exchange.request.body?.json;
  const messages = Array.isArray(sent?.messages) ? sent.messages : null;
  if (!messages) return null;
  const said = answered(exchange.answer);
  return el('div', { class: 'conversation' },
    el('ol', {}, messages.map((message) => turn(message?.role, parts(message))),
      said.choices.map((choice) => turn('assistant', parts(choice.message), choice.note, 'answer')),
      said.error && turn('error', [text(said.error)], `status ${exchange.status}`, 'answer bad'),
      exchange.faults.map((fault) => turn('fault', el('p', {}, fault), 'scripted', 'answer bad')),
      exchange.chaos.map((strike) => turn('chaos', el('p', {}, strike), '', 'answer bad'))),
    said.usage && el('p', { class: 'muted' }, `Usage: ${cut(JSON.stringify(said.usage), 1000)}`),
    offered(sent));
}

/// The last text of the user in a chat request; empty if it has no such text.
export function lastUserText(body) {
  const messages = Array.isArray(body?.messages) ? body.messages : [];
  const content = messages.filter((message) => message?.role === 'user').pop()?.content;
  if (Array.isArray(content)) return content.map((part) => typeof part?.text === 'string' ? part.text : '').join('');
  return typeof content === 'string' ? content : '';
}

function turn(role, content, note, look = '') {
  return el('li', { class: `turn ${look}` },
    el('p', { class: 'role' }, cut(String(role ?? 'no role'), 60), note && el('span', { class: 'muted' }, ` ${note}`)), content);
}

/// The parts of a message, in reading order.
function parts(message) {
  if (message === null || typeof message !== 'object') return [value(message)];
  const { content, reasoning_content: thought, refusal, tool_calls: calls, tool_call_id: of } = message;
  return [
    of && el('p', { class: 'muted' }, 'result of ', el('code', {}, cut(String(of), 200))),
    thought && el('details', {}, el('summary', {}, 'Thinking'), text(thought)),
    typeof content === 'string' && content !== '' && text(content),
    Array.isArray(content) && content.map(part),
    content !== null && content !== undefined && typeof content !== 'string' && !Array.isArray(content) && value(content),
    refusal && el('div', {}, el('span', { class: 'badge warn' }, 'refusal'), text(refusal)),
    Array.isArray(calls) && calls.map(toolCall),
  ];
}

function part(one) {
  if (one?.type === 'text' && typeof one.text === 'string') return text(one.text);
  if (one?.type === 'image_url') return el('p', { class: 'part' }, el('span', { class: 'badge' }, 'image'), ' ', imageOf(one.image_url));
  return el('div', { class: 'part' }, el('span', { class: 'badge' }, cut(String(one?.type ?? 'part'), 60)), value(one));
}

/// The name of an image. The page loads nothing from other hosts, so it shows no image.
function imageOf(image) {
  const address = typeof image === 'string' ? image : image?.url;
  if (typeof address !== 'string') return value(image);
  const data = /^data:([\w/+.-]+);base64,/.exec(address);
  if (data) return `${data[1]}, ${count(Math.floor((address.length - data[0].length) * 3 / 4), 'byte')}`;
  return el('code', {}, cut(address, 300));
}

function toolCall(call) {
  const made = call?.function ?? call?.custom ?? {};
  return el('div', { class: 'call' },
    el('p', {}, el('span', { class: 'badge' }, 'calls'), ' ', el('code', {}, cut(String(made.name ?? 'no name'), 200)), ' ',
      call?.id && el('code', { class: 'muted' }, cut(String(call.id), 200))),
    laidOut(made.arguments ?? made.input ?? ''));
}

/// Arguments: a text with JSON, unless the model stopped early.
function laidOut(written) {
  if (typeof written !== 'string') return value(written);
  try {
    return text(jsonText(JSON.parse(written)));
  } catch {
    return text(written);
  }
}

function value(any) {
  return any === undefined || any === null ? null : text(jsonText(any));
}

/// The choices of an answer, joined if it was streamed, and its usage; or the text of its error.
function answered(answer) {
  const nothing = { choices: [], usage: null, error: null };
  if (!answer?.body) return nothing;
  const { json, text: written } = answer.body;
  if (answer.streamed) return joined(written ?? '');
  if (json?.error) return { ...nothing, error: cut(String(json.error.message ?? jsonText(json.error)), 4000) };
  if (!Array.isArray(json?.choices)) return nothing;
  return { ...nothing, usage: json.usage,
    choices: json.choices.map((choice) => ({ message: choice?.message ?? {}, note: ended(choice?.finish_reason) })) };
}

const ended = (reason) => (reason ? `finish_reason ${cut(String(reason), 60)}` : '');

function joined(body) {
  const choices = new Map();
  let usage = null;
  let error = null;
  for (const block of body.split(/\r\n\r\n|\n\n|\r\r/)) {
    const data = block.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart()).join('\n');
    if (!data || data === '[DONE]') continue;
    let chunk;
    try {
      chunk = JSON.parse(data);
    } catch {
      continue; // the section Answer shows it
    }
    usage = chunk?.usage ?? usage;
    if (chunk?.error) error = cut(String(chunk.error.message ?? jsonText(chunk.error)), 4000);
    for (const { index = 0, delta, finish_reason: reason } of Array.isArray(chunk?.choices) ? chunk.choices : []) {
      const choice = choices.get(index) ?? choices.set(index, { message: { tool_calls: [] }, note: 'no finish_reason' }).get(index);
      if (reason) choice.note = ended(reason);
      for (const name of ['content', 'reasoning_content', 'refusal'])
        if (typeof delta?.[name] === 'string') choice.message[name] = (choice.message[name] ?? '') + delta[name];
      for (const call of Array.isArray(delta?.tool_calls) ? delta.tool_calls : []) joinCall(choice.message.tool_calls, call);
    }
  }
  const all = [...choices].sort(([one], [other]) => one - other).map(([, choice]) => choice);
  return { choices: all, usage, error };
}

function joinCall(calls, piece) {
  const at = Number.isInteger(piece?.index) && piece.index >= 0 && piece.index < 1000 ? piece.index : calls.length;
  const call = calls[at] ??= { id: '', function: { name: '', arguments: '' } };
  if (piece?.id) call.id = piece.id;
  for (const name of ['name', 'arguments']) {
    const more = piece?.function?.[name] ?? (name === 'arguments' ? piece?.custom?.input : piece?.custom?.name);
    if (typeof more === 'string') call.function[name] += more;
  }
}

/// The tools of the request: their names, and the definitions behind a click.
function offered({ tools }) {
  if (!Array.isArray(tools) || tools.length === 0) return null;
  const names = tools.map((tool) => cut(String(tool?.function?.name ?? tool?.custom?.name ?? tool?.type ?? '?'), 60));
  return el('details', {}, el('summary', { 'data-focus': 'tools' }, `Offered ${count(tools.length, 'tool')}: ${cut(names.join(', '), 300)}`), value(tools));
}

/// The answer as sent: head, body, and the events of a stream with their times.
export function rawAnswer(answer, body) {
  if (!answer) return el('p', {}, 'The journal kept nothing of it.');
  const most = 500;
  return [
    answer.interim.length > 0 && el('p', {}, `Interim responses: ${answer.interim.map((one) => one.status).join(', ')}`),
    answer.status === null && el('p', {}, 'The gateway sent no status line.'),
    answer.headers.length > 0 && text(answer.headers.map(([name, field]) => `${name}: ${field}`).join('\n')),
    answer.streamed && answer.parts.length > 0 && el('ol', { class: 'events' }, answer.parts.slice(0, most).map((one) => el('li', {},
      el('span', { class: 'muted' }, milliseconds(one.at_ms), ' '),
      text(one.text === undefined ? `base64 ${one.base64}` : one.text.trimEnd(), { most: 300, tag: 'span', name: 'value', compact: true })))),
    answer.streamed && answer.parts.length > most && el('p', {}, `and ${count(answer.parts.length - most, 'more event')}`),
    !answer.streamed && answer.body && body(answer.body, 'the answer'),
    answer.left_out > 0 && el('p', {}, `${count(answer.left_out, 'more byte')} not shown.`),
    answer.garbage && el('p', {}, 'Bytes followed the body that belong to no answer.'),
    answer.is_cut && el('p', {}, 'The journal keeps no more than max_body of it.'),
  ];
}
