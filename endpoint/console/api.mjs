// Calls of the control API; the token of the tab.

const NAME = 'mock-gateway-control-token';

/// A refusal of the gateway. Status 0: the gateway did not answer.
const refusal = (status, message, problems = []) => Object.assign(new Error(message), { status, problems });

/// Dispatches "refused" if the gateway refuses the token, "lost" if it does not answer, "found" if it answers.
export const connection = new EventTarget();

export const hasToken = () => sessionStorage.getItem(NAME) !== null;
export const keepToken = (token) => sessionStorage.setItem(NAME, token);
export const dropToken = () => sessionStorage.removeItem(NAME);

/// Whether a header can carry the text.
export const isToken = (text) => /^[!-~]+$/.test(text);

/// Decodes a part of the address. Returns it unchanged if its escapes are broken.
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/// Removes a secret from the address bar and from this entry of the tab's history. Returns {name, value} of "#code=…" or
/// "#token=…", and undefined for the address of a view. The token is not used, because browsers keep addresses.
export function takeSecretFromAddress() {
  const match = /^#(code|token)=(.*)/.exec(location.hash);
  if (!match) return undefined;
  history.replaceState(null, '', location.pathname + '#/journal');
  return { name: match[1], value: decoded(match[2]) };
}

/// Sends a request of the API with this bearer token.
const ask = (method, path, bearer, init = {}) => fetch('/control/v1' + path, { ...init, method, cache: 'no-store',
  credentials: 'omit', redirect: 'error', headers: { ...init.headers, Authorization: `Bearer ${bearer}` } });

/// Exchanges the code of an address for the token, and keeps the token. Returns the reason if that fails.
export async function exchangeCode(code) {
  if (!isToken(code)) return 'The address has no code.';
  try {
    const response = await ask('POST', '/session', code);
    const answer = await response.json();
    if (!response.ok) return { used_code: 'This address was already used. The program prints a new one on its terminal.',
      late_code: 'This address is older than a minute. The program prints a new one on its terminal.',
      wrong_code: 'Unknown code: the gateway may have restarted. Open the address it printed last.',
    }[answer.code] ?? answer.message;
    keepToken(answer.token);
  } catch {
    return 'The gateway does not answer. Is it still running?';
  }
  return undefined;
}

/// Whether the gateway accepts the token. Also true if the gateway does not answer.
async function isTaken(token) {
  try {
    return (await ask('GET', '', token)).status !== 401;
  } catch {
    return true;
  }
}

/// Whether this tab has a token that the gateway accepts.
export const hasGoodToken = async () => hasToken() && isTaken(sessionStorage.getItem(NAME));

const tabs = new BroadcastChannel(NAME);
tabs.addEventListener('message', ({ data }) => {
  if (data === 'ask' && hasToken()) tabs.postMessage({ token: sessionStorage.getItem(NAME) });
});

/// Takes the token from another open tab of this console, if the gateway accepts it.
export async function takeTokenFromOtherTab() {
  if (hasToken()) return;
  const offered = [];
  const hear = ({ data }) => {
    if (typeof data?.token === 'string' && isToken(data.token)) offered.push(data.token);
  };
  tabs.addEventListener('message', hear);
  tabs.postMessage('ask');
  const end = performance.now() + 300;  // an open tab answers within a few milliseconds
  while (offered.length === 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
  tabs.removeEventListener('message', hear);
  for (const token of new Set(offered)) {
    if (!await isTaken(token)) continue;
    keepToken(token);
    return;
  }
}

/// Calls the control API. Sends a text as it is, and any other body as JSON.
export async function call(method, path, body, signal) {
  const { isJson, content } = await answerOf(method, path, body, signal);
  return isJson && content ? parsed(content) : content;
}

export const get = (path, signal) => call('GET', path, undefined, signal);

/// Returns the answer as text.
export async function getText(path) {
  return (await answerOf('GET', path)).content;
}

async function answerOf(method, path, body, signal) {
  const init = { signal };
  if (body !== undefined) {
    init.headers = { 'Content-Type': 'application/json' };
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  let response, content;
  try {
    response = await ask(method, path, sessionStorage.getItem(NAME) ?? '', init);
    content = await response.text();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    connection.dispatchEvent(new Event('lost'));
    throw refusal(0, 'The gateway does not answer. Is it still running?');
  }
  connection.dispatchEvent(new Event('found'));
  const isJson = (response.headers.get('Content-Type') ?? '').startsWith('application/json');
  if (response.ok) return { isJson, content };
  const answer = isJson && content ? parsed(content) : {};
  if (response.status === 401) connection.dispatchEvent(new Event('refused'));
  throw refusal(response.status, answer.message ?? `The gateway answered ${response.status}.`, answer.problems);
}

/// Parses JSON and keeps integers that a JavaScript number cannot hold, such as a seed of 64 bits. Older browsers round them.
function parsed(text) {
  if (!/\d{16}/.test(text) || !JSON.rawJSON) return JSON.parse(text);
  return JSON.parse(text, (name, value, { source }) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.rawJSON(source) : value);
}

/// Adds the values that are set to a path, as its query.
export function withQuery(path, values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, value);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}
