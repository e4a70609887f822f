// OpenAI's SDK for Node as a driver of `mock-gateway check` (docs/driver-protocol.md), called as its README shows.
//
//   npm install openai
//   mock-gateway check --driver --tools -- node openai_node.mjs [--helper]     (Node looks for openai beside this file)
//
// With --helper the SDK's helper `.stream()` reads streams, instead of a loop over chunks.

import readline from "node:readline";
import OpenAI from "openai";
import { VERSION } from "openai/version";

const clients = new Map(); // one client per address

function clientOf({ base_url: baseURL, api_key: apiKey }) {
  if (!clients.has(baseURL)) clients.set(baseURL, new OpenAI({ baseURL, apiKey }));
  return clients.get(baseURL);
}

function functionOf({ function: { name, arguments: text } }) {
  if (typeof text !== "string") JSON.parse(text); // as every app does; throws for invalid JSON
  return { name: name ?? "", arguments: text };
}

function take(completion, seen) {
  const { finish_reason, message } = completion.choices[0];
  seen.text = String(message.content ?? message.refusal ?? ""); // as console.log does
  seen.tool_calls = (message.tool_calls ?? []).map(functionOf);
  seen.finish_reason = finish_reason;
  seen.usage = completion.usage;
}

async function loop(stream, seen, job) {
  const calls = {};
  let pieces = 0;
  for await (const chunk of stream) {
    const choice = chunk.choices[0];
    seen.text += choice?.delta?.content || choice?.delta?.refusal || "";
    seen.finish_reason = choice?.finish_reason ?? seen.finish_reason;
    seen.usage = chunk.usage ?? seen.usage;
    for (const { index, function: part } of choice?.delta?.tool_calls ?? []) {
      calls[index] ??= { name: part.name ?? "", arguments: "" };
      calls[index].arguments += part.arguments ?? "";
    }
    seen.tool_calls = Object.values(calls);
    if (choice?.delta?.content && ++pieces === job.after_tokens) {
      stream.controller.abort();
      break;
    }
  }
}

async function helper(stream, seen, job) {
  let pieces = 0;
  stream.on("content", (delta) => {
    seen.text += delta;
    if (++pieces === job.after_tokens) stream.abort();
  });
  try {
    take(await stream.finalChatCompletion(), seen);
  } catch (error) {
    if (pieces !== job.after_tokens) throw error; // otherwise the app stopped on purpose
  }
}

/** Notes in `seen` what the caller is given, as it is given it. */
async function call(job, seen) {
  const { completions } = clientOf(job).chat;
  const request = { model: job.model, messages: [{ role: "user", content: job.prompt }] };
  if (job.tools) request.tools = job.tools;
  if (job.include_usage) request.stream_options = { include_usage: true };
  const options = job.after_ms === undefined ? {} : { signal: AbortSignal.timeout(job.after_ms) };
  if (!(job.stream ?? job.job !== "ask")) take(await completions.create(request, options), seen);
  else if (process.argv.includes("--helper")) await helper(completions.stream(request, options), seen, job);
  else await loop(await completions.create({ ...request, stream: true }, options), seen, job);
}

async function answer(job) {
  if (job.job === "hello") return { client: "openai", version: VERSION };
  if (job.job === "use_key") {
    clientOf(job).apiKey = job.api_key;
    return {};
  }
  if (!["ask", "stream", "cancel", "abandon"].includes(job.job)) return { unknown: true };
  const seen = { text: "", tool_calls: [], error: null, usage: null };
  try {
    await call(job, seen);
  } catch (error) {
    seen.error = `${error.constructor.name}: ${error.message}`; // what the user would see
  }
  return { ...seen, text: seen.text.toWellFormed() }; // console.log writes an unpaired surrogate so
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  process.stdout.write(JSON.stringify({ id: job.id, ...(await answer(job)) }) + "\n");
}
