"""Streamed replies: the joined chunks, and their arrival one by one."""

import openai
import pytest

from gateways import MODEL, breaking, seen, user


def stream(client, text, **parameters):
    with client.chat.completions.create(model=MODEL, messages=user(text), stream=True, **parameters) as chunks:
        return list(chunks)


def joined(chunks, index=0, field="content"):
    return "".join(
        getattr(choice.delta, field, None) or ""
        for chunk in chunks
        for choice in chunk.choices
        if choice.index == index
    )


def finish_reasons(chunks, index=0):
    return [
        choice.finish_reason
        for chunk in chunks
        for choice in chunk.choices
        if choice.index == index and choice.finish_reason
    ]


def test_chunks_join_to_the_answer(client):
    chunks = stream(client, "many words")
    assert joined(chunks) == 'Zürich, naïve, 東京 and 👩‍🚀 agree: "quoted"\n\ttabbed.'
    assert finish_reasons(chunks) == ["stop"]
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    assert len({(chunk.id, chunk.created, chunk.model) for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"
    assert len(chunks) > 5


def test_without_include_usage_no_chunk_has_usage(client):
    assert all(chunk.usage is None for chunk in stream(client, "capital of France"))


def test_usage_comes_on_request(client, profile):
    chunks = stream(client, "capital of France", stream_options={"include_usage": True})
    plain = client.chat.completions.create(model=MODEL, messages=user("capital of France"))
    assert [chunk.usage for chunk in chunks if chunk.usage] == [plain.usage]
    assert chunks[-1].usage == plain.usage
    if profile == "deepseek":
        assert chunks[-1].choices[0].finish_reason == "stop"
    else:
        assert chunks[-1].choices == []
        assert chunks[-2].choices[0].finish_reason == "stop"


def test_two_candidates_are_interleaved(client):
    chunks = stream(client, "many words", n=2)
    answer = 'Zürich, naïve, 東京 and 👩‍🚀 agree: "quoted"\n\ttabbed.'
    assert joined(chunks, 0) == joined(chunks, 1) == answer
    assert finish_reasons(chunks, 0) == finish_reasons(chunks, 1) == ["stop"]
    order = [choice.index for chunk in chunks for choice in chunk.choices]
    assert order == [0, 1] * (len(order) // 2)


def test_two_candidates_have_different_finish_reasons(client):
    chunks = stream(client, "two endings", n=2)
    assert (joined(chunks, 0), finish_reasons(chunks, 0)) == ("yes", ["stop"])
    assert (joined(chunks, 1), finish_reasons(chunks, 1)) == ("no", ["length"])


def test_thinking_comes_before_the_answer(client):
    chunks = stream(client, "think")
    assert joined(chunks, field="reasoning_content") == "Two and two make four."
    assert joined(chunks) == "Four."
    kinds = [
        "thought" if getattr(choice.delta, "reasoning_content", None) else "text"
        for chunk in chunks
        for choice in chunk.choices
        if getattr(choice.delta, "reasoning_content", None) or choice.delta.content
    ]
    assert kinds == sorted(kinds, reverse=True)


def test_the_request_switches_thinking_on(unscripted):
    chunks = stream(unscripted, "Hi", extra_body={"enable_thinking": True})
    plain = (
        unscripted.chat.completions.create(model=MODEL, messages=user("Hi"), extra_body={"enable_thinking": True})
        .choices[0]
        .message
    )
    assert joined(chunks, field="reasoning_content") == plain.reasoning_content
    assert joined(chunks) == plain.content


def test_a_refusal_is_streamed(client, profile):
    chunks = stream(client, "refuse")
    assert joined(chunks, field="refusal" if profile == "openai" else "content") == "I cannot help with that."


def test_log_probabilities_are_streamed(client):
    chunks = stream(client, "capital of France", logprobs=True)
    tokens = [
        token.token
        for chunk in chunks
        for choice in chunk.choices
        if choice.logprobs
        for token in choice.logprobs.content or []
    ]
    assert "".join(tokens) == "Paris."


@pytest.mark.parametrize("dialect", ["CRLF", "lone CR"])
def test_other_line_ends_are_understood(client, dialect):
    assert joined(stream(client, dialect)) == "one two three"


def test_a_stream_without_done_still_ends(client):
    chunks = stream(client, "no DONE")
    assert joined(chunks) == "one two three"
    assert finish_reasons(chunks) == ["stop"]


def test_the_stream_helper_builds_the_completion(client):
    with client.chat.completions.stream(model=MODEL, messages=user("many words")) as events:
        deltas = [event.delta for event in events if event.type == "content.delta"]
        completion = events.get_final_completion()
    assert "".join(deltas) == completion.choices[0].message.content
    assert completion.choices[0].finish_reason == "stop"


def test_the_first_words_arrive_while_the_rest_is_held(client, gateway):
    messages = breaking(gateway, after_tokens=2, effect="stall")
    with client.chat.completions.create(model=MODEL, messages=messages, stream=True) as chunks:
        words = []
        for chunk in chunks:
            if chunk.choices[0].delta.content:
                words.append(chunk.choices[0].delta.content)
            if len(words) == 2:
                break
    assert words == ["one", " two"]
    [exchange] = seen(gateway)
    assert exchange["outcome"] == "client left"
    assert exchange["sent"]["tokens"] == 2


def test_a_failed_stream_request_raises_an_exception(connect, gateway):
    client = connect(gateway, api_key="sk-unknown")
    with pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model=MODEL, messages=user("Hi"), stream=True)


def test_closing_a_stream_at_once_is_visible_to_the_gateway(client, gateway):
    messages = breaking(gateway, after_events=1, effect="stall")
    response = client.chat.completions.create(model=MODEL, messages=messages, stream=True)
    response.close()
    [exchange] = seen(gateway)
    assert exchange["outcome"] == "client left"
    assert client.chat.completions.create(model=MODEL, messages=user("think")).choices[0].message.content == "Four."
