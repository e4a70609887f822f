// TypeScript types of mock-gateway.mjs; copy both. Fields of stubs, failures and keys: `mock-gateway schema` prints
// them.

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

/** The program did not start or answer, or it refused a request. If it refused, `code` and `problems` are the server's. */
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
  /** The timeout in milliseconds; default 30,000. */
  within?: number;
}

/** A running mock-gateway. It ends with stop(), or with this process, even if the process is killed. */
export class MockGateway {
  private constructor();
  /** Starts the program. Resolves when it serves; rejects with a GatewayError. */
  static start(options?: StartOptions): Promise<MockGateway>;
  readonly baseURL: string;
  /** The default key, which belongs to no scope. */
  readonly apiKey: string;
  /** Ends the program. Rejects with a GatewayError unless its exit code is 0. */
  stop(): Promise<void>;
  /** What the program has written to stderr. */
  stderr(): string;
  /** Sends a request to the control API, such as `control('GET', '/journal', undefined, { limit: 1 })`. */
  control(method: string, path: string, body?: Json, query?: Query): Promise<any>;
  scope(name: string): Promise<Scope>;
  /** Creates a key; the result has its `id` and `secret`. */
  createKey(fields?: Fields): Promise<{ id: string; secret: string; [key: string]: unknown }>;
  disableKey(id: string): Promise<unknown>;
  enableKey(id: string): Promise<unknown>;
  deleteKey(id: string): Promise<unknown>;
  /** Moves a manual clock forward. */
  advance(by: Duration): Promise<unknown>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Query parameters. */
export type Query = Record<string, string | number | boolean>;

/** Filters of the journal: `{ status: 429, text: 'Hi', limit: 10 }`. */
export interface JournalFilters {
  status?: number | string;
  decision?: string;
  text?: string;
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

/** Unmet expectations of stubs. */
export interface Verification {
  ok: boolean;
  problems: { kind: string; message: string; exchanges: number[]; [key: string]: any }[];
  notes: string[];
  message: string;
  [key: string]: any;
}

/** Mistakes of the client. */
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

/** A key of a server with its own stubs, failures, states, gates and requests. */
export class Scope {
  private constructor();
  readonly server: MockGateway;
  /** The ID of the key. */
  readonly id: string;
  readonly baseURL: string;
  readonly apiKey: string;
  /** Environment variables for the process of a client. */
  readonly env: Record<string, string>;
  /** Sends a request to the control API, limited to this scope. */
  control(method: string, path: string, body?: Json, query?: Query): Promise<any>;
  /** Mounts all stubs or none. The first matching stub answers. Stubs of later calls come before those of earlier calls. */
  stubs(documents: readonly Fields[]): Promise<Stub[]>;
  stub(fields: Fields): Promise<Stub>;
  /** Makes requests with this test's key get 403 until enable(). */
  disable(): Promise<unknown>;
  enable(): Promise<unknown>;
  /** Sets the key's request limit, such as `'2/1m'`; requests above it get 429. null removes the limit. */
  limit(rate: string | null): Promise<unknown>;
  limitTokens(rate: string | null): Promise<unknown>;
  limitConcurrent(most: number | null): Promise<unknown>;
  /** Forces a failure with the fields of `failures` in scripts: `{ failure: 'overloaded', times: 2 }`. */
  fail(fields: Fields): Promise<unknown>;
  /** Returns unmet expectations. Those that it returns no longer fail the test; the same holds for review(). */
  verify(): Promise<Verification>;
  review(): Promise<Review>;
  /** How many requests fit the matchers, whether or not a stub answered them: `count({ user_says: 'Hi' })`. */
  count(when?: Fields, filters?: JournalFilters): Promise<number>;
  /** The exchanges, newest first: all of them, or the newest `limit`. */
  journal(filters?: JournalFilters): Promise<Exchange[]>;
  state(machine: string): Promise<string>;
  setState(machine: string, state: string): Promise<unknown>;
  gate(name: string): Gate;
  /** Waits for a request whose reply is `ask` and returns all of them. */
  asked(wait?: Duration): Promise<{ exchange: number; request: any; [key: string]: any }[]>;
  answer(exchange: number, reply: Json): Promise<unknown>;
  /** Removes the scope. Rejects with an AssertionError for problems that the test has not read. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A mounted stub. */
export interface Stub {
  /** Resolves when the stub has answered `calls` requests (default 1), or rejects after `within` (default 5s). */
  wait(calls?: number, within?: Duration): Promise<void>;
  calls(): Promise<number>;
  remove(): Promise<unknown>;
}

/** A gate: replies wait there until release() lets one pass, or open() lets all pass. */
export interface Gate {
  wait(count?: number, within?: Duration, what?: 'reached' | 'delivered'): Promise<void>;
  release(): Promise<unknown>;
  open(): Promise<unknown>;
}

/** The context of a test of node:test or vitest. */
export type TestContext =
  | { name: string; after(fn: () => Promise<void>): unknown }
  | { task: { name: string }; onTestFinished(fn: () => Promise<void>): unknown };

/** Opens a scope for a test. With a test's context, the scope closes after the test. With a name, the caller closes it. */
export function openGateway(test: TestContext | string, server?: MockGateway): Promise<Scope>;

/** The program in the package mock-gateway for this platform; undefined if the package is not installed. */
export function programOfPackage(): string | undefined;
