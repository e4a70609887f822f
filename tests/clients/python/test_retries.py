"""Automatic retries: the SDK sends exactly the expected number of requests, and the gateway records each."""

import openai
import pytest

from gateways import MODEL, breaking, failing, failure, retry_counts, seconds_between, seen, user


def ask(client, messages, **parameters):
    return client.chat.completions.create(model=MODEL, messages=messages, **parameters)


@pytest.mark.parametrize(
    "spec",
    [
        {"status": 429, "retry_after_ms": "5ms"},
        {"status": 429, "retry_after_text": "0.01"},
        {"status": 408, "retry_after_ms": "5ms"},
        {"status": 409, "retry_after_ms": "5ms"},
        {"status": 500, "retry_after_ms": "5ms"},
        {"status": 503, "retry_after_ms": "5ms"},
        {"status": 400, "retry_after_ms": "5ms", "should_retry": True},
    ],
    ids=lambda spec: "-".join(str(value) for value in spec.values()),
)
def test_a_temporary_failure_is_retried_once(connect, gateway, spec):
    messages = failing(gateway, **spec)
    answer = ask(connect(gateway, max_retries=2), messages)
    assert answer.choices[0].message.content == "ok at attempt 2"
    exchanges = seen(gateway)
    assert [exchange["status"] for exchange in exchanges] == [spec["status"], 200]
    assert retry_counts(exchanges) == [0, 1]


def test_the_client_waits_for_a_retry_after_of_a_second(connect, documented):
    messages = failing(documented, 429, retry_after="1s")
    assert ask(connect(documented, max_retries=2), messages).choices[0].message.content == "ok at attempt 2"
    assert seconds_between(*seen(documented)) >= 0.99


def test_a_retry_after_as_a_date_is_understood(connect, documented):
    messages = failing(documented, 429, retry_after_date="2s")
    assert ask(connect(documented, max_retries=2), messages).choices[0].message.content == "ok at attempt 2"
    assert seconds_between(*seen(documented)) >= 0.99  # dates have a resolution of a second


@pytest.mark.parametrize("status", [429, 500])
def test_without_a_header_the_client_chooses_its_own_backoff(connect, documented, status):
    messages = failing(documented, status, without_retry_after=True)
    assert ask(connect(documented, max_retries=2), messages).choices[0].message.content == "ok at attempt 2"
    assert retry_counts(seen(documented)) == [0, 1]


def test_a_permanent_failure_ends_after_two_retries(connect, gateway):
    messages = failing(gateway, 429, times=9, retry_after_ms="5ms")
    with pytest.raises(openai.RateLimitError) as caught:
        ask(connect(gateway, max_retries=2), messages)
    assert caught.value.body["message"] == "attempt 3"
    assert retry_counts(seen(gateway)) == [0, 1, 2]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_permanent_error_is_not_retried(connect, gateway, status):
    messages = failing(gateway, status)
    with pytest.raises(openai.APIStatusError):
        ask(connect(gateway, max_retries=2), messages)
    assert retry_counts(seen(gateway)) == [0]


@pytest.mark.parametrize("status", [429, 500])
def test_x_should_retry_false_stops_retries(connect, gateway, status):
    messages = failing(gateway, status, should_retry=False)
    with pytest.raises(openai.APIStatusError):
        ask(connect(gateway, max_retries=2), messages)
    assert retry_counts(seen(gateway)) == [0]


def test_the_client_does_not_wait_longer_than_two_minutes(connect, gateway):
    messages = failing(gateway, 429, retry_after="121s")
    with pytest.raises(openai.RateLimitError):
        ask(connect(gateway, max_retries=2), messages)
    assert retry_counts(seen(gateway)) == [0]


def test_a_stream_request_is_retried_too(connect, gateway):
    messages = failing(gateway, 429, retry_after_ms="5ms")
    with ask(connect(gateway, max_retries=2), messages, stream=True) as chunks:
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "ok at attempt 2"
    assert retry_counts(seen(gateway)) == [0, 1]


def test_a_client_waits_until_a_real_rate_limit_resets(connect, documented):
    server = documented.server
    key = server.create_key(name="once in five seconds", limit="1/5s")
    client = connect(documented, api_key=key["secret"], max_retries=2)
    for _ in range(2):
        answer = ask(client, user("capital of France"))
        assert answer.choices[0].message.content == "Paris."
    exchanges = server.control("GET", "/journal", key=key["id"])["exchanges"]
    assert [exchange["status"] for exchange in reversed(exchanges)] == [200, 429, 200]


def test_a_failure_forced_on_a_key_is_retried(connect, gateway):
    gateway.fail(failure(429, retry_after_ms="5ms", times=2))
    client = connect(gateway, max_retries=2)
    assert next(model.id for model in client.models.list()) == MODEL


@pytest.mark.parametrize("effect", ["close_connection", "reset_connection"])
def test_a_connection_lost_before_the_answer_is_retried(connect, gateway, effect):
    messages = breaking(gateway, before_headers=True, effect=effect)
    answer = ask(connect(gateway, max_retries=2), messages)
    assert answer.choices[0].message.content == "one two three four"
    exchanges = seen(gateway)
    assert retry_counts(exchanges) == [0, 1]
    assert [exchange["outcome"] for exchange in exchanges] == ["broken by fault", "completed"]


@pytest.mark.parametrize("effect", ["close_connection", "reset_connection"])
def test_without_retries_a_lost_connection_is_a_connection_error(connect, gateway, effect):
    messages = breaking(gateway, before_headers=True, effect=effect)
    with pytest.raises(openai.APIConnectionError):
        ask(connect(gateway), messages)


def test_a_silent_gateway_causes_a_timeout(connect, documented):
    messages = breaking(documented, before_headers=True, effect="stall")
    with pytest.raises(openai.APITimeoutError):
        ask(connect(documented, timeout=3), messages)
    [exchange] = seen(documented)
    assert exchange["outcome"] == "client left"
