"""A Pydantic AI agent as a driver of `mock-gateway check` (docs/driver-protocol.md).

    pip install 'pydantic-ai-slim[openai]'
    mock-gateway check --driver --tools -- python3 examples/check/pydantic_ai_agent.py

The tools are external: a run ends with the tool calls.
"""

import asyncio
import importlib.metadata
import json
import sys

from pydantic_ai import Agent, AgentRunResultEvent, DeferredToolRequests, ExternalToolset, PartDeltaEvent, PartStartEvent
from pydantic_ai import TextPart, TextPartDelta, ToolDefinition
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

agents = {}  # one agent per address


def agent_of(job, anew=False):
    if anew or job["base_url"] not in agents:
        provider = OpenAIProvider(base_url=job["base_url"], api_key=job["api_key"])
        agents[job["base_url"]] = Agent(OpenAIChatModel("mock-model", provider=provider))
    return agents[job["base_url"]]


def tool_of(one):
    function = one["function"]
    return ToolDefinition(
        name=function["name"],
        description=function.get("description"),
        parameters_json_schema=function["parameters"],
        strict=function.get("strict"),
    )


def take(result, seen):
    if isinstance(result.output, DeferredToolRequests):
        calls = result.output.calls
        seen["tool_calls"] = [{"name": one.tool_name, "arguments": one.args_as_json_str()} for one in calls]
    seen["finish_reason"] = (result.response.provider_details or {}).get("finish_reason")
    usage = result.response.usage
    if usage.total_tokens:  # else the SDK filled in zeros
        seen["usage"] = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.total_tokens,
        }


async def call(job, seen):
    """Records in `seen` what the caller receives, as it arrives."""
    agent, request = agent_of(job), {}
    if "tools" in job:
        request["toolsets"] = [ExternalToolset([tool_of(one) for one in job["tools"]])]
        request["output_type"] = [str, DeferredToolRequests]
    if not job.get("stream", job["job"] != "ask"):
        result = await agent.run(job["prompt"], **request)
        seen["text"] = result.output if isinstance(result.output, str) else result.response.text or ""
        take(result, seen)
        return
    pieces = 0
    async with agent.run_stream_events(job["prompt"], **request) as events:
        async for event in events:
            piece = ""
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                piece = event.part.content
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                piece = event.delta.content_delta
            elif isinstance(event, AgentRunResultEvent):
                take(event.result, seen)
            seen["text"] += piece
            pieces += bool(piece)
            if pieces == job.get("after_tokens"):
                break  # leaving the context ends the run


async def answer(job):
    if job["job"] == "hello":
        return {"client": "pydantic-ai", "version": importlib.metadata.version("pydantic-ai-slim")}
    if job["job"] == "use_key":
        agent_of(job, anew=True)  # a provider's key is fixed
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
