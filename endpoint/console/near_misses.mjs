// The closest stubs of a request, condition by condition.

import { el, placed, text } from './dom.mjs';
import { cut } from './text.mjs';

export function stubName(stub) {
  return stub.name || stub.title || `stub ${stub.id}`;
}

/// The conditions of each stub, with a mark for whether they hold. Functions of a test are not called again. `focus` makes the
/// links of several lists distinct.
export function nearMisses(list, focus = 'near') {
  const marks = new Map([[true, ['✔', 'holds', 'good']], [false, ['✘', 'does not hold', 'bad']], [null, ['?', 'not checked', '']]]);
  return el('ol', { class: 'near' }, list.map((near) => el('li', {},
    el('p', {}, el('a', { href: `#/stubs/${near.stub.id}`, 'data-focus': `${focus}:stub:${near.stub.id}` }, cut(stubName(near.stub), 200)), ' ', placed(near.stub),
      ` ${near.matched} of ${near.total} conditions`, near.passed_over && `; skipped: ${near.passed_over}`),
    el('ul', {}, near.conditions.map(({ holds, depth, expected, actual }) => {
      const [mark, said, look] = marks.get(holds);
      return el('li', { class: `depth-${Math.min(depth, 4)}` },
        el('span', { class: `mark ${look}`, role: 'img', 'aria-label': said }, mark), ' ', cut(expected, 1000),
        actual !== null && [el('span', { class: 'actual' }, ' actual '), text(actual, { most: 300, tag: 'span', name: 'value' })]);
    })))));
}
