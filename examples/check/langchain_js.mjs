// LangChain's ChatOpenAI for JavaScript as a driver of `mock-gateway check` (docs/driver-protocol.md).
//
//   npm install @langchain/openai @langchain/core
//   mock-gateway check --driver --tools -- node langchain_js.mjs     (Node looks for the packages beside this file)

import { readFileSync } from "node:fs";
import readline from "node:readline";
import { ChatOpenAI } from "@langchain/openai";

const { version } = JSON.parse(readFileSync(new URL("node_modules/@langchain/openai/package.json", import.meta.url)));
const models = new Map(); // one model per address

function modelOf({ base_url: baseURL, api_key: apiKey }, anew = false) {
  if (anew || !models.has(baseURL)) {
    models.set(baseURL, new ChatOpenAI({ model: "mock-model", apiKey, configuration: { baseURL } }));
  }
  return models.get(baseURL);
}

function take(message, seen, job) {
  // Only an app with tools reads tool calls.
  if (job.tools) seen.tool_calls = message.tool_calls.map(({ name, args }) => ({ name, arguments: JSON.stringify(args) }));
  seen.finish_reason = message.response_metadata.finish_reason;
  const { input_tokens, output_tokens, total_tokens } = message.usage_metadata ?? {};
  if (total_tokens) seen.usage = { prompt_tokens: input_tokens, completion_tokens: output_tokens, total_tokens };
}

/** Notes in `seen` what the caller is given, as it is given it. */
async function call(job, seen) {
  const model = job.tools ? modelOf(job).bindTools(job.tools) : modelOf(job);
  const stop = new AbortController();
  const options = { signal: job.after_ms === undefined ? stop.signal : AbortSignal.timeout(job.after_ms) };
  if (!(job.stream ?? job.job !== "ask")) {
    const message = await model.invoke(job.prompt, options);
    seen.text = message.text;
    take(message, seen, job);
    return;
  }
  let full;
  let pieces = 0;
  for await (const chunk of await model.stream(job.prompt, options)) {
    seen.text += chunk.text;
    full = full ? full.concat(chunk) : chunk;
    take(full, seen, job);
    if (chunk.text && ++pieces === job.after_tokens) {
      stop.abort();
      break;
    }
  }
}

async function answer(job) {
  if (job.job === "hello") return { client: "@langchain/openai", version };
  if (job.job === "use_key") {
    modelOf(job, true); // a model's key is fixed
    return {};
  }
  if (!["ask", "stream", "cancel", "abandon"].includes(job.job)) return { unknown: true };
  const seen = { text: "", tool_calls: [], error: null };
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
