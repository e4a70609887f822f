"""The asynchronous client."""

import asyncio

import openai
import pytest

from gateways import MODEL, retry_counts, script, user


def run(place, scenario, **settings):
    async def main():
        settings_ = {"base_url": place.base_url, "api_key": place.api_key, "max_retries": 0, "timeout": 10, **settings}
        async with openai.AsyncOpenAI(**settings_) as client:
            return await scenario(client)

    return asyncio.run(main())


def test_a_plain_answer(place):
    async def scenario(client):
        return await client.chat.completions.create(model=MODEL, messages=user("capital of France"))

    assert run(place, scenario).choices[0].message.content == "Paris."


def test_models(place):
    async def scenario(client):
        return [model.id async for model in client.models.list()]

    assert run(place, scenario)[0] == MODEL


def test_a_stream(place):
    async def scenario(client):
        stream = await client.chat.completions.create(model=MODEL, messages=user("many words"), stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

    assert run(place, scenario).startswith("Zürich, naïve, 東京")


def test_twenty_answers_at_once(place):
    async def scenario(client):
        questions = ["capital of France", "think"] * 10
        answers = await asyncio.gather(
            *(client.chat.completions.create(model=MODEL, messages=user(question)) for question in questions)
        )
        return [answer.choices[0].message.content for answer in answers]

    assert run(place, scenario) == ["Paris.", "Four."] * 10


def test_a_wrong_key(place):
    async def scenario(client):
        await client.chat.completions.create(model=MODEL, messages=user("Hi"))

    with pytest.raises(openai.AuthenticationError):
        run(place, scenario, api_key="sk-unknown")


def test_a_retry(place):
    messages, marker = script("fail", status=503, retry_after_ms=5)

    async def scenario(client):
        return await client.chat.completions.create(model=MODEL, messages=messages)

    assert run(place, scenario, max_retries=2).choices[0].message.content == "ok at attempt 2"
    assert retry_counts(place.seen(marker)) == [0, 1]


def test_a_cut_stream(place):
    messages, _ = script("break", trigger="after_tokens", count=2, effect="reset")
    words = []

    async def scenario(client):
        async for chunk in await client.chat.completions.create(model=MODEL, messages=messages, stream=True):
            words.append(chunk.choices[0].delta.content or "")

    with pytest.raises(openai.APIConnectionError):
        run(place, scenario)
    assert "".join(words) == "one two"


def test_cancelling_a_task_ends_the_exchange(place):
    messages, marker = script("break", trigger="after_tokens", count=1, effect="stall")

    async def scenario(client):
        first_word = asyncio.Event()

        async def read():
            async with await client.chat.completions.create(model=MODEL, messages=messages, stream=True) as stream:
                async for chunk in stream:
                    if chunk.choices[0].delta.content:
                        first_word.set()

        task = asyncio.create_task(read())
        await asyncio.wait_for(first_word.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(place, scenario)
    [exchange] = place.seen(marker)
    assert exchange["outcome"] == "client left"
    assert exchange["tokens"] == 1
