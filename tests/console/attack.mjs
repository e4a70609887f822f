// Attacks on the control API that a page of another origin can try in a browser. Each attack results in 'nothing' or in
// the data that it got. The page's fragment (#) contains the address to attack.
const { target, token } = location.hash === '#none' ? {} : JSON.parse(decodeURIComponent(location.hash.slice(1)));
const api = `${target}/control/v1`;
const json = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
const results = {};

/// Returns the value of a promise, or 'nothing' if the browser refuses.
const got = (promise) => promise.then((value) => value ? String(value) : 'nothing', () => 'nothing');
const read = (path, init) => got(fetch(api + path, init).then((response) => response.text()));
/// Sends a request that a browser lets a page send but whose response the page must not read.
const send = (path, init) => got(fetch(api + path, { mode: 'no-cors', ...init }).then((response) => response.type === 'opaque' ? '' : response.text()));

/// Adds an element and returns what `look` sees when the element has loaded, or 'nothing' if it failed.
function element(tag, properties, look = () => '') {
  return got(new Promise((resolve) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.onload = () => { try { resolve(look(made)); } catch { resolve(''); } };
    made.onerror = () => resolve('');
    setTimeout(() => resolve(''), 2000);
    document.body.append(made);
  }));
}

function submit(path, encoding, content) {
  return new Promise((resolve) => {
    const frame = Object.assign(document.createElement('iframe'), { name: `frame${path}` });
    const form = Object.assign(document.createElement('form'), { action: api + path, method: 'POST', enctype: encoding, target: frame.name });
    form.append(Object.assign(document.createElement('input'), { name: content, value: '' }));
    document.body.append(frame, form);
    frame.onload = () => { try { resolve(frame.contentDocument?.body?.textContent || 'nothing'); } catch { resolve('nothing'); } };
    form.submit();
    setTimeout(() => resolve('nothing'), 2000);
  });
}

function socket(path) {
  return got(new Promise((resolve) => {
    const made = new WebSocket(target.replace('http', 'ws') + path);
    made.onopen = () => resolve('open');
    made.onerror = () => resolve('');
  }));
}

if (target) {
  results['read the root'] = await read('');
  results['read with the token'] = await read('/keys', { headers: json });
  results['read the journal with cookies'] = await read('/journal', { credentials: 'include' });
  results['create a key'] = await read('/keys', { method: 'POST', headers: json, body: '{"name": "evil"}' });
  results['delete the journal'] = await read('/journal', { method: 'DELETE', headers: json });
  results['stop, as a simple request'] = await send('/stop', { method: 'POST' });
  results['create a key, as a simple request'] = await send('/keys', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: '{"name": "evil"}' });
  results['stop by a form'] = await submit('/stop', 'text/plain', '{"name": "evil", "x": "');
  results['create a key by a form'] = await submit('/keys', 'application/x-www-form-urlencoded', 'name');
  results['run an answer as a script'] = await element('script', { src: `${api}/keys` }, () => Object.keys(window).filter((name) => /keys|journal/.test(name)).join());
  results['import a module of the page'] = await got(import(`${target}/api.mjs`).then((module) => Object.keys(module).join()));
  results['show an answer as a picture'] = await element('img', { src: `${api}/journal` }, (made) => made.naturalWidth || '');
  results['load the style sheet'] = await element('link', { rel: 'stylesheet', href: `${target}/style.css` }, (made) => [...made.sheet.cssRules].length);
  results['frame the page'] = await element('iframe', { src: `${target}/` }, (made) => made.contentDocument?.body?.textContent ?? '');
  results['frame an answer'] = await element('iframe', { src: `${api}/keys` }, (made) => made.contentDocument?.body?.textContent ?? '');
  results['open a socket'] = await socket('/control/v1/journal');
  results['send a beacon'] = (navigator.sendBeacon(`${api}/stop`), 'nothing');
  window.results = results;
}
