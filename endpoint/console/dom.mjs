// Elements, texts, forms, tables, messages to the reader; refilling without losing the focus.

import { count, cut, place, runs, visible } from './text.mjs';

/// Text nodes, and a marked span for each run of hidden characters.
export function shown(text) {
  const fragment = document.createDocumentFragment();
  const parts = runs(String(text));
  // More spans would freeze the page. The escapes are then unmarked.
  if (parts.length > 2000) return document.createTextNode(parts.join(''));
  parts.forEach((part, index) => {
    const isEscape = index % 2 === 1;
    fragment.append(isEscape ? Object.assign(document.createElement('span'), { className: 'escape', textContent: part }) : part);
  });
  return fragment;
}

function fill(made, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? '' : visible(value));
  }
  add(made, children);
  return made;
}

export function add(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : shown(child));
  }
  return parent;
}

/// An element. A property that is a function listens to the event of that name; any other is an attribute.
export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), properties, children);
}

/// JSON or an address, which may break after a comma, a bracket, a colon or a slash.
function breakable(line) {
  return line.split(/(?<=[,{[:/])/).flatMap((piece) => [piece, el('wbr')]);
}

/// The first `most` characters of a text, and a button that shows the rest. `compact`: the text has long runs without a space,
/// as JSON and addresses do.
export function text(value, { most = 2000, tag = 'pre', name = 'text', focus, compact = false } = {}) {
  const whole = String(value);
  const box = el('div', { class: 'cut' });
  // A region that scrolls takes the focus, so that keys can scroll it.
  const body = el(tag, tag === 'pre' ? { class: name, tabindex: 0, dir: 'auto', 'data-focus': focus } : { class: name, dir: 'auto' });
  const beginning = cut(whole, most);
  add(body, compact ? breakable(beginning) : beginning);
  add(box, body);
  if (whole.length > most) {
    add(body, '…');
    const rest = el('button', { type: 'button', class: 'small', click: showAll }, `Show all (${count(whole.length, 'character')})`);
    add(box, rest);
    function showAll() {
      body.replaceChildren(...pieces(whole));
      rest.remove();
      body.tabIndex = 0;
      body.focus();
    }
  }
  return box;
}

/// A message in prose; one with several lines is laid out, and keeps its columns.
export function message(value, focus) {
  return value.includes('\n') ? text(value, { focus }) : text(value, { tag: 'p', name: 'value' });
}

/// Splits a long text, so that the browser lays out only the pieces in view.
function pieces(whole) {
  const all = [];
  for (let at = 0; at < whole.length; ) {
    const piece = cut(whole.slice(at, at + 8001), 8000);
    all.push(add(el('span', { class: 'piece' }), piece));
    at += piece.length;
  }
  return all;
}

/// Saves a text as a file, and says so.
export function save(name, content) {
  const address = URL.createObjectURL(new Blob([content], { type: 'application/json' }));
  const link = el('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has read the text by the time it runs the next task.
  setTimeout(() => URL.revokeObjectURL(address), 0);
  say(`Saved: ${name}.`);
}

/// Runs an action, unless the element's last one still runs. The element keeps the focus meanwhile.
async function run(made, action, failed) {
  if (made.getAttribute('aria-disabled')) return;
  made.setAttribute('aria-disabled', 'true');
  try {
    await action();
  } catch (error) {
    if (error.name !== 'AbortError') failed(error);
  } finally {
    made.removeAttribute('aria-disabled');
  }
}

export function button(label, action, properties = {}) {
  const made = el('button', { type: 'button', ...properties, click: () => run(made, action, report) }, label);
  return made;
}

/// A form that calls `action` when it is submitted, by button or Enter, and shows its errors.
export function form(action, ...children) {
  const problem = el('div', { role: 'alert' });
  const made = el('form', { submit, novalidate: true }, children, problem);
  function submit(event) {
    event.preventDefault();
    run(made, () => {
      problem.replaceChildren();
      return action();
    }, (error) => add(problem, explained(error)));
  }
  return made;
}

let fields = 0;

/// An input with its label, and a hint that describes it.
export function field(label, input, hint) {
  input.id = `field-${++fields}`;
  if (hint) input.setAttribute('aria-describedby', `${input.id}-hint`);
  return el('div', { class: 'field' }, el('label', { for: input.id }, label), input, hint && el('small', { id: `${input.id}-hint` }, hint));
}

/// A text area for JSON.
export function editor(rows, { value = '', placeholder }) {
  const made = el('textarea', { rows, spellcheck: 'false', class: 'code', placeholder });
  made.value = value;
  return made;
}

/// A selection. An option is its value, or a pair of value and label.
export const select = (options, value) => withOptions(el('select'), options, value);

/// Replaces the options and keeps the selected one, even if the new options lack it.
export function withOptions(made, options, value = made.value) {
  made.replaceChildren(...options.map((option) => {
    const [own, label = own] = [option].flat();
    return new Option(visible(label), own);
  }));
  if (!value) return made;
  if (![...made.options].some((option) => option.value === value)) made.append(new Option(visible(value), value));
  made.value = value;
  return made;
}

/// Shows a message, also to screen readers. An open dialog shows it, because it hides the rest of the page.
export function say(...what) {
  const said = [...document.querySelectorAll('dialog[open] > .said')].pop() ?? document.getElementById('said');
  said.replaceChildren();
  const close = () => said.replaceChildren();
  add(said, el('p', {}, what), el('button', { type: 'button', class: 'small', click: close }, 'Dismiss'));
}

export function report(error) {
  if (error.name !== 'AbortError') say(explained(error));
}

function explained(error) {
  const list = error.problems?.length > 0 && problems(error.problems);
  return el('div', { class: 'problem' }, el('strong', {}, 'That did not work. '), !list && error.message, list);
}

/// The class of a badge for a severity.
export function badgeOf(severity) {
  return { error: 'bad', warning: 'warn' }[severity] ?? '';
}

/// Problems of a script: place, message, and the source line with a caret.
export function problems(list) {
  return el('ul', { class: 'problems' }, list.map((problem) => {
    const where = placed(problem, problem.line && problem.column ? `:${problem.column}` : '');
    return el('li', { class: problem.severity },
      el('span', { class: 'badge ' + badgeOf(problem.severity) }, problem.severity), ' ',
      where, ' ', problem.pointer && [el('code', {}, cut(problem.pointer, 200)), ' '],
      cut(problem.message, 2000), source(problem));
  }));
}

/// File and line; the whole path is in its title.
export function placed(thing, more = '') {
  const where = place(thing) || (thing?.line ? String(thing.line) : '');
  return where && el('code', { title: thing.file || null }, where + more);
}

function source({ source: line, column, source_column: first }) {
  if (!line) return null;
  const characters = Array.from(line);
  const place = Math.max(column - first, 0);
  // Of a long line only the part around the place is shown.
  const before = characters.slice(Math.max(0, place - 59), place).join('');
  const after = characters.slice(place, place + 61).join('');
  // An invisible copy of the text puts the caret in its place, for characters of any width.
  return el('pre', { class: 'source', tabindex: 0 }, el('span', {}, before, after), '\n',
    el('span', { class: 'caret', 'aria-hidden': 'true' }, el('span', { class: 'unseen' }, before), '^'));
}

/// Replaces the content of a container. The element with the same data-focus keeps the focus, and details whose summary has
/// the same data-focus stay open.
export function refill(container, ...children) {
  const focused = container.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
  const open = [...container.querySelectorAll('details[open] > summary')].map((summary) => summary.dataset.focus);
  container.replaceChildren();
  add(container, children);
  for (const summary of container.querySelectorAll('details > summary')) {
    if (open.includes(summary.dataset.focus)) summary.parentElement.open = true;
  }
  if (focused === undefined) return;
  const again = container.querySelector(`[data-focus="${CSS.escape(focused)}"]`);
  if (again) again.focus();
  else document.querySelector('#main h1')?.focus();
}

/// A list of names and values, without the pairs that have no value.
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== false && value.length !== 0);
  return el('dl', {}, shown.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}

/// Columns of numbers are aligned to the right.
const NUMBERS = ['#', 'Order', 'Calls', 'Requests', 'Took'];
const alignment = (heading) => NUMBERS.includes(heading) && 'number';

/// A table that becomes a list of cards on a narrow screen. `rows` are lists of cells, each a node or a text.
export function table(caption, headings, rows, properties = {}) {
  return el('table', { class: 'cards', ...properties },
    el('caption', {}, caption),
    el('thead', {}, el('tr', {}, headings.map((heading) => el('th', { scope: 'col', class: alignment(heading) }, heading)))),
    el('tbody', {}, rows.map((cells) => row(headings, cells))));
}

export function row(headings, cells, properties = {}) {
  return el('tr', properties, cells.map((cell, index) => el('td', { 'data-label': headings[index], class: alignment(headings[index]) }, el('div', {}, cell))));
}
