"""Tool calls: plain, streamed, parallel, forced, and in a whole loop."""

import json

import openai
from pydantic import BaseModel, Field

from gateways import MODEL, user

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
ZONE = {"type": "object", "properties": {"zone": {"type": "string"}}, "additionalProperties": False}
TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": CITY}},
    {"type": "function", "function": {"name": "get_time", "description": "The time", "parameters": ZONE}},
]


def ask(client, text, **parameters):
    parameters = {"tools": TOOLS, "messages": user(text), **parameters}
    return client.chat.completions.create(model=MODEL, **parameters)


def streamed_calls(chunks, choice_index=0):
    """A client's view of tool deltas: id and name from the first fragment, joined arguments."""
    calls = {}
    for chunk in chunks:
        for choice in chunk.choices:
            if choice.index != choice_index:
                continue
            for delta in choice.delta.tool_calls or []:
                call = calls.setdefault(delta.index, {"id": None, "name": None, "arguments": "", "fragments": 0})
                call["id"] = call["id"] or delta.id
                call["name"] = call["name"] or delta.function.name
                call["arguments"] += delta.function.arguments or ""
                call["fragments"] += 1
    return [calls[index] for index in sorted(calls)]


def test_a_tool_is_called(client):
    choice = ask(client, "weather").choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    [call] = choice.message.tool_calls
    assert call.id and call.type == "function"
    assert call.function.name == "get_weather"
    assert json.loads(call.function.arguments) == {"city": "Paris", "days": 3}


def test_a_tool_call_is_streamed_in_fragments(client):
    chunks = list(ask(client, "weather", stream=True))
    [call] = streamed_calls(chunks)
    assert call["id"] and call["name"] == "get_weather"
    assert json.loads(call["arguments"]) == {"city": "Paris", "days": 3}
    assert call["fragments"] > 1
    assert [c.finish_reason for chunk in chunks for c in chunk.choices if c.finish_reason] == ["tool_calls"]


def test_two_tools_are_called_in_parallel(client):
    calls = ask(client, "weather and time").choices[0].message.tool_calls
    assert [call.function.name for call in calls] == ["get_weather", "get_time"]
    assert json.loads(calls[1].function.arguments) == {"zone": "Europe/Paris"}
    assert calls[0].id != calls[1].id


def test_two_tool_calls_are_streamed_one_after_the_other(client):
    calls = streamed_calls(ask(client, "weather and time", stream=True))
    assert [call["name"] for call in calls] == ["get_weather", "get_time"]
    assert [json.loads(call["arguments"]) for call in calls] == [{"city": "Paris", "days": 3}, {"zone": "Europe/Paris"}]


def test_a_tool_without_arguments_gets_an_empty_object(client):
    assert ask(client, "no arguments").choices[0].message.tool_calls[0].function.arguments == "{}"
    [call] = streamed_calls(ask(client, "no arguments", stream=True))
    assert call["arguments"] == "{}"


def test_the_result_of_a_tool_gets_an_answer(client):
    messages = user("weather and time")
    reply = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS).choices[0].message
    messages.append(reply)
    for call, result in zip(reply.tool_calls, ["21 degrees", "noon"]):
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    answer = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
    assert answer.choices[0].message.content == "It is 21 degrees in Paris at noon."


def test_the_whole_loop_works_with_a_gateway_that_accepts_only_what_openai_documents(connect, strict_openai):
    client = connect(strict_openai)
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "get_time"}}]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed}
    messages = [{"role": "developer", "content": "Be brief."}, *user("What time is it?")]
    reply = ask(client, "", messages=messages, tool_choice=choice, parallel_tool_calls=False).choices[0].message
    [call] = reply.tool_calls
    assert call.function.name == "get_time"
    messages += [reply, {"role": "tool", "tool_call_id": call.id, "content": "noon"}]
    free = {"type": "json_schema", "json_schema": {"name": "answer"}}
    answer = ask(client, "", messages=messages, response_format=free).choices[0].message.content
    assert isinstance(json.loads(answer), dict)
    chunks = list(ask(client, "", messages=messages, stream=True))
    assert "".join(c.delta.content or "" for chunk in chunks for c in chunk.choices)


def test_required_forces_a_call_that_fits_the_tool(unscripted):
    choice = ask(unscripted, "Hi", tool_choice="required").choices[0]
    assert choice.finish_reason == "tool_calls"
    for call in choice.message.tool_calls:
        arguments = json.loads(call.function.arguments)
        if call.function.name == "get_weather":
            assert isinstance(arguments["city"], str)
            assert arguments["days"] >= 1
        else:
            assert call.function.name == "get_time"
            assert set(arguments) <= {"zone"}


def test_a_named_tool_is_called(unscripted):
    named = {"type": "function", "function": {"name": "get_time"}}
    calls = ask(unscripted, "Hi", tool_choice=named).choices[0].message.tool_calls
    assert {call.function.name for call in calls} == {"get_time"}


def test_without_parallel_calls_there_is_at_most_one_call(unscripted):
    choice = ask(unscripted, "Hi", tool_choice="required", parallel_tool_calls=False).choices[0]
    assert len(choice.message.tool_calls) == 1


def test_none_forbids_calls(unscripted):
    choice = ask(unscripted, "Hi", tool_choice="none").choices[0]
    assert choice.message.tool_calls is None
    assert choice.message.content


def test_streamed_and_plain_calls_agree(unscripted):
    plain = ask(unscripted, "Hi", tool_choice="required", seed=5).choices[0].message.tool_calls
    streamed = streamed_calls(ask(unscripted, "Hi", tool_choice="required", seed=5, stream=True))
    assert [(c["name"], c["arguments"]) for c in streamed] == [(c.function.name, c.function.arguments) for c in plain]


class GetWeather(BaseModel):
    """The weather of a city."""

    city: str
    days: int = Field(ge=1, le=14)


def test_the_pydantic_tool_helper_parses_the_arguments(unscripted):
    completion = unscripted.chat.completions.parse(
        model=MODEL,
        messages=user("Hi"),
        tools=[openai.pydantic_function_tool(GetWeather)],
        tool_choice={"type": "function", "function": {"name": "GetWeather"}},
    )
    parsed = completion.choices[0].message.tool_calls[0].function.parsed_arguments
    assert isinstance(parsed, GetWeather)
    assert 1 <= parsed.days <= 14


def test_the_stream_helper_collects_tool_calls(client):
    with client.chat.completions.stream(model=MODEL, messages=user("weather and time"), tools=TOOLS) as events:
        done = [event for event in events if event.type == "tool_calls.function.arguments.done"]
        calls = events.get_final_completion().choices[0].message.tool_calls
    assert [event.name for event in done] == ["get_weather", "get_time"]
    assert json.loads(calls[0].function.arguments) == {"city": "Paris", "days": 3}
