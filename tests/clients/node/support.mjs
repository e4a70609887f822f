// Where the gateways are, and what a test may do there besides being a client.
import { randomUUID } from 'node:crypto';
import { describe, test as nodeTest } from 'node:test';
import OpenAI from 'openai';

export const MODEL = 'mock-model';
export const SMALL_MODEL = 'mock-small';
export const MODEL_WITH_SLASH = 'team/large model';
export const PROFILES = ['documented', 'openai', 'dashscope', 'deepseek'];

const places = JSON.parse(process.env.CLIENTS_GATEWAYS);

// One gateway: its addresses, its keys, and the console that the suites' gateways add.
class Place {
  constructor({ base_url, root_url, api_key, disabled_key }) {
    Object.assign(this, { baseURL: base_url, rootURL: root_url, apiKey: api_key, disabledKey: disabled_key });
  }

  // The SDK on this gateway; without retries unless asked for.
  client(settings = {}) {
    return new OpenAI({ baseURL: this.baseURL, apiKey: this.apiKey, maxRetries: 0, timeout: 10_000, ...settings });
  }

  // A key of this test's own: {id, secret}. See clients_gateway.cpp for what it takes.
  createKey(wanted = {}) {
    return this.#console('POST', '/console/keys', wanted);
  }

  async setKeyState(id, state) {
    return (await this.#console('POST', `/console/keys/${id}/state`, { state })).state;
  }

  // The exchanges whose body holds the marker, each ended.
  seen(marker) {
    return this.#console('GET', `/console/seen?${marker}`);
  }

  // What the client with this key did wrong: {clean, judged, message}.
  review(id) {
    return this.#console('GET', `/console/review?${id}`);
  }

  // Waits until a request whose body holds the marker has arrived.
  arrived(marker) {
    return this.#console('GET', `/console/arrived?${marker}`);
  }

  async #console(method, path, body) {
    const response = await fetch(this.rootURL + path, {
      method,
      body: body && JSON.stringify(body),
      headers: { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json' },
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}

export const scripted = (profile) => new Place(places[profile].scripted);
export const unscripted = (profile) => new Place(places[profile].unscripted);
export const limited = new Place(places.limited);
export const reviewed = new Place(places.reviewed);
export const strict = new Place(places.strict);

// A test that ends by itself.
export const test = (name, body) => nodeTest(name, { timeout: 30_000 }, body);

// The same tests in every profile, each with the profile's scripted gateway and the one that nothing was scripted on.
export function inEveryProfile(about, body) {
  for (const profile of PROFILES) {
    describe(`${about} (${profile})`, () => body(scripted(profile), unscripted(profile), profile));
  }
}

export const user = (text) => [{ role: 'user', content: text }];

export const newMarker = () => randomUUID().replaceAll('-', '');

// A message that tells the scripted gateways how to behave, unlike any other test's, and its marker.
export function script(verb, spec) {
  const marker = newMarker();
  const prompt = `${verb} ${JSON.stringify({ ...spec, id: marker })}`;
  return { prompt, messages: user(prompt), marker };
}

export function retryCounts(exchanges) {
  return exchanges.map(({ headers }) => {
    const [, count] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-stainless-retry-count');
    return Number(count);
  });
}

export async function collect(iterable) {
  const items = [];
  for await (const item of iterable) items.push(item);
  return items;
}

export function joined(chunks, { index = 0, field = 'content' } = {}) {
  return chunks
    .flatMap((chunk) => chunk.choices)
    .filter((choice) => choice.index === index)
    .map((choice) => choice.delta[field] ?? '')
    .join('');
}

export function finishReasons(chunks, index = 0) {
  return chunks
    .flatMap((chunk) => chunk.choices)
    .filter((choice) => choice.index === index && choice.finish_reason)
    .map((choice) => choice.finish_reason);
}
