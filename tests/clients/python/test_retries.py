"""Automatic retries: the SDK sends exactly as many requests as it should, and the gateway saw each."""

import openai
import pytest

from gateways import MODEL, new_marker, retry_counts, script, scripted, user


def ask(client, messages, **parameters):
    return client.chat.completions.create(model=MODEL, messages=messages, **parameters)


@pytest.mark.parametrize(
    "spec",
    [
        {"status": 429, "retry_after_ms": 5},
        {"status": 429, "retry_after": "0.01"},
        {"status": 408, "retry_after_ms": 5},
        {"status": 409, "retry_after_ms": 5},
        {"status": 500, "retry_after_ms": 5},
        {"status": 503, "retry_after_ms": 5},
        {"status": 400, "retry_after_ms": 5, "should_retry": True},
    ],
    ids=lambda spec: "-".join(str(value) for value in spec.values()),
)
def test_a_passing_failure_is_retried_once(connect, place, spec):
    messages, marker = script("fail", **spec)
    answer = ask(connect(place, max_retries=2), messages)
    assert answer.choices[0].message.content == "ok at attempt 2"
    exchanges = place.seen(marker)
    assert [exchange["status"] for exchange in exchanges] == [spec["status"], 200]
    assert retry_counts(exchanges) == [0, 1]


def test_a_retry_after_of_a_second_is_waited_out(connect):
    place = scripted("documented")
    messages, marker = script("fail", status=429, retry_after="1")
    assert ask(connect(place, max_retries=2), messages).choices[0].message.content == "ok at attempt 2"
    first, second = place.seen(marker)
    assert second["received_ms"] - first["received_ms"] >= 990


def test_a_retry_after_as_a_date_is_understood(connect):
    place = scripted("documented")
    messages, marker = script("fail", status=429, retry_after_date_ms=2000)
    assert ask(connect(place, max_retries=2), messages).choices[0].message.content == "ok at attempt 2"
    first, second = place.seen(marker)
    assert second["received_ms"] - first["received_ms"] >= 990  # a date has whole seconds


@pytest.mark.parametrize("status", [429, 500])
def test_without_a_header_the_client_backs_off_by_itself(connect, status):
    place = scripted("documented")
    messages, marker = script("fail", status=status)
    assert ask(connect(place, max_retries=2), messages).choices[0].message.content == "ok at attempt 2"
    assert retry_counts(place.seen(marker)) == [0, 1]


def test_a_lasting_failure_is_given_up_after_two_retries(connect, place):
    messages, marker = script("fail", status=429, times=9, retry_after_ms=5)
    with pytest.raises(openai.RateLimitError) as caught:
        ask(connect(place, max_retries=2), messages)
    assert caught.value.body["message"] == "attempt 3"
    assert retry_counts(place.seen(marker)) == [0, 1, 2]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_a_retry_cannot_mend_is_not_retried(connect, place, status):
    messages, marker = script("fail", status=status)
    with pytest.raises(openai.APIStatusError):
        ask(connect(place, max_retries=2), messages)
    assert retry_counts(place.seen(marker)) == [0]


@pytest.mark.parametrize("status", [429, 500])
def test_x_should_retry_false_stops_retries(connect, place, status):
    messages, marker = script("fail", status=status, should_retry=False)
    with pytest.raises(openai.APIStatusError):
        ask(connect(place, max_retries=2), messages)
    assert retry_counts(place.seen(marker)) == [0]


def test_a_retry_after_beyond_two_minutes_is_not_waited_for(connect, place):
    messages, marker = script("fail", status=429, retry_after="121")
    with pytest.raises(openai.RateLimitError):
        ask(connect(place, max_retries=2), messages)
    assert retry_counts(place.seen(marker)) == [0]


def test_a_stream_request_is_retried_too(connect, place):
    messages, marker = script("fail", status=429, retry_after_ms=5)
    with ask(connect(place, max_retries=2), messages, stream=True) as chunks:
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "ok at attempt 2"
    assert retry_counts(place.seen(marker)) == [0, 1]


def test_a_real_limit_passes(connect):
    place = scripted("documented")
    client = connect(place, api_key=place.create_key(limit=1, window_ms=2000)["secret"], max_retries=2)
    marker = new_marker()
    for _ in range(2):
        answer = ask(client, user(f"capital of France #{marker}"))
        assert answer.choices[0].message.content == "Paris."
    assert [exchange["status"] for exchange in place.seen(marker)] == [200, 429, 200]


def test_a_failure_forced_on_a_key_is_retried(connect, place):
    key = place.create_key(fail=[{"status": 429, "retry_after_ms": 5, "times": 2}])
    client = connect(place, api_key=key["secret"], max_retries=2)
    assert next(model.id for model in client.models.list()) == MODEL


@pytest.mark.parametrize("effect", ["close", "reset"])
def test_a_connection_lost_before_the_answer_is_retried(connect, place, effect):
    messages, marker = script("break", trigger="before_headers", effect=effect)
    answer = ask(connect(place, max_retries=2), messages)
    assert answer.choices[0].message.content == "one two three four"
    exchanges = place.seen(marker)
    assert retry_counts(exchanges) == [0, 1]
    assert [exchange["outcome"] for exchange in exchanges] == ["broken by fault", "completed"]


@pytest.mark.parametrize("effect", ["close", "reset"])
def test_without_retries_a_lost_connection_is_a_connection_error(connect, place, effect):
    messages, _ = script("break", trigger="before_headers", effect=effect)
    with pytest.raises(openai.APIConnectionError):
        ask(connect(place), messages)


def test_a_gateway_that_says_nothing_is_a_timeout(connect):
    place = scripted("documented")
    messages, marker = script("break", trigger="before_headers", effect="stall")
    with pytest.raises(openai.APITimeoutError):
        ask(connect(place, timeout=1), messages)
    [exchange] = place.seen(marker)
    assert exchange["outcome"] == "client left"
