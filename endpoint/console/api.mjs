// Calls of the control API; the token in the tab; the shown curl lines.

const NAME = 'mock-gateway-control-token';

/// What the gateway refused, with its code and its problems; status 0 when it did not answer.
export class ApiError extends Error {
  constructor(status, code, message, problems = []) {
    super(message);
    Object.assign(this, { name: 'ApiError', status, code, problems });
  }
}

/// Dispatches "refused" when the token is not taken, "lost" when no answer comes, "found" when one comes.
export const connection = new EventTarget();

export const hasToken = () => sessionStorage.getItem(NAME) !== null;
export const keepToken = (token) => sessionStorage.setItem(NAME, token);
export const dropToken = () => sessionStorage.removeItem(NAME);

/// What a header cannot carry is no token.
export const isToken = (text) => /^[!-~]+$/.test(text);

/// A part of the address without its escapes; as it is when they are broken.
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/// Takes a secret out of the address bar, and out of this entry of the tab's history: {name, value} of "#code=…", and of
/// "#token=…", which is not used, since a browser keeps addresses. Undefined for the address of a view.
export function takeSecretFromAddress() {
  const match = /^#(code|token)=(.*)/.exec(location.hash);
  if (!match) return undefined;
  history.replaceState(null, '', location.pathname + '#/journal');
  return { name: match[1], value: decoded(match[2]) };
}

/// A request of the API with this as the bearer.
const ask = (method, path, bearer, init = {}) => fetch('/control/v1' + path, { ...init, method, cache: 'no-store',
  credentials: 'omit', redirect: 'error', headers: { ...init.headers, Authorization: `Bearer ${bearer}` } });

/// Exchanges the code of an address for the token, and keeps it. Returns why that cannot be; undefined when it is done.
export async function exchangeCode(code) {
  if (!isToken(code)) return 'The address holds no code.';
  try {
    const response = await ask('POST', '/session', code);
    const answer = await response.json();
    if (!response.ok) return { used_code: 'This address was used already. The program shows a fresh one on its terminal.',
      late_code: 'This address is older than a minute. The program shows a fresh one on its terminal.',
      wrong_code: 'This address is not of the program that runs here now, which shows one of its own on its terminal.',
    }[answer.code] ?? answer.message;
    keepToken(answer.token);
  } catch {
    return 'The gateway does not answer. Does it still run?';
  }
  return undefined;
}

/// Whether the gateway takes the token. True too when it does not answer: then a token is no worse than before.
async function isTaken(token) {
  try {
    return (await ask('GET', '', token)).status !== 401;
  } catch {
    return true;
  }
}

/// Whether this tab has a token that the gateway takes.
export const hasGoodToken = async () => hasToken() && isTaken(sessionStorage.getItem(NAME));

const tabs = new BroadcastChannel(NAME);
tabs.addEventListener('message', ({ data }) => {
  if (data === 'ask' && hasToken()) tabs.postMessage({ token: sessionStorage.getItem(NAME) });
});

/// Takes the token from another tab of this console, if one is open and has a good one.
export async function takeTokenFromOtherTab() {
  if (hasToken()) return;
  const offered = [];
  const hear = ({ data }) => {
    if (typeof data?.token === 'string' && isToken(data.token)) offered.push(data.token);
  };
  tabs.addEventListener('message', hear);
  tabs.postMessage('ask');
  const end = performance.now() + 300;  // whoever lives answers within a few milliseconds
  while (offered.length === 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
  tabs.removeEventListener('message', hear);
  for (const token of new Set(offered)) {
    if (!await isTaken(token)) continue;
    keepToken(token);
    return;
  }
}

/// Asks the control API. A body that is a text is sent as it is, any other as JSON.
export async function call(method, path, body, signal) {
  const { isJson, content } = await answerOf(method, path, body, signal);
  return isJson && content ? parsed(content) : content;
}

export const get = (path, signal) => call('GET', path, undefined, signal);

/// The same, with the answer as the text that came.
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
    throw new ApiError(0, 'no_answer', 'The gateway does not answer. Does it still run?');
  }
  connection.dispatchEvent(new Event('found'));
  const isJson = (response.headers.get('Content-Type') ?? '').startsWith('application/json');
  if (response.ok) return { isJson, content };
  const answer = isJson && content ? parsed(content) : {};
  if (response.status === 401) connection.dispatchEvent(new Event('refused'));
  throw new ApiError(response.status, answer.code ?? '', answer.message ?? `The gateway answered ${response.status}.`,
    answer.problems ?? []);
}

/// JSON in which an integer that no number of JavaScript holds, such as a client's seed of 64 bits, is written again as it
/// came. An older browser rounds it.
function parsed(text) {
  if (!/\d{16}/.test(text) || !JSON.rawJSON) return JSON.parse(text);
  return JSON.parse(text, (name, value, { source }) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.rawJSON(source) : value);
}

/// A path with a query of those values that are set.
export function withQuery(path, values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, value);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/// JSON in ASCII, so that what is shown, copied and pasted is the same.
const ascii = (value) => JSON.stringify(value).replace(/[^ -~]/g,
  (unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0'));

/// The shell command of a request. The token stands in it as the variable from which the program takes one.
export function curl(method, path, body) {
  const parts = [method === 'GET' ? 'curl' : `curl -X ${method}`, quoted(`${location.origin}/control/v1${path}`),
    '-H "Authorization: Bearer $MOCK_GATEWAY_CONTROL_TOKEN"'];
  if (body === undefined) return parts.join(' \\\n  ');
  parts.push("-H 'Content-Type: application/json'");
  const isText = typeof body === 'string';
  // A text with characters that a shell line does not carry safely is read from a file.
  if (isText && (body.length > 8000 || /[^ -~\n\t]/.test(body))) parts.push('--data-binary @script.jsonc');
  else parts.push(`--data-binary ${quoted(isText ? body : ascii(body))}`);
  return parts.join(' \\\n  ');
}
