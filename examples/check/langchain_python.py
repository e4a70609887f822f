"""LangChain's ChatOpenAI for Python as a driver of `mock-gateway check` (docs/driver-protocol.md).

    pip install langchain-openai
    mock-gateway check --driver --tools -- python3 examples/check/langchain_python.py
"""

import asyncio
import importlib.metadata
import json
import sys

from langchain_openai import ChatOpenAI

models = {}  # one model per address


def model_of(job, anew=False):
    if anew or job["base_url"] not in models:
        models[job["base_url"]] = ChatOpenAI(model="mock-model", base_url=job["base_url"], api_key=job["api_key"])
    return models[job["base_url"]]


def take(message, seen, job):
    if "tools" in job:  # only an app with tools reads tool calls
        calls = [(one["name"], json.dumps(one["args"], ensure_ascii=False)) for one in message.tool_calls]
        seen["tool_calls"] = [{"name": name, "arguments": arguments} for name, arguments in calls]
    seen["finish_reason"] = message.response_metadata.get("finish_reason")
    if usage := getattr(message, "usage_metadata", None):
        seen["usage"] = {
            "prompt_tokens": usage["input_tokens"],
            "completion_tokens": usage["output_tokens"],
            "total_tokens": usage["total_tokens"],
        }


async def call(job, seen):
    """Records in `seen` what the caller receives, as it arrives."""
    model = model_of(job)
    if "tools" in job:
        model = model.bind_tools(job["tools"])
    if not job.get("stream", job["job"] != "ask"):
        message = await model.ainvoke(job["prompt"])
        seen["text"] = message.text or message.additional_kwargs.get("refusal") or ""
        take(message, seen, job)
        return
    full, pieces = None, 0
    stream = model.astream(job["prompt"])
    async for chunk in stream:
        seen["text"] += chunk.text
        full = chunk if full is None else full + chunk
        take(full, seen, job)
        pieces += bool(chunk.text)
        if pieces == job.get("after_tokens"):
            await stream.aclose()
            break


async def answer(job):
    if job["job"] == "hello":
        return {"client": "langchain-openai", "version": importlib.metadata.version("langchain-openai")}
    if job["job"] == "use_key":
        model_of(job, anew=True)  # a model's key is fixed
        return {}
    if job["job"] not in ("ask", "stream", "cancel", "abandon"):
        return {"unknown": True}
    seen = {"text": "", "tool_calls": [], "error": None}
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
