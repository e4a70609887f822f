"""The clients of the catalogue's table that run on Python, with their default settings and their documentation's code.

Takes one job per line of stdin, works at all that it has got at once, and answers each with a line of stdout: what the
caller of the job's last call saw. Ends when stdin closes. See ../node/catalogue_clients.mjs for the fields.
"""

import json
import os
import sys
import threading

import openai

MODEL = "mock-model"
PROMPT = [{"role": "user", "content": "What is the weather?"}]


def strict_function(name, **properties):
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "strict": True, "parameters": parameters}}


TOOLS = [strict_function("get_weather", city={"type": "string"}), strict_function("get_time")]


class Seen:
    """What the caller of one call has got so far."""

    def __init__(self):
        self.text = ""
        self.tool_calls = []
        self.finish_reason = None
        self.error = None
        self.in_caller = False
        self.hung = False

    def reading(self):
        """Marks what it is put around as the caller's own code: what is thrown there is not the SDK's report."""
        return _Reading(self)

    def take_choice(self, choice):
        message = choice.message
        self.finish_reason = choice.finish_reason
        self.text = str(message.content or "")  # as print() does, which the documentation hands it to
        for call in message.tool_calls or []:
            if not isinstance(call.function.arguments, str):
                json.loads(call.function.arguments)  # as every caller does, which fails
        self.tool_calls = [
            {"name": call.function.name, "arguments": call.function.arguments} for call in message.tool_calls or []
        ]


class _Reading:
    def __init__(self, seen):
        self._seen = seen

    def __enter__(self):
        self._seen.in_caller = True

    def __exit__(self, kind, error, trace):
        if error is None:
            self._seen.in_caller = False


def loop(client, request, seen):
    """The README's loop, and for tools that of the guide to function calling."""
    calls = {}
    for chunk in client.chat.completions.create(**request, stream=True):
        with seen.reading():
            choice = chunk.choices[0]
            if choice.finish_reason is not None:
                seen.finish_reason = choice.finish_reason
            delta = choice.delta
            seen.text += delta.content or ""
            for part in delta.tool_calls or []:
                call = calls.setdefault(part.index, {"name": part.function.name, "arguments": ""})
                call["arguments"] += part.function.arguments or ""
            seen.tool_calls = list(calls.values())


def stream(client, request, seen):
    with client.chat.completions.stream(**request) as events:
        for event in events:
            if event.type == "content.delta":
                seen.text += event.delta
        completion = events.get_final_completion()
    with seen.reading():
        seen.take_choice(completion.choices[0])


def plain(client, request, seen):
    completion = client.chat.completions.create(**request)
    with seen.reading():
        seen.take_choice(completion.choices[0])


CLIENTS = {"python_loop": loop, "python_stream": stream, "python_plain": plain}


def call_once(call, client, request, cut):
    """Makes one call; whatever it does, the caller is free again after the cut. A call that is cut keeps its thread."""
    seen = Seen()
    ended = threading.Event()

    def work():
        try:
            call(client, request, seen)
            with seen.reading():
                seen.text.encode()  # as whoever writes it anywhere does, which fails for half a surrogate pair
        except Exception as error:
            seen.error = error
        ended.set()

    threading.Thread(target=work, daemon=True).start()
    seen.hung = not ended.wait(cut)
    return seen


def run(any_client, job):
    settings = {"base_url": job["base_url"], "api_key": job["api_key"]}
    if job["timeout_ms"]:
        settings["timeout"] = job["timeout_ms"] / 1000
    client = any_client.with_options(**settings)
    request = {"model": MODEL, "messages": PROMPT}
    if job["tools"]:
        request["tools"] = TOOLS
    for _ in range(job["calls"]):
        seen = call_once(CLIENTS[job["client"]], client, request, job["cut_ms"] / 1000)
        if seen.hung:
            break
    failed = not seen.hung and seen.error is not None
    return {
        "job": job["job"],
        "outcome": {
            "text": seen.text.encode(errors="ignore").decode(),
            "tool_calls": seen.tool_calls,
            "finish_reason": seen.finish_reason,
            "error": failed,
            "hung": seen.hung,
        },
        "error": f"{type(seen.error).__name__}: {seen.error}" if failed else None,
        "in_caller": failed and seen.in_caller,
    }


def main():
    # Answers only: whatever a library prints goes elsewhere.
    answers, sys.stdout = sys.stdout, sys.stderr
    one_at_a_time = threading.Lock()
    # One for all: what is dear about a client is that it loads the certificates.
    any_client = openai.OpenAI(base_url="http://127.0.0.1/nowhere", api_key="none")

    def answer(job):
        try:
            line = run(any_client, job)
        except Exception as error:
            line = {"job": job["job"], "problem": repr(error)}
        with one_at_a_time:
            print(json.dumps(line), file=answers, flush=True)

    for line in sys.stdin:
        threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
    os._exit(0)  # without waiting for calls that were cut


if __name__ == "__main__":
    main()
