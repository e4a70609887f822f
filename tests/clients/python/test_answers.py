"""Models and plain chat replies, as the SDK's own objects."""

from gateways import MODEL, MODEL_WITH_SLASH, SMALL_MODEL, findings, seen, user


def test_models_are_listed(client):
    models = list(client.models.list())
    assert [model.id for model in models] == [MODEL, SMALL_MODEL, MODEL_WITH_SLASH]
    assert {model.object for model in models} == {"model"}
    assert models[0].owned_by == "mock_gateway"
    assert models[2].owned_by == "a team"
    assert all(model.created > 0 for model in models)


def test_a_model_is_retrieved_by_its_id(client):
    model = client.models.retrieve(SMALL_MODEL)
    assert (model.id, model.object, model.owned_by) == (SMALL_MODEL, "model", "mock_gateway")


def test_a_model_whose_id_has_a_slash_is_retrieved_percent_encoded(client):
    assert client.models.retrieve(MODEL_WITH_SLASH).id == MODEL_WITH_SLASH


def test_a_scripted_answer_arrives(client):
    answer = client.chat.completions.create(model=MODEL, messages=user("What is the capital of France?"))
    assert answer.object == "chat.completion"
    assert answer.model == MODEL
    assert answer.created > 0
    assert len(answer.choices) == 1
    assert answer.choices[0].index == 0
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].message.content == "Paris."
    assert answer.choices[0].message.tool_calls is None
    assert answer.choices[0].finish_reason == "stop"


def test_usage_adds_up(client):
    usage = client.chat.completions.create(model=MODEL, messages=user("What is the capital of France?")).usage
    assert usage.prompt_tokens > 0
    assert usage.completion_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_ids_are_unique(client):
    ids = {client.chat.completions.create(model=MODEL, messages=user("think")).id for _ in range(3)}
    assert len(ids) == 3


def test_text_outside_ascii_arrives_whole(client):
    answer = client.chat.completions.create(model=MODEL, messages=user("many words"))
    assert answer.choices[0].message.content == 'Zürich, naïve, 東京 and 👩‍🚀 agree: "quoted"\n\ttabbed.'


def test_the_reply_names_the_model(client):
    answer = client.chat.completions.create(model=MODEL, messages=user("another model"))
    assert answer.model == "mock-model-2024"


def test_without_a_script_the_gateway_replies_with_a_default(unscripted):
    answer = unscripted.chat.completions.create(model=MODEL, messages=user("Hi"))
    assert answer.choices[0].message.content.strip()
    assert answer.choices[0].finish_reason == "stop"


def test_two_candidates(unscripted):
    answer = unscripted.chat.completions.create(model=MODEL, messages=user("Hi"), n=2)
    assert [choice.index for choice in answer.choices] == [0, 1]
    assert all(choice.message.content for choice in answer.choices)
    assert answer.choices[0].message.content != answer.choices[1].message.content


def test_two_candidates_have_different_finish_reasons(client):
    answer = client.chat.completions.create(model=MODEL, messages=user("two endings"), n=2)
    assert [(c.message.content, c.finish_reason) for c in answer.choices] == [("yes", "stop"), ("no", "length")]


def test_max_tokens_cuts_the_answer(client):
    answer = client.chat.completions.create(model=MODEL, messages=user("many words"), max_tokens=2)
    assert answer.choices[0].message.content == "Zürich, naïve,"
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage.completion_tokens == 2


def test_stop_cuts_the_answer_before_the_match(client):
    answer = client.chat.completions.create(model=MODEL, messages=user("many words"), stop=[" naïve"])
    assert answer.choices[0].message.content == "Zürich,"
    assert answer.choices[0].finish_reason == "stop"


def test_the_same_seed_repeats_the_answer(unscripted):
    def ask(seed):
        answer = unscripted.chat.completions.create(model=MODEL, messages=user("Hi"), seed=seed)
        return answer.choices[0].message.content

    assert ask(7) == ask(7)
    assert len({ask(seed) for seed in range(5)}) > 1


def test_every_documented_parameter_reaches_the_gateway(client, gateway):
    client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "system", "content": "Be brief."}, *user("capital of France")],
        temperature=0.2,
        top_p=0.9,
        max_tokens=50,
        presence_penalty=-0.5,
        n=1,
        seed=3,
        stop=["###"],
        response_format={"type": "text"},
        extra_body={"enable_thinking": False, "repetition_penalty": 1.1},
    )
    [exchange] = seen(gateway)
    assert exchange["outcome"] == "completed"
    sent = {"temperature": 0.2, "presence_penalty": -0.5, "repetition_penalty": 1.1, "enable_thinking": False}
    assert sent.items() <= exchange["request"]["body"]["json"].items()
    assert findings(gateway) == ["temperature_and_top_p"]


def test_content_as_text_parts_is_understood(client):
    parts = [{"type": "text", "text": "What is the capital"}, {"type": "text", "text": " of France?"}]
    answer = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": parts}])
    assert answer.choices[0].message.content == "Paris."


def test_thinking_comes_in_addition_to_the_answer(client):
    message = client.chat.completions.create(model=MODEL, messages=user("think")).choices[0].message
    assert message.reasoning_content == "Two and two make four."
    assert message.content == "Four."


def test_the_request_switches_thinking_on(unscripted):
    thinking = unscripted.chat.completions.create(
        model=MODEL, messages=user("Hi"), extra_body={"enable_thinking": True}
    )
    assert thinking.choices[0].message.reasoning_content
    assert thinking.choices[0].message.content
    assert thinking.usage.completion_tokens_details.reasoning_tokens > 0
    plain = unscripted.chat.completions.create(model=MODEL, messages=user("Hi"))
    assert not getattr(plain.choices[0].message, "reasoning_content", None)


def test_log_probabilities_come_for_each_token(client):
    choice = client.chat.completions.create(
        model=MODEL, messages=user("capital of France"), logprobs=True, top_logprobs=2
    ).choices[0]
    assert "".join(token.token for token in choice.logprobs.content) == choice.message.content
    for token in choice.logprobs.content:
        assert token.logprob <= 0
        assert bytes(token.bytes).decode() == token.token
        assert len(token.top_logprobs) == 2


def test_a_refusal_has_its_own_field_if_the_profile_has_one(client, profile):
    message = client.chat.completions.create(model=MODEL, messages=user("refuse")).choices[0].message
    if profile == "openai":
        assert (message.content, message.refusal) == (None, "I cannot help with that.")
    else:
        assert (message.content, message.refusal) == ("I cannot help with that.", None)


def test_a_strict_gateway_accepts_a_documented_request(connect, strict):
    client = connect(strict)
    answer = client.chat.completions.create(model=MODEL, messages=user("Hi"), temperature=1, stop=["###"], max_tokens=5)
    assert answer.choices[0].message.content
    chunks = list(client.chat.completions.create(model=MODEL, messages=user("Hi"), stream=True))
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_raw_responses_carry_the_headers(client):
    raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=user("capital of France"))
    assert raw.status_code == 200
    assert raw.headers["content-type"].startswith("application/json")
    assert raw.parse().choices[0].message.content == "Paris."
