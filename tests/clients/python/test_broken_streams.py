"""Broken streams: the text so far arrives, and the SDK does not mistake the break for the end."""

import openai
import pytest

from gateways import MODEL, breaking, retry_counts, seen


def read(client, messages, **parameters):
    """The words that arrived, and the exception at their end, if any."""
    words = []
    try:
        with client.chat.completions.create(model=MODEL, messages=messages, stream=True, **parameters) as chunks:
            for chunk in chunks:
                if chunk.choices and chunk.choices[0].delta.content:
                    words.append(chunk.choices[0].delta.content)
    except openai.APIError as error:
        return words, error
    return words, None


@pytest.mark.parametrize("effect", ["close_connection", "reset_connection"])
def test_a_stream_cut_in_the_middle_is_a_connection_error_and_not_retried(connect, gateway, effect):
    messages = breaking(gateway, after_tokens=2, effect=effect)
    words, error = read(connect(gateway, max_retries=2), messages)
    assert words == ["one", " two"]
    assert isinstance(error, openai.APIConnectionError)
    exchanges = seen(gateway)
    assert retry_counts(exchanges) == [0]
    assert exchanges[0]["outcome"] == "broken by fault"
    assert exchanges[0]["sent"]["tokens"] == 2


@pytest.mark.parametrize("effect", ["close_connection", "reset_connection"])
def test_a_stream_cut_before_done_is_a_connection_error(connect, gateway, effect):
    messages = breaking(gateway, before_done=True, effect=effect)
    words, error = read(connect(gateway), messages)
    assert words == ["one", " two", " three", " four"]
    assert isinstance(error, openai.APIConnectionError)


def test_a_stream_cut_after_its_headers_has_no_words(connect, gateway):
    messages = breaking(gateway, after_headers=True, effect="close_connection")
    words, error = read(connect(gateway), messages)
    assert words == []
    assert isinstance(error, openai.APIConnectionError)


def test_a_stream_cut_after_done_is_complete(connect, gateway):
    messages = breaking(gateway, at_end=True, effect="close_connection")
    assert read(connect(gateway), messages) == (["one", " two", " three", " four"], None)


def test_a_stream_that_stalls_is_a_timeout(connect, documented):
    messages = breaking(documented, after_tokens=2, effect="stall")
    words, error = read(connect(documented, timeout=3), messages)
    assert words == ["one", " two"]
    assert isinstance(error, openai.APITimeoutError)
    [exchange] = seen(documented)
    assert exchange["outcome"] == "client left"


def test_the_stream_helper_detects_a_truncated_stream(connect, gateway):
    messages = breaking(gateway, after_tokens=2, effect="close_connection")
    with pytest.raises(openai.APIConnectionError):
        with connect(gateway).chat.completions.stream(model=MODEL, messages=messages) as events:
            events.get_final_completion()


def test_a_client_keeps_working_after_a_truncated_stream(connect, gateway):
    client = connect(gateway)
    messages = breaking(gateway, after_tokens=1, effect="reset_connection")
    assert read(client, messages)[0] == ["one"]
    assert read(client, messages) == (["one", " two", " three", " four"], None)
