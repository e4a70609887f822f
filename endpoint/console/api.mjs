// The control API. The token stays in this tab's session storage and goes out as a header of our own requests only.

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

/// Takes the token out of the address bar, and out of this entry of the tab's history. Returns whether there was one;
/// the page asks for the token when it cannot be one.
export function takeTokenFromAddress() {
  const match = /^#token=(.*)/.exec(location.hash);
  if (!match) return false;
  history.replaceState(null, '', location.pathname + '#/journal');
  const token = decoded(match[1]);
  if (isToken(token)) keepToken(token);
  else dropToken();
  return true;
}

/// Asks the control API. A body that is a text is sent as it is, any other as JSON.
export async function call(method, path, body, options) {
  const { isJson, content } = await answerOf(method, path, body, options);
  return isJson && content ? parsed(content) : content;
}

/// The same, with the answer as the text that came.
export async function callForText(method, path, body, options) {
  return (await answerOf(method, path, body, options)).content;
}

async function answerOf(method, path, body, { signal } = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(NAME) ?? ''}` };
  const init = { method, headers, signal, cache: 'no-store', credentials: 'omit', redirect: 'error' };
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json';
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  let response, content;
  try {
    response = await fetch('/control/v1' + path, init);
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
