"""Streams that break off: what was sent arrives, and the break is not mistaken for the end."""

import openai
import pytest

from gateways import MODEL, retry_counts, script, scripted


def read(client, messages, **parameters):
    """The words that arrived, and the exception that ended them, if any."""
    words = []
    try:
        with client.chat.completions.create(model=MODEL, messages=messages, stream=True, **parameters) as chunks:
            for chunk in chunks:
                if chunk.choices and chunk.choices[0].delta.content:
                    words.append(chunk.choices[0].delta.content)
    except openai.APIError as error:
        return words, error
    return words, None


@pytest.mark.parametrize("effect", ["close", "reset"])
def test_a_stream_cut_in_the_middle_is_a_connection_error_and_not_retried(connect, place, effect):
    messages, marker = script("break", trigger="after_tokens", count=2, effect=effect)
    words, error = read(connect(place, max_retries=2), messages)
    assert words == ["one", " two"]
    assert isinstance(error, openai.APIConnectionError)
    exchanges = place.seen(marker)
    assert retry_counts(exchanges) == [0]
    assert exchanges[0]["outcome"] == "broken by fault"
    assert exchanges[0]["tokens"] == 2


@pytest.mark.parametrize("effect", ["close", "reset"])
def test_a_stream_cut_before_done_is_a_connection_error(connect, place, effect):
    messages, _ = script("break", trigger="before_done", effect=effect)
    words, error = read(connect(place), messages)
    assert words == ["one", " two", " three", " four"]
    assert isinstance(error, openai.APIConnectionError)


def test_a_stream_cut_after_its_headers_has_no_words(connect, place):
    messages, _ = script("break", trigger="after_headers", effect="close")
    words, error = read(connect(place), messages)
    assert words == []
    assert isinstance(error, openai.APIConnectionError)


def test_a_stream_cut_after_done_is_whole(connect, place):
    messages, _ = script("break", trigger="at_end", effect="close")
    assert read(connect(place), messages) == (["one", " two", " three", " four"], None)


def test_a_stream_that_stalls_is_a_timeout(connect):
    place = scripted("documented")
    messages, marker = script("break", trigger="after_tokens", count=2, effect="stall")
    words, error = read(connect(place, timeout=1), messages)
    assert words == ["one", " two"]
    assert isinstance(error, openai.APITimeoutError)
    [exchange] = place.seen(marker)
    assert exchange["outcome"] == "client left"


def test_the_stream_helper_does_not_take_a_cut_for_the_end(connect, place):
    messages, _ = script("break", trigger="after_tokens", count=2, effect="close")
    with pytest.raises(openai.APIConnectionError):
        with connect(place).chat.completions.stream(model=MODEL, messages=messages) as events:
            events.get_final_completion()


def test_after_a_cut_the_same_client_goes_on(connect, place):
    client = connect(place)
    messages, _ = script("break", trigger="after_tokens", count=1, effect="reset")
    assert read(client, messages)[0] == ["one"]
    assert read(client, messages) == (["one", " two", " three", " four"], None)
