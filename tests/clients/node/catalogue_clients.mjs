// The clients of the catalogue's table that run on Node, each with the settings that it has by default and the code
// that its documentation shows. Takes one job per line of stdin, works at all that it has got at once, and answers each
// with a line of stdout: what the caller of the job's last call saw. Ends when stdin closes.
//   {"job", "client", "base_url", "api_key", "calls", "tools", "timeout_ms", "cut_ms"}
//   -> {"job", "outcome": {"text", "tool_calls", "finish_reason", "error", "hung"}, "error", "in_caller"}
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';

const MODEL = 'mock-model';
const PROMPT = 'What is the weather?';

const object = (properties) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const openaiTools = [
  {
    type: 'function',
    function: { name: 'get_weather', strict: true, parameters: object({ city: { type: 'string' } }) },
  },
  { type: 'function', function: { name: 'get_time', strict: true, parameters: object({}) } },
];
const aiTools = {
  get_weather: tool({ inputSchema: z.object({ city: z.string() }) }),
  get_time: tool({ inputSchema: z.object({}) }),
};

// What the caller's own code threw on what the SDK had handed over in good faith.
class InCaller extends Error {
  constructor(cause) {
    super(cause.message, { cause });
  }
}

function inCaller(read) {
  try {
    return read();
  } catch (error) {
    throw new InCaller(error);
  }
}

const openaiClient = ({ base_url, api_key, timeout_ms }) =>
  new OpenAI({ baseURL: base_url, apiKey: api_key, ...(timeout_ms && { timeout: timeout_ms }) });
const openaiRequest = ({ tools }) => ({
  model: MODEL,
  messages: [{ role: 'user', content: PROMPT }],
  ...(tools && { tools: openaiTools }),
});

const functionCalls = (calls) =>
  (calls ?? []).map(({ function: { name, arguments: text } }) => {
    if (typeof text !== 'string') JSON.parse(text); // as every caller does, which fails
    return { name, arguments: text };
  });

// Each makes the function that calls once, and notes in `seen` what the caller gets, as it gets it.
const clients = {
  // The README's loop, and for tools that of the guide to function calling.
  openai_loop(job) {
    const client = openaiClient(job);
    return async (seen, signal) => {
      const stream = await client.chat.completions.create({ ...openaiRequest(job), stream: true }, { signal });
      const calls = {};
      for await (const chunk of stream) {
        inCaller(() => {
          seen.text += chunk.choices[0]?.delta?.content || '';
          seen.finish_reason = chunk.choices[0]?.finish_reason ?? seen.finish_reason;
          for (const { index, function: part } of chunk.choices[0]?.delta?.tool_calls ?? []) {
            calls[index] ??= { name: part.name, arguments: '' };
            calls[index].arguments += part.arguments ?? '';
          }
          seen.tool_calls = Object.values(calls);
        });
      }
    };
  },

  openai_stream(job) {
    const client = openaiClient(job);
    return async (seen, signal) => {
      const stream = client.chat.completions.stream(openaiRequest(job), { signal });
      stream.on('content', (delta) => (seen.text += delta));
      const completion = await stream.finalChatCompletion();
      inCaller(() => {
        const { finish_reason, message } = completion.choices[0];
        const { content, tool_calls } = message;
        seen.finish_reason = finish_reason;
        seen.text = content ?? '';
        seen.tool_calls = functionCalls(tool_calls);
      });
    };
  },

  openai_plain(job) {
    const client = openaiClient(job);
    return async (seen, signal) => {
      const completion = await client.chat.completions.create(openaiRequest(job), { signal });
      inCaller(() => {
        const { finish_reason, message } = completion.choices[0];
        const { content, tool_calls } = message;
        seen.finish_reason = finish_reason;
        seen.text = content ?? '';
        seen.tool_calls = functionCalls(tool_calls);
      });
    };
  },

  ai_stream(job) {
    const request = aiRequest(job);
    return async (seen, signal) => {
      const { fullStream } = streamText({ ...request, abortSignal: signal, onError: () => {} });
      for await (const part of fullStream) {
        if (part.type === 'text-delta') seen.text += part.text;
        if (part.type === 'tool-call') noteCall(seen, part);
        if (part.type === 'finish') seen.finish_reason = part.rawFinishReason;
        if (part.type === 'error' || part.type === 'tool-error') seen.error ??= part.error;
        if (part.type === 'abort') seen.error ??= new Error(`aborted: ${part.reason}`);
      }
    };
  },

  ai_plain(job) {
    const request = aiRequest(job);
    return async (seen, signal) => {
      const { text, toolCalls, rawFinishReason } = await generateText({ ...request, abortSignal: signal });
      seen.text = text;
      seen.finish_reason = rawFinishReason;
      for (const call of toolCalls) noteCall(seen, call);
    };
  },
};

function aiRequest({ base_url, api_key, tools, timeout_ms }) {
  const provider = createOpenAICompatible({ name: 'gateway', baseURL: base_url, apiKey: api_key });
  return {
    model: provider(MODEL),
    prompt: PROMPT,
    ...(tools && { tools: aiTools }),
    ...(timeout_ms && { timeout: timeout_ms }),
  };
}

function noteCall(seen, { toolName, input, invalid, error }) {
  seen.tool_calls.push({ name: toolName, arguments: typeof input === 'string' ? input : JSON.stringify(input) });
  if (invalid) seen.error ??= error;
}

function told(error) {
  if (!(error instanceof Error)) return JSON.stringify(error);
  return `${error.name === 'Error' ? error.constructor.name : error.name}: ${error.message}`;
}

const CUT = Symbol('cut');

// Makes one call; whatever the SDK does with the signal, the caller is free again after cut_ms.
async function callOnce(call, cutMs) {
  const seen = { text: '', tool_calls: [], finish_reason: null, error: null };
  const cutter = new AbortController();
  const timer = new AbortController();
  const ended = call(seen, cutter.signal).catch((error) => (seen.error ??= error));
  const how = await Promise.race([ended, sleep(cutMs, CUT, { signal: timer.signal }).catch(() => {})]);
  const result = { ...seen, tool_calls: [...seen.tool_calls], hung: how === CUT };
  timer.abort();
  if (result.hung) cutter.abort();
  return result;
}

async function run(job) {
  const call = clients[job.client](job);
  let seen;
  for (let i = 0; i < job.calls; ++i) {
    seen = await callOnce(call, job.cut_ms);
    if (seen.hung) break;
  }
  const { tool_calls, finish_reason, error, hung } = seen;
  const text = String(seen.text).toWellFormed(); // as console.log and files get it
  const cause = error instanceof InCaller ? error.cause : error;
  return {
    job: job.job,
    outcome: { text, tool_calls, finish_reason: finish_reason ?? null, error: !hung && error !== null, hung },
    error: cause && told(cause),
    in_caller: error instanceof InCaller,
  };
}

// stdout is for answers: whatever an SDK prints goes elsewhere.
globalThis.AI_SDK_LOG_WARNINGS = false;
console.log = console.info = console.debug = console.error;

const answer = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
process.on('unhandledRejection', (error) => answer({ problem: `unhandled rejection: ${error?.stack ?? error}` }));

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  run(job).then(answer, (error) => answer({ job: job.job, problem: String(error?.stack ?? error) }));
}
process.exit(); // timers and sockets of calls that were cut remain
