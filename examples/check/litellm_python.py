"""LiteLLM as a driver of `mock-gateway check` (docs/driver-protocol.md), called as its README shows.

    pip install litellm
    mock-gateway check --driver --tools -- python3 examples/check/litellm_python.py
"""

import asyncio
import importlib.metadata
import json
import os
import sys

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it downloads prices when it starts
import litellm  # noqa: E402

keys = {}  # the key for each address: LiteLLM takes the key with each call, and keeps connections itself


def usage_of(response):
    usage = getattr(response, "usage", None)
    return usage and {name: usage[name] for name in ("prompt_tokens", "completion_tokens", "total_tokens")}


def function_of(call):
    return {"name": call.function.name or "", "arguments": call.function.arguments}


async def call(job, seen):
    """Records in `seen` what the caller receives, as it arrives."""
    request = {
        "model": "openai/" + job["model"],
        "api_base": job["base_url"],
        "api_key": keys.setdefault(job["base_url"], job["api_key"]),
        "messages": [{"role": "user", "content": job["prompt"]}],
    }
    if "tools" in job:
        request["tools"] = job["tools"]
    if not job.get("stream", job["job"] != "ask"):
        response = await litellm.acompletion(**request)
        choice = response.choices[0]
        seen["text"] = str(choice.message.content or getattr(choice.message, "refusal", None) or "")  # as print() does
        seen["tool_calls"] = [function_of(call) for call in choice.message.tool_calls or []]
        seen["finish_reason"] = choice.finish_reason
        seen["usage"] = usage_of(response)
        return
    calls, pieces = {}, 0
    stream = await litellm.acompletion(**request, stream=True)
    async for chunk in stream:
        choice = chunk.choices[0]
        seen["text"] += choice.delta.content or ""
        seen["finish_reason"] = choice.finish_reason or seen["finish_reason"]
        seen["usage"] = usage_of(chunk) or seen["usage"]
        for part in choice.delta.tool_calls or []:
            call = calls.setdefault(part.index, {"name": part.function.name or "", "arguments": ""})
            call["arguments"] += part.function.arguments or ""
        seen["tool_calls"] = list(calls.values())
        pieces += bool(choice.delta.content)
        if pieces == job.get("after_tokens"):
            await stream.aclose()
            break


async def answer(job):
    if job["job"] == "hello":
        return {"client": "litellm", "version": importlib.metadata.version("litellm")}
    if job["job"] == "use_key":
        keys[job["base_url"]] = job["api_key"]
        return {}
    if job["job"] not in ("ask", "stream", "cancel", "abandon"):
        return {"unknown": True}
    seen = {"text": "", "tool_calls": [], "error": None, "finish_reason": None, "usage": None}
    try:
        # An app cancels the task when its user leaves.
        await asyncio.wait_for(call(job, seen), job["after_ms"] / 1000 if "after_ms" in job else None)
        seen["text"].encode()  # as printing does; half a character raises
    except Exception as error:  # everything that the user would see
        seen["error"] = f"{type(error).__name__}: {error}"
    return seen


async def main():
    while line := await asyncio.to_thread(sys.stdin.readline):
        job = json.loads(line)
        said = json.dumps({"id": job["id"], **await answer(job)}, ensure_ascii=False)
        sys.stdout.buffer.write(said.encode(errors="ignore") + b"\n")
        sys.stdout.flush()


asyncio.run(main())
