// Elements, forms, tables; where long texts are cut; messages; what keeps the focus.

import { count, cut, place, runs, visible } from './text.mjs';

/// Text nodes, and a marked span for each run of hidden characters.
export function shown(text) {
  const fragment = document.createDocumentFragment();
  const parts = runs(String(text));
  // So many spans would freeze the page; escapes then stand in the text unmarked.
  if (parts.length > 2000) return document.createTextNode(parts.join(''));
  parts.forEach((part, index) => {
    if (index % 2 === 1) fragment.append(plain('span', 'escape', part));
    else if (part) fragment.append(document.createTextNode(part));
  });
  return fragment;
}

function plain(tag, name, text) {
  const made = document.createElement(tag);
  made.className = name;
  made.textContent = text;
  return made;
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

/// JSON or an address, which may go on in the next line behind a comma, a bracket or a slash.
function breakable(line) {
  return line.split(/(?<=[,{[:/])/).flatMap((piece) => [piece, el('wbr')]);
}

/// A text of any length: its beginning, and a button that shows the rest. What a text is cut to depends on its place.
/// `compact`: it has long runs without a space, as JSON and addresses do.
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

/// The browser lays out only those pieces of a long text that are in view.
function pieces(whole) {
  const all = [];
  for (let at = 0; at < whole.length; ) {
    const piece = cut(whole.slice(at, at + 8001), 8000);
    all.push(add(el('span', { class: 'piece' }), piece));
    at += piece.length;
  }
  return all;
}

/// Lets the browser save a text as a file, as a link to one would.
export function save(name, content) {
  const address = URL.createObjectURL(new Blob([content], { type: 'application/json' }));
  const link = el('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has taken what it saves by the time it runs the next task.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}

/// A button. While its action runs it cannot be pressed again, and keeps the focus.
export function button(label, action, properties = {}) {
  let busy = false;
  const made = el('button', { type: 'button', ...properties, click: press }, label);
  async function press() {
    if (busy) return;
    busy = true;
    made.setAttribute('aria-disabled', 'true');
    try {
      await action();
    } catch (error) {
      report(error);
    } finally {
      busy = false;
      made.removeAttribute('aria-disabled');
    }
  }
  return made;
}

/// A form that calls `action` when it is submitted, by button or by Enter, and shows there what went wrong.
export function form(action, ...children) {
  const problem = el('div', { role: 'alert' });
  let busy = false;
  const made = el('form', { submit: submit, novalidate: true }, children, problem);
  async function submit(event) {
    event.preventDefault();
    if (busy) return;
    busy = true;
    problem.replaceChildren();
    try {
      await action();
    } catch (error) {
      if (error.name !== 'AbortError') add(problem, explained(error));
    } finally {
      busy = false;
    }
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
export function editor(rows, value = '') {
  const made = el('textarea', { rows, spellcheck: 'false', class: 'code' });
  made.value = value;
  return made;
}

export function select(options, properties = {}) {
  return el('select', properties, options.map(([value, label]) => {
    const option = el('option', {}, label);
    option.value = value;
    return option;
  }));
}

/// Says something to the reader, and to a screen reader. A dialog hides the rest of the page, so it is said there.
export function say(...what) {
  const said = [...document.querySelectorAll('dialog[open] > .said')].pop() ?? document.getElementById('said');
  said.replaceChildren();
  const close = () => said.replaceChildren();
  add(said, el('p', {}, what), el('button', { type: 'button', class: 'small', click: close }, 'Dismiss'));
}

export function report(error) {
  if (error.name !== 'AbortError') say(explained(error));
}

export function explained(error) {
  const list = error.problems && error.problems.length > 0 ? problems(error.problems) : null;
  return el('div', { class: 'problem' }, el('strong', {}, 'That did not work. '), list ? null : error.message, list);
}

/// The class of a badge by what a severity weighs; a note has none.
export function badgeOf(severity) {
  return { error: 'bad', warning: 'warn' }[severity] ?? '';
}

/// Problems of a script: place, message, and the source line with a caret under the place.
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
  // A long line, as of a file without line ends, is shown around the place.
  const before = characters.slice(Math.max(0, place - 59), place).join('');
  const after = characters.slice(place, place + 61).join('');
  // The invisible copy of the text puts the caret under its place whatever the widths of the characters are.
  return el('pre', { class: 'source', tabindex: 0 }, el('span', {}, before, after), '\n',
    el('span', { class: 'caret', 'aria-hidden': 'true' }, el('span', { class: 'unseen' }, before), '^'));
}

/// The buttons of a row: one stop of the Tab key, within which the arrow keys go on (the toolbar of ARIA's practices).
export function toolbar(label, ...buttons) {
  const made = add(el('div', { class: 'row', role: 'toolbar', 'aria-label': label, focusin: stopHere, keydown: move }), buttons);
  const stops = () => [...made.querySelectorAll('button, a[href]')];
  function stopHere({ target }) {
    for (const each of stops()) each.tabIndex = each === target ? 0 : -1;
  }
  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const all = stops();
    event.preventDefault();
    all[(all.indexOf(event.target) + step + all.length) % all.length].focus();
  }
  stops().forEach((each, index) => { each.tabIndex = index === 0 ? 0 : -1; });
  return made;
}

/// JSON with its keys, texts, numbers and words told apart by colour.
export function highlighted(json) {
  const body = el('pre', { class: 'text', tabindex: 0 });
  let end = 0;
  for (const match of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g)) {
    const look = match[1] === undefined ? 'literal' : match[2] ? 'key' : 'string';
    add(body, json.slice(end, match.index), el('span', { class: `code-${look}` }, match[1] ?? match[0]), match[2]);
    end = match.index + match[0].length;
  }
  return add(body, json.slice(end));
}

/// Puts new content into a container. The focus goes to the element whose data-focus is that of the one that had it,
/// and details whose summary has the same data-focus stay open.
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

/// Pairs of name and value; those without a value are left out.
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false);
  return el('dl', {}, shown.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}

/// A table that becomes a list of cards on a narrow screen. `rows` are lists of cells, each a node or a text.
export function table(caption, headings, rows, properties = {}) {
  return el('table', { class: 'cards', ...properties },
    el('caption', {}, caption),
    el('thead', {}, el('tr', {}, headings.map((heading) => el('th', { scope: 'col' }, heading)))),
    el('tbody', {}, rows.map((cells) => row(headings, cells))));
}

export function row(headings, cells, properties = {}) {
  return el('tr', properties, cells.map((cell, index) => el('td', { 'data-label': headings[index] }, el('div', {}, cell))));
}
