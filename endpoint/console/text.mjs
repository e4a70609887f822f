// How times and numbers are written; which characters are shown as escapes.

const HIDDEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/// "\u202e" for U+202E.
function escaped(character) {
  const code = character.codePointAt(0);
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/// The text with an escape in place of each hidden character.
export function visible(text) {
  return String(text).replace(HIDDEN, escaped);
}

/// Splits a text into runs: even elements are visible text, odd ones the escapes of hidden characters.
export function runs(text) {
  return text.split(new RegExp(`((?:${HIDDEN.source})+)`, 'u')).map((part, index) => index % 2 === 1 ? visible(part) : part);
}

/// JSON with escapes in place of hidden characters.
export function jsonText(value, indent = 2) {
  return JSON.stringify(value, null, indent).replace(HIDDEN, (character) =>
    character.split('').map((unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0')).join(''));
}

/// Cuts a text to so many UTF-16 units, without half a character at the end.
export function cut(text, most) {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

export function count(number, noun) {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

/// "14:03:07.120", in the reader's time zone.
export function timeOfDay(moment) {
  const date = new Date(moment);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/// "2026-11-22 14:03:07", in the reader's time zone. Sweden writes dates in this order.
export function dayAndTime(moment) {
  return `${new Date(moment).toLocaleDateString('sv')} ${timeOfDay(moment).slice(0, 8)}`;
}

/// "350 ms", "1.25 s".
export function milliseconds(number) {
  if (number === null || number === undefined) return '–';
  if (number < 1000) return `${Number(number.toFixed(number < 10 ? 2 : 0))} ms`;
  if (number < 120000) return `${Number((number / 1000).toFixed(2))} s`;
  return `${(number / 60000).toFixed(1)} min`;
}

/// "demo.jsonc:14", without the folder; empty if there is no file.
export function place(thing) {
  if (!thing || !thing.file) return '';
  const file = thing.file.slice(thing.file.lastIndexOf('/') + 1);
  return thing.line ? `${file}:${thing.line}` : file;
}
