"""Documented failures, as the SDK's own exceptions."""

import openai
import pytest

from gateways import DISABLED_KEY, MODEL, MODEL_WITH_SLASH, SMALL_MODEL, failing, failure, findings, user


# The codes of errors; the type of the error of a wrong key is last.
CODES = {
    "documented": {"key": "unauthorized", "limit": "rate_limit_exceeded", "body": "value_above_maximum", "model": "model_not_found",
                   "type": "error"},
    "openai": {"key": "invalid_api_key", "limit": "rate_limit_exceeded", "body": "decimal_above_max_value", "model": "model_not_found",
               "type": "invalid_request_error"},
    "dashscope": {"key": "invalid_api_key", "limit": "limit_requests", "body": "invalid_parameter_error", "model": "model_not_found",
                  "type": "invalid_request_error"},
    "deepseek": {"key": "invalid_request_error", "limit": "rate_limit_reached_error", "body": "invalid_request_error",
                 "model": "invalid_request_error", "type": "authentication_error"},
}


def ask(client, text="capital of France", **parameters):
    return client.chat.completions.create(**{"model": MODEL, "messages": user(text), **parameters})


@pytest.mark.parametrize("wrong", ["sk-unknown", "no-prefix", "sk-"])
def test_a_wrong_key_is_an_authentication_error(connect, gateway, profile, wrong):
    client = connect(gateway, api_key=wrong)
    for call in (lambda: ask(client), lambda: client.models.list()):
        with pytest.raises(openai.AuthenticationError) as caught:
            call()
        error = caught.value
        assert error.status_code == 401
        assert "401" in error.message
        assert (error.code, error.type) == (CODES[profile]["key"], CODES[profile]["type"])
        if profile == "documented":
            assert error.body == {"code": "unauthorized", "message": "unauthorized", "type": "error"}


def test_a_disabled_key_is_a_permission_denied_error(connect, gateway, profile):
    with pytest.raises(openai.PermissionDeniedError) as caught:
        ask(connect(gateway, api_key=DISABLED_KEY))
    assert caught.value.status_code == 403
    if profile == "documented":
        assert caught.value.body == {"code": "unauthorized", "message": "unauthorized", "type": "error"}


def test_a_client_follows_the_state_changes_of_its_key(connect, gateway):
    key = gateway.server.create_key(name="through its states")
    client = connect(gateway, api_key=key["secret"])
    assert ask(client).choices[0].message.content == "Paris."
    assert gateway.server.disable_key(key["id"])["state"] == "disabled"
    with pytest.raises(openai.PermissionDeniedError):
        ask(client)
    assert gateway.server.enable_key(key["id"])["state"] == "enabled"
    assert ask(client).choices[0].message.content == "Paris."
    gateway.server.delete_key(key["id"])
    with pytest.raises(openai.AuthenticationError):
        ask(client)


def test_a_key_limited_to_a_model_sees_and_uses_only_that_model(connect, gateway):
    client = connect(gateway, api_key=gateway.server.create_key(name="small", models=[SMALL_MODEL])["secret"])
    assert [model.id for model in client.models.list()] == [SMALL_MODEL]
    assert ask(client, model=SMALL_MODEL).model == SMALL_MODEL
    with pytest.raises(openai.PermissionDeniedError):
        ask(client, model=MODEL_WITH_SLASH)


def test_the_rate_limit_of_a_key_is_a_rate_limit_error(connect, gateway, profile):
    client = connect(gateway, api_key=gateway.server.create_key(name="limited", limit="1/1h")["secret"])
    ask(client)
    with pytest.raises(openai.RateLimitError) as caught:
        ask(client)
    error = caught.value
    assert error.status_code == 429
    assert error.code == CODES[profile]["limit"]
    assert 3_590 <= float(error.response.headers["retry-after"]) <= 3_600


def test_a_limit_that_all_keys_share(connect, limited):
    client = connect(limited)
    with pytest.raises(openai.RateLimitError):
        for _ in range(3):
            ask(client)


def test_a_bad_body_is_a_bad_request_error_with_the_place_of_the_mistake(client, gateway, profile):
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, top_p=1.5)
    error = caught.value
    assert error.status_code == 400
    assert "top_p" in error.body["message"]
    assert error.code == CODES[profile]["body"]
    if profile == "openai":
        assert error.param == "top_p"
    if profile == "documented":
        assert set(error.body) == {"code", "message", "type"}
    assert findings(gateway) == ["request_refused"]


def test_a_role_that_does_not_exist_is_a_bad_request(client, gateway):
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, messages=[{"role": "robot", "content": "Hi"}])
    assert "messages" in caught.value.body["message"]
    assert findings(gateway) == ["request_refused"]


def test_a_strict_gateway_refuses_undocumented_fields(connect, strict):
    client = connect(strict)
    with pytest.raises(openai.BadRequestError):
        ask(client, frequency_penalty=0.5)
    with pytest.raises(openai.BadRequestError):
        ask(client, stop="###")
    assert findings(strict) == ["request_refused", "request_refused"]


def test_an_unknown_model_is_not_found(client, profile):
    with pytest.raises(openai.NotFoundError) as caught:
        ask(client, model="no-such-model")
    assert (caught.value.status_code, caught.value.code) == (404, CODES[profile]["model"])
    with pytest.raises(openai.NotFoundError) as caught:
        client.models.retrieve("no-such-model")
    assert caught.value.code == CODES[profile]["model"]


def test_an_unknown_operation_is_not_found(client, gateway):
    with pytest.raises(openai.NotFoundError):
        client.images.generate(model=MODEL, prompt="Hi")
    assert findings(gateway) == ["request_refused"]


def test_an_address_that_ends_with_v1_twice_is_reported(connect, gateway):
    client = connect(gateway, base_url=gateway.base_url + "/v1")
    with pytest.raises(openai.NotFoundError) as caught:
        ask(client)
    near = "/v1/chat/completions is near: the base address ends with /v1 already"
    assert caught.value.body["message"] == f"no operation at /v1/v1/chat/completions; {near}"
    assert near in gateway.review()["message"]


@pytest.mark.parametrize(
    "status, expected",
    [
        (408, openai.APIStatusError),
        (409, openai.ConflictError),
        (422, openai.UnprocessableEntityError),
        (500, openai.InternalServerError),
        (502, openai.InternalServerError),
        (503, openai.InternalServerError),
        (504, openai.InternalServerError),
        (529, openai.InternalServerError),
    ],
)
def test_every_scripted_status_has_its_exception(client, gateway, status, expected):
    messages = failing(gateway, status)
    with pytest.raises(expected) as caught:
        ask(client, messages=messages)
    assert caught.value.status_code == status
    assert caught.value.code == "scripted"
    assert caught.value.body["message"] == "attempt 1"


def test_a_failure_forced_on_a_key_affects_every_operation(connect, gateway):
    for status, code in [(503, "first"), (500, "second")]:
        gateway.fail(failure(status, code=code))
    client = connect(gateway)
    for status, code in [(503, "first"), (500, "second")]:
        with pytest.raises(openai.InternalServerError) as caught:
            client.models.list()
        assert (caught.value.status_code, caught.value.code) == (status, code)
    assert ask(client).choices[0].message.content == "Paris."
