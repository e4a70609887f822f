// The files that are served, their mistakes and warnings; checking and mounting a script.

import { call, get } from './api.mjs';
import { add, button, editor, el, field, form, problems, refill, say, text } from './dom.mjs';
import { live } from './live.mjs';
import { count, jsonText } from './text.mjs';

const example = '{\n  "mock_gateway": 1,\n  "stubs": [\n    {"reply": "Hello."}\n  ]\n}\n';

export function showScript(main, { signal }) {
  const served = el('div');
  const refresh = live(async (ended) => {
    const [script, root] = await Promise.all([get('/script', ended), get('', ended)]);
    return { ...script, failed: root.script };
  }, (script) => refill(served, described(script)), { signal });
  add(main, served, mounting(refresh));
  return refresh();
}

function described({ files, problems: mistakes, warnings, document: mounted, stubs, failed }) {
  const wrong = mistakes.length > 0 ? mistakes : failed.problems;
  return [
    el('section', {}, el('h2', {}, 'Files'),
      files.length > 0 ? el('ul', {}, files.map((file) => el('li', {}, el('code', {}, file)))) : el('p', {}, 'The gateway serves no script file.'),
      el('p', {}, el('a', { href: '#/stubs', 'data-focus': 'stubs' }, count(stubs.length, 'stub')), ' in total, with those mounted by hand.')),
    failed.errors.length > 0 && el('section', {}, el('h2', {}, 'Mistakes'),
      el('p', {}, wrong.length > 0 ? 'The file has mistakes. The gateway still serves its last valid content.' : 'Earlier versions of the file had mistakes. Its present version is served.'),
      wrong.length > 0 ? problems(wrong) : el('ul', {}, failed.errors.map((error) => el('li', {}, text(error, { most: 2000 }))))),
    warnings.length > 0 && el('section', {}, el('h2', {}, 'Warnings'), problems(warnings)),
    mounted !== null && el('section', {}, el('h2', {}, 'Mounted by this page or the API'), text(jsonText(mounted), { most: 6000 })),
  ];
}

function mounting(refresh) {
  const document = editor(14, { placeholder: example });
  const result = el('div', { role: 'status' });
  const check = async () => {
    const answer = await call('PUT', '/script?check=1', document.value);
    refill(result, el('p', {}, el('strong', {}, answer.ok ? 'The script is valid.' : 'The script is not valid.')), problems(answer.problems));
  };
  return el('section', {}, el('h2', {}, 'Check or mount a script'), form(async () => {
    result.replaceChildren();
    const { stubs, warnings } = await call('PUT', '/script', document.value);
    await refresh();
    refill(result, warnings.length > 0 && problems(warnings));
    say(`The script is mounted: ${count(stubs.length, 'stub')}.`);
  }, field('Script', document, 'Comments are allowed; "gateway" is not. The script replaces the one mounted here before. Files stay.'),
  el('div', { class: 'row' }, button('Check', check), el('button', {}, 'Mount')), result));
}
