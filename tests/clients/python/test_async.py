"""The asynchronous client."""

import asyncio

import openai
import pytest

from gateways import MODEL, breaking, failing, retry_counts, seen, user


def run(gateway, scenario, **settings):
    async def main():
        address = {"base_url": gateway.base_url, "api_key": gateway.api_key}
        async with openai.AsyncOpenAI(**{**address, "max_retries": 0, "timeout": 10, **settings}) as client:
            return await scenario(client)

    return asyncio.run(main())


def test_a_plain_answer(gateway):
    async def scenario(client):
        return await client.chat.completions.create(model=MODEL, messages=user("capital of France"))

    assert run(gateway, scenario).choices[0].message.content == "Paris."


def test_models(gateway):
    async def scenario(client):
        return [model.id async for model in client.models.list()]

    assert run(gateway, scenario)[0] == MODEL


def test_a_stream(gateway):
    async def scenario(client):
        stream = await client.chat.completions.create(model=MODEL, messages=user("many words"), stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

    assert run(gateway, scenario).startswith("Zürich, naïve, 東京")


def test_twenty_parallel_answers(gateway):
    async def scenario(client):
        questions = ["capital of France", "think"] * 10
        answers = await asyncio.gather(
            *(client.chat.completions.create(model=MODEL, messages=user(question)) for question in questions)
        )
        return [answer.choices[0].message.content for answer in answers]

    assert run(gateway, scenario) == ["Paris.", "Four."] * 10


def test_a_wrong_key(gateway):
    async def scenario(client):
        await client.chat.completions.create(model=MODEL, messages=user("Hi"))

    with pytest.raises(openai.AuthenticationError):
        run(gateway, scenario, api_key="sk-unknown")


def test_a_retry(gateway):
    messages = failing(gateway, 503, retry_after_ms="5ms")

    async def scenario(client):
        return await client.chat.completions.create(model=MODEL, messages=messages)

    assert run(gateway, scenario, max_retries=2).choices[0].message.content == "ok at attempt 2"
    assert retry_counts(seen(gateway)) == [0, 1]


def test_a_cut_stream(gateway):
    messages = breaking(gateway, after_tokens=2, effect="reset_connection")
    words = []

    async def scenario(client):
        async for chunk in await client.chat.completions.create(model=MODEL, messages=messages, stream=True):
            words.append(chunk.choices[0].delta.content or "")

    with pytest.raises(openai.APIConnectionError):
        run(gateway, scenario)
    assert "".join(words) == "one two"


def test_cancelling_a_task_ends_the_exchange(gateway):
    messages = breaking(gateway, after_tokens=1, effect="stall")

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

    run(gateway, scenario)
    [exchange] = seen(gateway)
    assert exchange["outcome"] == "client left"
    assert exchange["sent"]["tokens"] == 1
