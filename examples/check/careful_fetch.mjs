// A streaming chat client on Node's fetch as a driver of `mock-gateway check` (docs/driver-protocol.md). It passes
// every stream scenario but one, and the session of mishaps. careless_fetch.mjs is the version with bugs.
//
//   mock-gateway check --driver --stream --fail-on warning --skip unsolicited-continue -- node examples/check/careful_fetch.mjs
//
// unsolicited-continue is skipped: Node's fetch treats an unrequested 100 response as an error, and an app cannot
// change that.

import readline from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE = 5000; // ms for a whole reply: pings can keep a stream alive that sends no text
const LONGEST_WAIT = 5000; // ms: if the server requests a longer wait, the client reports the error, so that the user can decide
const TRIES = 3;
const CLOSED = ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]; // the server closed a kept-alive connection that had been idle too long
const WORTH_ANOTHER_TRY = [429, 500, 502, 503, 504]; // never 401 or 403: the same key would be refused again

function waitOf(headers) {
  const value = headers.get("retry-after") ?? "";
  const wait = value && !isNaN(value) ? 1000 * value : Date.parse(value) - Date.now();
  return isNaN(wait) ? 500 : Math.max(0, wait);
}

// The fields of each event, parsed as the HTML standard says. One difference: the last event counts without a blank
// line too.
async function* eventsOf(body) {
  const decoder = new TextDecoder(); // keeps an incomplete character until its other bytes arrive
  let text = "", event = {};
  function* take(end) {
    const lines = text.split(end ? /\r\n|\n|\r/ : /\r\n|\n|\r(?!$)/); // an \r at the end may be half of a line end
    text = end ? "" : lines.pop();
    for (const line of end ? [...lines, ""] : lines) {
      const [, name, value] = line.match(/^([^:]*):? ?([^]*)$/);
      if (line === "") yield event, event = {};
      else if (name) event[name] = name in event ? `${event[name]}\n${value}` : value;
    }
  }
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    yield* take(false);
  }
  text += decoder.decode();
  yield* take(true);
}

class Chat {
  constructor(baseURL, key) { Object.assign(this, { baseURL, key }); }

  async open(request, signal) {
    for (let triesLeft = TRIES - 1; ; --triesLeft) {
      const response = await fetch(`${this.baseURL}/chat/completions`, {
        method: "POST", body: JSON.stringify(request), signal,
        headers: { Authorization: `Bearer ${this.key}`, "Content-Type": "application/json" },
      }).catch((error) => {
        if (!CLOSED.includes(error.cause?.code) || !triesLeft) throw error;
      });
      if (!response) continue;
      if (response.ok) return response.body;
      const text = await response.text(), wait = waitOf(response.headers);
      const final = !WORTH_ANOTHER_TRY.includes(response.status) || /quota/i.test(text);
      if (final || wait > LONGEST_WAIT || !triesLeft) throw new Error(`${response.status} ${text}`);
      await sleep(wait, undefined, { signal });
    }
  }

  // Gives each piece of text to `show`. `leave` closes the connection.
  async stream(model, prompt, show, leave = new AbortController()) {
    const timer = setTimeout(() => leave.abort(new Error(`no end after ${PATIENCE} ms`)), PATIENCE);
    try {
      const request = { model, stream: true, messages: [{ role: "user", content: prompt }] };
      await this.read(await this.open(request, leave.signal), show);
    } finally {
      clearTimeout(timer);
    }
  }

  async read(body, show) {
    let ended = null, text = "";
    for await (const event of eventsOf(body)) { // leaving the loop cancels the body
      if (event.data === "[DONE]") break;
      const chunk = event.data ? JSON.parse(event.data) : {};
      if (chunk.error || event.error || event.event === "error") throw new Error(event.error ?? event.data);
      const choice = chunk.choices?.find((one) => one.index === 0);
      ended = choice?.finish_reason || ended;
      const piece = choice?.delta?.content ?? "";
      if (typeof piece !== "string") throw new Error("the answer is not text");
      if (text.length > 3 && piece.startsWith(text)) throw new Error("each delta repeats the text so far");
      text += piece;
      if (piece) show(piece);
    }
    if (ended !== "stop" || !text) throw new Error(`the answer is incomplete: finish_reason ${ended}`);
  }
}

const chats = new Map(); // one client per address

async function outcomeOf({ job, base_url, api_key, model, prompt, after_tokens, after_ms }) {
  if (!["stream", "cancel", "abandon", "use_key"].includes(job)) return { unknown: true };
  if (!chats.has(base_url)) chats.set(base_url, new Chat(base_url, api_key));
  const chat = chats.get(base_url), leave = new AbortController();
  if (job === "use_key") return void (chat.key = api_key);
  if (job === "abandon") setTimeout(() => leave.abort(), after_ms);
  const shown = [];
  const show = (piece) => { if (shown.push(piece) === after_tokens) leave.abort(); };
  const error = await chat.stream(model, prompt, show, leave).then(() => null, String);
  return { text: shown.join(""), error };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  console.log(JSON.stringify({ id: job.id, ...(await outcomeOf(job)) }));
}
