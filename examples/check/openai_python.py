"""OpenAI's SDK for Python as a driver of `mock-gateway check` (docs/driver-protocol.md), called as its README shows.

    pip install openai
    mock-gateway check --driver --tools -- python3 examples/check/openai_python.py
"""

import json
import sys

import openai

clients = {}


def call(job):
    """What the caller has after one call: its text and tool calls, and the error if it failed."""
    client = clients.setdefault(job["base_url"], openai.OpenAI(base_url=job["base_url"], api_key=job["api_key"]))
    request = {"model": job["model"], "messages": [{"role": "user", "content": job["prompt"]}]}
    if "tools" in job:
        request["tools"] = job["tools"]
    seen = {"text": "", "tool_calls": [], "error": None}
    try:
        if job["job"] == "ask":
            message = client.chat.completions.create(**request).choices[0].message
            seen["text"] = message.content or ""
            calls = [part.function for part in message.tool_calls or []]
            seen["tool_calls"] = [{"name": one.name, "arguments": one.arguments} for one in calls]
        else:
            for chunk in client.chat.completions.create(**request, stream=True):
                for choice in [one for one in chunk.choices if one.index == 0]:
                    seen["text"] += choice.delta.content or ""
                    for part in choice.delta.tool_calls or []:
                        if part.index >= len(seen["tool_calls"]):
                            seen["tool_calls"].append({"name": part.function.name, "arguments": ""})
                        seen["tool_calls"][part.index]["arguments"] += part.function.arguments or ""
    except Exception as error:  # whatever the user would be shown
        seen["error"] = f"{type(error).__name__}: {error}"
    return seen


for line in sys.stdin:
    job = json.loads(line)
    if job["job"] == "hello":
        answer = {"client": "openai", "version": openai.__version__}
    elif job["job"] in ("ask", "stream"):
        answer = call(job)
    else:
        answer = {"unknown": True}
    print(json.dumps({"id": job["id"], **answer}), flush=True)
