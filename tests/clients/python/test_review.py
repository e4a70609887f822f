"""The gateway's review of the SDK with its defaults: ordinary use has no findings."""

import asyncio
import json
import urllib.error
import urllib.request

import openai
import pytest
from pydantic import BaseModel

from gateways import MODEL, breaking, failing, user


class City(BaseModel):
    city: str
    population: int


TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}]


@pytest.fixture
def client(documented):
    """The SDK with its default configuration."""
    with openai.OpenAI(base_url=documented.base_url, api_key=documented.api_key) as client:
        yield client


def ask(client, messages, **parameters):
    return client.chat.completions.create(model=MODEL, messages=messages, **parameters)


def plain_answers(client, _):
    for text in ["capital of France", "think"]:
        ask(client, user(text))


def streams(client, _):
    list(ask(client, user("many words"), stream=True))
    list(ask(client, user("many words"), stream=True, stream_options={"include_usage": True}))
    with client.chat.completions.stream(model=MODEL, messages=user("many words")) as stream:
        stream.until_done()


def abandoned_streams(client, gateway):
    messages = breaking(gateway, after_tokens=1, effect="stall")
    with ask(client, messages, stream=True) as stream:
        next(chunk for chunk in stream if chunk.choices[0].delta.content)


def tools(client, _):
    messages = user("weather")
    first = ask(client, messages, tools=TOOLS).choices[0].message
    messages.append(first)
    for call in first.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "21"})
    assert ask(client, messages, tools=TOOLS).choices[0].message.content == "It is 21 degrees in Paris."


def structured_output(client, _):
    answer = client.chat.completions.parse(model=MODEL, messages=user("city as JSON"), response_format=City)
    assert answer.choices[0].message.parsed.city == "Paris"


def models(client, _):
    list(client.models.list())
    client.models.retrieve(MODEL)


def temporary_failures(client, gateway):
    specs = [
        {"status": 429, "retry_after": "1s"},
        {"status": 429, "retry_after_ms": "300ms"},
        {"status": 429, "retry_after_date": "2s"},
        {"status": 429, "without_retry_after": True},
        {"status": 500},
    ]
    for spec in specs:
        assert ask(client, failing(gateway, **spec)).choices[0].message.content == "ok at attempt 2"


def requests_repeated_after_permanent_failures(client, gateway):
    for status in [400, 401, 403]:
        messages = failing(gateway, status, times=9)
        for _ in range(2):
            with pytest.raises(openai.APIStatusError):
                ask(client, messages)


@pytest.mark.parametrize(
    "scenario",
    [
        plain_answers,
        streams,
        abandoned_streams,
        tools,
        structured_output,
        models,
        temporary_failures,
        requests_repeated_after_permanent_failures,
    ],
)
def test_the_sdk_gets_no_finding(documented, client, scenario):
    scenario(client, documented)
    review = documented.review()
    assert review["ok"], review["message"]
    assert review["judged"] >= 1


def test_synchronous_and_asynchronous_clients_of_one_gateway_get_no_finding(documented, client):
    plain_answers(client, documented)

    async def main():
        async with openai.AsyncOpenAI(base_url=documented.base_url, api_key=documented.api_key) as asynchronous:
            messages = failing(documented, 429, times=6, retry_after="1s")
            await asyncio.gather(*(ask(asynchronous, messages) for _ in range(6)))

    asyncio.run(main())
    review = documented.review()
    assert review["ok"], review["message"]
    assert review["judged"] == 14


def test_a_client_that_retries_at_once_gets_a_finding(documented):
    request = urllib.request.Request(
        f"{documented.base_url}/chat/completions",
        data=json.dumps({"model": MODEL, "messages": failing(documented, 429, times=9, retry_after="60s")}).encode(),
        headers={"Authorization": f"Bearer {documented.api_key}", "Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(2):
        with pytest.raises(urllib.error.HTTPError):
            opener.open(request, timeout=10)
    review = documented.review()
    assert not review["ok"]
    assert review["findings"][0]["code"] == "retry_after_ignored", review["message"]
