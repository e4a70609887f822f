// A streaming chat client on Node's fetch as a driver of `mock-gateway check` (docs/driver-protocol.md), written
// quickly, with bugs that README.md lists. careful_fetch.mjs is the version without them.
//
//   mock-gateway check --driver --stream --fail-on warning --skip unsolicited-continue -- node examples/check/careless_fetch.mjs

import readline from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE = 5000; // ms for a whole reply
const LONGEST_WAIT = 5000; // ms
const TRIES = 3;
const WORTH_ANOTHER_TRY = [429, 500, 502, 503, 504];

function waitOf(headers) {
  const value = headers.get("retry-after") ?? "";
  const wait = value && !isNaN(value) ? 1000 * value : Date.parse(value) - Date.now();
  return isNaN(wait) ? 500 : Math.max(0, wait);
}

class Chat {
  constructor(baseURL, key) {
    this.baseURL = baseURL;
    this.key = key;
    this.headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }; // BUG: keeps the first key
  }

  async open(request) {
    for (let triesLeft = TRIES - 1; ; --triesLeft) {
      const response = await fetch(`${this.baseURL}/chat/completions`, {
        method: "POST", body: JSON.stringify(request), headers: this.headers,
      });
      if (response.ok) return response.body;
      const text = await response.text(), wait = waitOf(response.headers);
      const final = !WORTH_ANOTHER_TRY.includes(response.status) || /quota/i.test(text);
      if (final || wait > LONGEST_WAIT || !triesLeft) throw new Error(`${response.status} ${text}`);
      await sleep(wait);
    }
  }

  // Gives each piece of text to `show`, and ends when `show` returns false.
  async stream(model, prompt, show) {
    const body = await this.open({ model, stream: true, messages: [{ role: "user", content: prompt }] });
    const decoder = new TextDecoder();
    let buffer = "";
    for await (const bytes of body) {
      buffer += decoder.decode(bytes); // BUG: a character may be split between two reads
      const events = buffer.split(/\r\n\r\n|\n\n|\r\r/);
      buffer = events.pop(); // BUG: drops a last event without a blank line
      for (const event of events) {
        const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"));
        const data = lines.map((line) => line.slice(5)).join("\n").trim();
        if (data === "[DONE]") return;
        // BUG: an error has no choices, and the first choice may not be the one with index 0
        const piece = data && JSON.parse(data).choices?.[0]?.delta?.content;
        if (piece && show(piece) === false) return;
      }
    } // BUG: the body may be truncated here; ignores finish_reason
  }
}

function orTimeout(call, ms) {
  return Promise.race([call, sleep(ms).then(() => { throw new Error("timeout"); })]); // BUG: the call continues
}

const chats = new Map(); // one client per address

async function outcomeOf({ job, base_url, api_key, model, prompt, after_tokens, after_ms }) {
  if (!["stream", "cancel", "abandon", "use_key"].includes(job)) return { unknown: true };
  if (!chats.has(base_url)) chats.set(base_url, new Chat(base_url, api_key));
  const chat = chats.get(base_url);
  if (job === "use_key") return void (chat.key = api_key);
  const shown = [];
  const show = (piece) => shown.push(piece) !== after_tokens;
  const error = await orTimeout(chat.stream(model, prompt, show), after_ms ?? PATIENCE).then(() => null, String);
  return { text: shown.join(""), error };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  console.log(JSON.stringify({ id: job.id, ...(await outcomeOf(job)) }));
}
