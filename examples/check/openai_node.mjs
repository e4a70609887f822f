// OpenAI's SDK for Node as a driver of `mock-gateway check` (docs/driver-protocol.md), called as its README shows.
//
//   npm install openai
//   mock-gateway check --driver --tools -- node openai_node.mjs     (Node looks for openai beside this file)

import readline from "node:readline";
import OpenAI from "openai";
import { VERSION } from "openai/version";

const clients = new Map();

/** What the caller has after one call: its text and tool calls, and the error if it failed. */
async function call(job) {
  const { base_url: baseURL, api_key: apiKey } = job;
  if (!clients.has(baseURL)) clients.set(baseURL, new OpenAI({ baseURL, apiKey }));
  const completions = clients.get(baseURL).chat.completions;
  const request = { model: job.model, messages: [{ role: "user", content: job.prompt }] };
  if (job.tools) request.tools = job.tools;
  const seen = { text: "", tool_calls: [], error: null };
  try {
    if (job.job === "ask") {
      const { message } = (await completions.create(request)).choices[0];
      seen.text = message.content ?? "";
      seen.tool_calls = (message.tool_calls ?? []).map((part) => part.function);
    } else {
      for await (const chunk of await completions.create({ ...request, stream: true })) {
        const delta = chunk.choices[0]?.delta;
        seen.text += delta?.content ?? "";
        for (const part of delta?.tool_calls ?? []) {
          const made = (seen.tool_calls[part.index] ??= { name: part.function.name ?? "", arguments: "" });
          made.arguments += part.function.arguments ?? "";
        }
      }
    }
  } catch (error) {
    seen.error = `${error.name}: ${error.message}`; // what the user would be shown
  }
  return seen;
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  let answer = { unknown: true };
  if (job.job === "hello") answer = { client: "openai", version: VERSION };
  if (job.job === "ask" || job.job === "stream") answer = await call(job);
  process.stdout.write(JSON.stringify({ id: job.id, ...answer }) + "\n");
}
