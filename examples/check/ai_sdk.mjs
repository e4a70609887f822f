// The AI SDK as a driver of `mock-gateway check` (docs/driver-protocol.md): generateText and streamText, with the
// provider for gateways that are compatible with OpenAI's API.
//
//   npm install ai @ai-sdk/openai-compatible zod
//   mock-gateway check --driver --tools -- node ai_sdk.mjs     (Node looks for the packages beside this file)

import { readFileSync } from "node:fs";
import readline from "node:readline";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText, tool } from "ai";
import { z } from "zod";

const { version } = JSON.parse(readFileSync(new URL("node_modules/ai/package.json", import.meta.url)));
const providers = new Map(); // one provider per address

function providerOf({ base_url: baseURL, api_key: apiKey }, anew = false) {
  if (anew || !providers.has(baseURL)) providers.set(baseURL, createOpenAICompatible({ name: "gateway", baseURL, apiKey }));
  return providers.get(baseURL);
}

/** Tools of an app, which have a zod schema each. */
const toolsOf = (tools) =>
  Object.fromEntries(
    tools.map(({ function: { name, strict, parameters } }) => [
      name,
      tool({ strict, inputSchema: z.fromJSONSchema(parameters) }),
    ]),
  );

function noteCall(seen, { toolName: name, input, invalid, error }) {
  seen.tool_calls.push({ name, arguments: typeof input === "string" ? input : JSON.stringify(input) });
  if (invalid) throw error;
}

function noteUsage(seen, { inputTokens, outputTokens, totalTokens }) {
  if (inputTokens === undefined) return;
  seen.usage = { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: totalTokens };
}

/** Notes in `seen` what the caller is given, as it is given it. */
async function call(job, seen) {
  const stop = new AbortController();
  const request = { model: providerOf(job)(job.model), prompt: job.prompt, abortSignal: stop.signal };
  if (job.tools) request.tools = toolsOf(job.tools);
  if (job.after_ms !== undefined) request.abortSignal = AbortSignal.timeout(job.after_ms);
  if (!(job.stream ?? job.job !== "ask")) {
    const { text, toolCalls, rawFinishReason, usage } = await generateText(request);
    seen.text = text;
    seen.finish_reason = rawFinishReason;
    noteUsage(seen, usage);
    for (const made of toolCalls) noteCall(seen, made);
    return;
  }
  let pieces = 0;
  for await (const part of streamText({ ...request, onError() {} }).fullStream) {
    if (part.type === "text-delta") {
      seen.text += part.text;
      if (++pieces === job.after_tokens) stop.abort();
    } else if (part.type === "tool-call") noteCall(seen, part);
    else if (part.type === "error" || part.type === "tool-error") throw part.error;
    else if (part.type === "abort" && job.job !== "cancel") throw new Error(`aborted: ${part.reason}`);
    else if (part.type === "finish") {
      seen.finish_reason = part.rawFinishReason;
      noteUsage(seen, part.totalUsage);
    }
  }
}

/** What the user would be shown. */
function told(error) {
  if (!(error instanceof Error)) return JSON.stringify(error);
  return `${error.name === "Error" ? error.constructor.name : error.name}: ${error.message}`;
}

async function answer(job) {
  if (job.job === "hello") return { client: "ai", version };
  if (job.job === "use_key") {
    providerOf(job, true); // a provider's key is fixed
    return {};
  }
  if (!["ask", "stream", "cancel", "abandon"].includes(job.job)) return { unknown: true };
  const seen = { text: "", tool_calls: [], error: null };
  try {
    await call(job, seen);
  } catch (error) {
    seen.error = told(error);
  }
  return { ...seen, text: seen.text.toWellFormed() }; // console.log writes an unpaired surrogate so
}

globalThis.AI_SDK_LOG_WARNINGS = false;
for await (const line of readline.createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  process.stdout.write(JSON.stringify({ id: job.id, ...(await answer(job)) }) + "\n");
}
