// The types of mock-gateway.mjs, for TypeScript: copy both. The fields of stubs, failures and keys are those of scripts,
// which the program knows: `mock-gateway schema` prints them.

/** A JSON value. */
export type Json = unknown;
/** The fields of a stub, a failure or another object of a script: `{ when: { user_says: 'Hi' }, reply: 'Hello.' }`. */
export type Fields = Record<string, unknown>;
/** A duration with its unit: `'2s'`, `'50ms'`. */
export type Duration = string;

/** A mistake of a script or a request, with its JSON pointer. */
export interface Problem {
  pointer: string;
  message: string;
  [key: string]: unknown;
}

/** The program did not start or answer, or it refused a request: then `code` and `problems` are the server's. */
export class GatewayError extends Error {
  constructor(message: string, fields?: { code?: string | null; problems?: Problem[]; cause?: unknown });
  readonly code: string | null;
  readonly problems: Problem[];
}

export interface StartOptions {
  /** Files or folders of scripts. */
  scripts?: readonly string[];
  /** Other flags of `mock-gateway serve`, such as `['--profile', 'openai']`. */
  flags?: readonly string[];
  /** In milliseconds; 30,000 unless given. */
  within?: number;
}

/** A running mock-gateway. It ends with stop(), and with this process, whatever ends that. */
export class MockGateway {
  private constructor();
  /** Resolves when the program serves; rejects with a GatewayError. */
  static start(options?: StartOptions): Promise<MockGateway>;
  readonly baseURL: string;
  /** The default key, which belongs to no scope. */
  readonly apiKey: string;
  /** Ends the program. Rejects with a GatewayError unless it ends with exit code 0. */
  stop(): Promise<void>;
  /** What the program has written there. */
  stderr(): string;
  /** A request of the control API, such as `control('GET', '/journal', undefined, { limit: 1 })`. */
  control(method: string, path: string, body?: Json, query?: Query): Promise<any>;
  scope(name: string): Promise<Scope>;
  /** A key with its `id` and `secret`. */
  createKey(fields?: Fields): Promise<{ id: string; secret: string; [key: string]: unknown }>;
  disableKey(id: string): Promise<unknown>;
  enableKey(id: string): Promise<unknown>;
  deleteKey(id: string): Promise<unknown>;
  /** Moves a manual clock. */
  advance(by: Duration): Promise<unknown>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Parameters of a query. */
export type Query = Record<string, string | number | boolean>;

/** Filters of the journal: `{ status: 429, text: 'Hi', text_in: 'answer', limit: 10 }`. */
export interface JournalFilters {
  status?: number | string;
  decision?: string;
  text?: string;
  text_in?: 'request' | 'answer' | 'any';
  key?: string;
  limit?: number;
  before?: number;
  after?: number;
  wait?: Duration;
}

/** An exchange; docs/verify-and-review.md lists its keys. */
export interface Exchange {
  id: number;
  status: number;
  outcome: string;
  summary: string;
  request: { method: string; target: string; path: string; headers: [string, string][]; body: any; raw: any };
  decision: { kind: string; detail: string | null; refusal: string | null };
  [key: string]: any;
}

/** What did not go as the stubs say. */
export interface Verification {
  ok: boolean;
  problems: { kind: string; message: string; exchanges: number[]; [key: string]: any }[];
  notes: string[];
  message: string;
  [key: string]: any;
}

/** What the client did wrong. */
export interface Review {
  ok: boolean;
  findings: {
    code: string;
    severity: 'error' | 'warning' | 'note';
    fails_review: boolean;
    message: string;
    exchanges: number[];
  }[];
  message: string;
  [key: string]: any;
}

/** A key of a server, and the stubs, failures, states, gates and requests that belong to it. */
export class Scope {
  private constructor();
  readonly server: MockGateway;
  /** The id of its key. */
  readonly id: string;
  readonly baseURL: string;
  readonly apiKey: string;
  /** The variables that lead a client's process here. */
  readonly env: Record<string, string>;
  /** A request of the control API about this scope alone. */
  control(method: string, path: string, body?: Json, query?: Query): Promise<any>;
  /** Mounts stubs, all or none. The first that matches answers; those of earlier calls come after them. */
  stubs(documents: readonly Fields[]): Promise<Stub[]>;
  stub(fields: Fields): Promise<Stub>;
  /** 403 for the requests of this test until enable(). */
  disable(): Promise<unknown>;
  enable(): Promise<unknown>;
  /** How many requests it may make in what time, `'2/1m'`, above which they get 429; null takes that back. */
  limit(rate: string | null): Promise<unknown>;
  limitTokens(rate: string | null): Promise<unknown>;
  /** As an entry of the scripts' `failures`: `{ failure: 'overloaded', times: 2 }`. */
  fail(fields: Fields): Promise<unknown>;
  /** What is reported does not fail the test. */
  verify(): Promise<Verification>;
  review(): Promise<Review>;
  /** How many requests there were that the matchers fit, whoever answered them: `count({ user_says: 'Hi' })`. */
  count(when?: Fields, filters?: JournalFilters): Promise<number>;
  /** The exchanges, newest first: all of them, or the newest `limit`. */
  journal(filters?: JournalFilters): Promise<Exchange[]>;
  state(machine: string): Promise<string>;
  setState(machine: string, state: string): Promise<unknown>;
  gate(name: string): Gate;
  /** The requests whose reply is `ask`, once there is one. */
  asked(wait?: Duration): Promise<{ exchange: number; request: any; [key: string]: any }[]>;
  answer(exchange: number, reply: Json): Promise<unknown>;
  /** Removes the scope. Rejects with an AssertionError for what is wrong and was not looked at. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A mounted stub. */
export interface Stub {
  /** Resolves when it has answered so many requests, 1 unless given, or rejects after `within`, 5s unless given. */
  wait(calls?: number, within?: Duration): Promise<void>;
  calls(): Promise<number>;
  remove(): Promise<unknown>;
}

/** A gate, at which replies wait until release() lets one pass, or open() all. */
export interface Gate {
  wait(count?: number, within?: Duration, what?: 'reached' | 'delivered'): Promise<void>;
  release(): Promise<unknown>;
  open(): Promise<unknown>;
}

/** The context of a test of node:test or vitest. */
export type TestContext =
  | { name: string; after(fn: () => Promise<void>): unknown }
  | { task: { name: string }; onTestFinished(fn: () => Promise<void>): unknown };

/** A scope for the test whose context this is, closed with it; or for one of that name, closed by its close(). */
export function openGateway(test: TestContext | string, server?: MockGateway): Promise<Scope>;

/** The program of the package mock-gateway for this platform; undefined where that is not installed. */
export function programOfPackage(): string | undefined;
