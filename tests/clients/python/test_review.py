"""What the gateway's review says of the SDK as it comes: in ordinary use, nothing."""

import asyncio
import json
import urllib.error
import urllib.request

import openai
import pytest
from pydantic import BaseModel

from gateways import MODEL, reviewed, script, user


class City(BaseModel):
    city: str
    population: int


TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]


@pytest.fixture
def place():
    return reviewed()


@pytest.fixture
def key(place):
    return place.create_key()


@pytest.fixture
def client(place, key):
    """In the SDK's default configuration."""
    with openai.OpenAI(base_url=place.base_url, api_key=key["secret"]) as client:
        yield client


def ask(client, messages, **parameters):
    return client.chat.completions.create(model=MODEL, messages=messages, **parameters)


def failing(**spec):
    return script("fail", **spec)[0]


def plain_answers(client):
    for text in ["capital of France", "think"]:
        ask(client, user(text))


def streams(client):
    list(ask(client, user("many words"), stream=True))
    list(ask(client, user("many words"), stream=True, stream_options={"include_usage": True}))
    with client.chat.completions.stream(model=MODEL, messages=user("many words")) as stream:
        stream.until_done()


def streams_that_are_left(client):
    messages, _ = script("break", trigger="after_tokens", count=1, effect="stall")
    with ask(client, messages, stream=True) as stream:
        next(chunk for chunk in stream if chunk.choices[0].delta.content)


def tools(client):
    messages = user("weather")
    first = ask(client, messages, tools=TOOLS).choices[0].message
    messages.append(first)
    for call in first.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "21"})
    assert ask(client, messages, tools=TOOLS).choices[0].message.content == "It is 21 degrees in Paris."


def structured_output(client):
    answer = client.chat.completions.parse(model=MODEL, messages=user("city as JSON"), response_format=City)
    assert answer.choices[0].message.parsed.city == "Paris"


def models(client):
    list(client.models.list())
    client.models.retrieve(MODEL)


def failures_that_pass(client):
    specs = [
        {"status": 429, "retry_after": "1"},
        {"status": 429, "retry_after_ms": 300},
        {"status": 429, "retry_after_date_ms": 2000},
        {"status": 429},
        {"status": 500},
    ]
    for spec in specs:
        assert ask(client, failing(**spec)).choices[0].message.content == "ok at attempt 2"


def failures_that_stay_asked_about_twice(client):
    for status in [400, 401, 403]:
        messages = failing(status=status, times=9)
        for _ in range(2):
            with pytest.raises(openai.APIStatusError):
                ask(client, messages)


@pytest.mark.parametrize(
    "scenario",
    [
        plain_answers,
        streams,
        streams_that_are_left,
        tools,
        structured_output,
        models,
        failures_that_pass,
        failures_that_stay_asked_about_twice,
    ],
)
def test_the_sdk_is_clean(place, key, client, scenario):
    scenario(client)
    review = place.review(key["id"])
    assert review["clean"], review["message"]
    assert review["judged"] >= 1


def test_the_asynchronous_client_is_clean_beside_the_synchronous_one(place, key, client):
    plain_answers(client)

    async def main():
        async with openai.AsyncOpenAI(base_url=place.base_url, api_key=key["secret"]) as asynchronous:
            messages = failing(status=429, times=6, retry_after="1")
            await asyncio.gather(*(ask(asynchronous, messages) for _ in range(6)))

    asyncio.run(main())
    review = place.review(key["id"])
    assert review["clean"], review["message"]
    assert review["judged"] == 14


def test_a_client_that_comes_back_at_once_is_not(place, key):
    request = urllib.request.Request(
        f"{place.base_url}/chat/completions",
        data=json.dumps({"model": MODEL, "messages": failing(status=429, times=9, retry_after="60")}).encode(),
        headers={"Authorization": f"Bearer {key['secret']}", "Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(2):
        with pytest.raises(urllib.error.HTTPError):
            opener.open(request, timeout=10)
    review = place.review(key["id"])
    assert not review["clean"]
    assert review["message"].startswith("retry_after_ignored (exchange ")
