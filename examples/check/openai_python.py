"""OpenAI's SDK for Python as a driver of `mock-gateway check` (docs/driver-protocol.md), called as its README shows.

    pip install openai
    mock-gateway check --driver --tools -- python3 examples/check/openai_python.py [--helper]

With --helper the SDK's helper `.stream()` reads streams, instead of a loop over chunks.
"""

import json
import sys

import openai

clients = {}  # one client per address


def client_of(job):
    if job["base_url"] not in clients:
        clients[job["base_url"]] = openai.OpenAI(base_url=job["base_url"], api_key=job["api_key"])
    return clients[job["base_url"]]


def function_of(call):
    if not isinstance(call.function.arguments, str):
        json.loads(call.function.arguments)  # as every app does; raises for invalid JSON
    return {"name": call.function.name or "", "arguments": call.function.arguments}


def take(completion, seen):
    choice = completion.choices[0]
    seen["text"] = str(choice.message.content or choice.message.refusal or "")  # as print() does
    seen["tool_calls"] = [function_of(call) for call in choice.message.tool_calls or []]
    seen["finish_reason"] = choice.finish_reason
    seen["usage"] = completion.usage and completion.usage.model_dump()


def loop(stream, seen, job):
    calls, pieces = {}, 0
    for chunk in stream:
        seen["usage"] = chunk.usage.model_dump() if chunk.usage else seen["usage"]
        choice = chunk.choices[0]
        seen["finish_reason"] = choice.finish_reason or seen["finish_reason"]
        seen["text"] += choice.delta.content or choice.delta.refusal or ""
        for part in choice.delta.tool_calls or []:
            call = calls.setdefault(part.index, {"name": part.function.name or "", "arguments": ""})
            call["arguments"] += part.function.arguments or ""
        seen["tool_calls"] = list(calls.values())
        pieces += bool(choice.delta.content)
        if pieces == job.get("after_tokens"):
            stream.close()
            break


def helper(manager, seen, job):
    pieces = 0
    with manager as events:
        for event in events:
            if event.type == "content.delta":
                seen["text"] += event.delta
                pieces += 1
                if pieces == job.get("after_tokens"):
                    return  # leaving the manager closes the stream
        take(events.get_final_completion(), seen)


def call(job, seen):
    """Records in `seen` what the caller receives, as it arrives."""
    client = client_of(job)
    if "after_ms" in job:
        client = client.with_options(timeout=job["after_ms"] / 1000)
    request = {"model": job["model"], "messages": [{"role": "user", "content": job["prompt"]}]}
    if "tools" in job:
        request["tools"] = job["tools"]
    if "include_usage" in job:
        request["stream_options"] = {"include_usage": True}
    if not job.get("stream", job["job"] != "ask"):
        take(client.chat.completions.create(**request), seen)
    elif "--helper" in sys.argv:
        helper(client.chat.completions.stream(**request), seen, job)
    else:
        loop(client.chat.completions.create(**request, stream=True), seen, job)


def answer(job):
    if job["job"] == "hello":
        return {"client": "openai", "version": openai.__version__}
    if job["job"] == "use_key":
        client_of(job).api_key = job["api_key"]
        return {}
    if job["job"] not in ("ask", "stream", "cancel", "abandon"):
        return {"unknown": True}
    seen = {"text": "", "tool_calls": [], "error": None, "finish_reason": None, "usage": None}
    try:
        call(job, seen)
        seen["text"].encode()  # as printing does; half a character raises
    except Exception as error:  # everything that the user would see
        seen["error"] = f"{type(error).__name__}: {error}"
    return seen


for line in sys.stdin:
    job = json.loads(line)
    said = json.dumps({"id": job["id"], **answer(job)}, ensure_ascii=False)
    sys.stdout.buffer.write(said.encode(errors="ignore") + b"\n")
    sys.stdout.flush()
