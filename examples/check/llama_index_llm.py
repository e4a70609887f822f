"""LlamaIndex's OpenAILike as a driver of `mock-gateway check` (docs/driver-protocol.md), called as its documentation shows.

    pip install llama-index-llms-openai-like
    mock-gateway check --driver --tools -- python3 examples/check/llama_index_llm.py
"""

import asyncio
import importlib.metadata
import json
import sys

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

models = {}  # one model per address


def model_of(job, anew=False):
    if anew or job["base_url"] not in models:
        models[job["base_url"]] = OpenAILike(
            model="mock-model",
            api_base=job["base_url"],
            api_key=job["api_key"],
            is_chat_model=True,
            is_function_calling_model=True,
        )
    return models[job["base_url"]]


def reason_of(response):
    choices = getattr(response.raw, "choices", None) or []
    return choices[0].finish_reason if choices else None


def take(model, response, seen, job):
    if "tools" in job:
        calls = model.get_tool_calls_from_response(response, error_on_no_tool_call=False)
        pairs = [(one.tool_name, json.dumps(one.tool_kwargs, ensure_ascii=False)) for one in calls]
        seen["tool_calls"] = [{"name": name, "arguments": arguments} for name, arguments in pairs]


async def call(job, seen):
    """Records in `seen` what the caller receives, as it arrives."""
    model, messages = model_of(job), [ChatMessage(role="user", content=job["prompt"])]
    request = {"tools": job["tools"]} if "tools" in job else {}
    if not job.get("stream", job["job"] != "ask"):
        response = await model.achat(messages, **request)
        seen["text"] = response.message.content or ""
        seen["finish_reason"] = reason_of(response)
        take(model, response, seen, job)
        return
    response, pieces = None, 0
    stream = await model.astream_chat(messages, **request)
    async for response in stream:
        seen["text"] += response.delta or ""
        seen["finish_reason"] = reason_of(response) or seen["finish_reason"]
        pieces += bool(response.delta)
        if pieces == job.get("after_tokens"):
            await stream.aclose()
            return
    take(model, response, seen, job)


async def answer(job):
    if job["job"] == "hello":
        return {"client": "llama-index", "version": importlib.metadata.version("llama-index-llms-openai-like")}
    if job["job"] == "use_key":
        model_of(job, anew=True)  # a model's key is fixed
        return {}
    if job["job"] not in ("ask", "stream", "cancel", "abandon"):
        return {"unknown": True}
    seen = {"text": "", "tool_calls": [], "error": None, "finish_reason": None}
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
