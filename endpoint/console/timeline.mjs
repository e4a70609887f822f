// The timeline of an exchange: its events, tokens and marks.

import { el, svg } from './dom.mjs';
import { count, milliseconds } from './text.mjs';

const LEFT = 70;
const RIGHT = 16;
const HEIGHT = 150;
const lanes = [['event', 'Events', 40], ['token', 'Tokens', 70], ['mark', 'Marks', 100]];

export function timeline(exchange, signal) {
  const marks = marksOf(exchange);
  const events = exchange.events ?? [];
  const end = Math.max(exchange.ended_ms ?? 0, exchange.first_byte_ms ?? 0, ...marks.map((mark) => mark.at),
    events.length > 0 ? events[events.length - 1].at_ms : 0, 0.1);
  const told = inWords(events, marks);
  const box = el('div', { class: 'timeline' });
  const draw = () => box.replaceChildren(picture(events, marks, end, Math.max(box.clientWidth, 280), told));
  // Drawn to the available width, so that letters keep their size on a phone.
  const observer = new ResizeObserver(draw);
  observer.observe(box);
  signal.addEventListener('abort', () => observer.disconnect());
  return [box, el('ul', { class: 'legend' }, marks.map((mark) => el('li', {},
    el('span', { class: `mark ${mark.look}`, 'aria-hidden': 'true' }, mark.sign), ` ${mark.text}`,
    mark.at === null ? '' : `, at ${milliseconds(mark.at)}`)))];
}

/// The first byte, the faults, the client's departure and the end. The journal has no time of a fault: take the time of the
/// event or token that it followed, or the end of the answer that it broke.
function marksOf(exchange) {
  const marks = [];
  const put = (sign, look, at, text) => marks.push({ sign, look, at, text });
  if (exchange.first_byte_ms !== null) put('▸', 'good', exchange.first_byte_ms, 'First byte');
  for (const kind of ['Fault', 'Chaos']) {
    for (const fault of kind === 'Fault' ? exchange.faults : exchange.chaos)
      put('⚡', 'bad', fault.endsWith(': not reached') ? null : timeOfFault(exchange, fault), `${kind}: ${fault}`);
  }
  if (exchange.departure) {
    const at = new Date(exchange.departure.at) - new Date(exchange.received);
    put('✕', 'warn', Math.max(at, 0), `The client left (${exchange.departure.how})`);
  }
  if (exchange.ended_ms !== null) put('■', '', exchange.ended_ms, `End: ${exchange.outcome}`);
  return marks.map((mark) => ({ ...mark, at: mark.at ?? null }));
}

function timeOfFault(exchange, fault) {
  const after = /after (?:(event|token) (\d+)|(\d+) (event|token)s?)/.exec(fault);
  if (after) {
    const found = of(exchange.events ?? [], after[1] ?? after[4])[Number(after[2] ?? after[3]) - 1];
    if (found) return found.at_ms;
  }
  return exchange.outcome === 'broken by fault' ? exchange.ended_ms : null;
}

/// All events, or the events that carried a token.
function of(events, kind) {
  return kind === 'event' ? events : events.filter((event) => event.kind === kind);
}

function inWords(events, marks) {
  const timed = marks.filter((mark) => mark.at !== null).map((mark) => `${mark.text} at ${milliseconds(mark.at)}`);
  return `${count(events.length, 'event')}, ${count(of(events, 'token').length, 'token')}. ${timed.join('. ')}.`;
}

function picture(events, marks, end, width, told) {
  const x = (at) => LEFT + (at / end) * (width - LEFT - RIGHT);
  const drawing = svg('svg', { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: 'img', 'aria-label': `Timeline: ${told}` });
  for (const [kind, name, y] of lanes) {
    drawing.append(svg('text', { x: 0, y: y + 4 }, name),
      svg('line', { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: 'rule' }));
    if (kind !== 'mark') drawing.append(svg('path', { d: strokes(events, kind, y, x), class: `stroke ${kind}` }));
  }
  for (const at of ticks(end, width)) {
    drawing.append(svg('line', { x1: x(at), x2: x(at), y1: 24, y2: 112, class: 'tick' }),
      svg('text', { x: x(at), y: 130, 'text-anchor': at === 0 ? 'start' : 'middle' }, milliseconds(at)));
  }
  // Marks of the same moment are next to each other.
  let free = 0;
  for (const mark of marks.filter((each) => each.at !== null).sort((one, other) => one.at - other.at)) {
    const at = Math.min(Math.max(x(mark.at), free), width - 8);
    free = at + 14;
    drawing.append(svg('line', { x1: x(mark.at), x2: x(mark.at), y1: 30, y2: 92, class: `moment ${mark.look}` }),
      svg('text', { x: at, y: 105, class: `sign ${mark.look}`, 'text-anchor': 'middle' }, mark.sign));
  }
  return drawing;
}

/// One path for all events of a kind. Events at the same place are drawn once.
function strokes(events, kind, y, x) {
  const places = new Set(of(events, kind).map((event) => x(event.at_ms).toFixed(1)));
  return [...places].map((at) => `M${at} ${y - 9}V${y + 9}`).join('') || 'M0 0';
}

/// Round times, about one per hundred pixels.
function ticks(end, width) {
  const rough = end / Math.max(2, Math.floor((width - LEFT) / 100));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  const all = [];
  for (let number = 0; number * step <= end; ++number) all.push(Number((number * step).toPrecision(6)));
  return all;
}
