"""Structured output: the SDK's parse helper with replies that the gateway generates from a schema."""

import json
from enum import Enum
from typing import Literal, Optional

import openai
import pytest
from pydantic import BaseModel, Field

from gateways import MODEL, findings, user


class Unit(str, Enum):
    celsius = "celsius"
    fahrenheit = "fahrenheit"


class Place(BaseModel):
    name: str = Field(min_length=2, max_length=40)
    latitude: float = Field(ge=-90, le=90)


class Storm(BaseModel):
    kind: Literal["storm"]
    severity: int = Field(ge=1, le=5)


class Calm(BaseModel):
    kind: Literal["calm"]


class Step(BaseModel):
    explanation: str
    next: Optional["Step"] = None


class Forecast(BaseModel):
    place: Place
    unit: Unit
    highs: list[float] = Field(min_length=1, max_length=7)
    note: str | None = None
    tags: list[Literal["dry", "wet"]]
    event: Storm | Calm
    certain: bool
    first_step: Step


@pytest.mark.parametrize("seed", range(5))
def test_the_parse_helper_gets_an_instance_of_the_schema(unscripted, seed):
    completion = unscripted.chat.completions.parse(
        model=MODEL, messages=user("The forecast?"), response_format=Forecast, seed=seed
    )
    message = completion.choices[0].message
    assert isinstance(message.parsed, Forecast)
    assert Forecast.model_validate_json(message.content) == message.parsed
    assert completion.choices[0].finish_reason == "stop"


def test_a_streamed_instance_is_parsed_too(unscripted):
    plain = unscripted.chat.completions.parse(model=MODEL, messages=user("The forecast?"), response_format=Forecast)
    with unscripted.chat.completions.stream(
        model=MODEL, messages=user("The forecast?"), response_format=Forecast
    ) as events:
        completion = events.get_final_completion()
    assert completion.choices[0].message.parsed == plain.choices[0].message.parsed


def test_two_candidates_are_two_instances(unscripted):
    completion = unscripted.chat.completions.parse(
        model=MODEL, messages=user("The forecast?"), response_format=Forecast, n=2
    )
    assert [type(choice.message.parsed) for choice in completion.choices] == [Forecast, Forecast]


def test_a_truncated_instance_is_reported_as_truncated(unscripted):
    with pytest.raises(openai.LengthFinishReasonError):
        unscripted.chat.completions.parse(
            model=MODEL, messages=user("The forecast?"), response_format=Forecast, max_tokens=1
        )


class City(BaseModel):
    city: str
    population: int


def test_a_scripted_json_answer_is_parsed(client):
    completion = client.chat.completions.parse(model=MODEL, messages=user("city as JSON"), response_format=City)
    assert completion.choices[0].message.parsed == City(city="Paris", population=2102650)


def test_json_object_gives_a_json_object(unscripted):
    answer = unscripted.chat.completions.create(
        model=MODEL, messages=user("Some JSON, please"), response_format={"type": "json_object"}
    )
    assert isinstance(json.loads(answer.choices[0].message.content), dict)


def test_an_unsupported_schema_is_a_bad_request(unscripted, unscripted_gateway, profile):
    with pytest.raises(openai.BadRequestError) as caught:
        unscripted.chat.completions.create(
            model=MODEL,
            messages=user("Hi"),
            response_format={
                "type": "json_schema",
                "json_schema": {
                    "name": "odd",
                    "schema": {"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}},
                },
            },
        )
    codes = {"dashscope": "invalid_parameter_error", "deepseek": "invalid_request_error"}
    assert caught.value.code == codes.get(profile, "unsupported_schema")
    assert findings(unscripted_gateway) == ["request_refused"]
