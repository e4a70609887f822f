"""The gateways of the suites, and functions that script their replies."""

import time
import uuid
from datetime import datetime

PROFILES = ["documented", "openai", "dashscope", "deepseek"]
MODEL = "mock-model"
SMALL_MODEL = "mock-small"
MODEL_WITH_SLASH = "team/large model"
MODEL_FLAGS = ["--model", MODEL, "--model", SMALL_MODEL, "--model", f"{MODEL_WITH_SLASH}=a team"]
DISABLED_KEY = "sk-disabled-from-the-start"  # of script.jsonc


def user(text):
    return [{"role": "user", "content": text}]


def failure(status, message="scripted", code="scripted", **setters):
    """A failure in the form that scripts use."""
    return {"failure": {"status": status, "code": code, "message": message}, **setters}


def failing(gateway, status, times=1, **setters):
    """Messages that fail `times` times and then get a reply. Failures and reply contain the number of the attempt."""
    failures = [failure(status, f"attempt {number}", **setters) for number in range(1, times + 1)]
    return _answered(gateway, [*failures, f"ok at attempt {times + 1}"])


def breaking(gateway, **fault):
    """Messages whose first reply has this fault; later replies are complete."""
    whole = "one two three four"
    return _answered(gateway, [{"text": whole, "faults": [fault]}, whole])


def _answered(gateway, replies):
    text = uuid.uuid4().hex
    gateway.stub(when={"user_says": {"equals": text}}, replies=replies)
    return user(text)


def seen(gateway, **filters):
    """The exchanges of the test, oldest first, after all have ended."""
    deadline = time.monotonic() + 5
    while True:
        exchanges = gateway.journal(**filters)
        if all(exchange["outcome"] != "pending" for exchange in exchanges):
            return exchanges[::-1]
        assert time.monotonic() < deadline, "an exchange has not ended"
        time.sleep(0.005)


def findings(gateway):
    """The codes of the test's review findings. Tests of mistakes expect them; in other tests they are failures."""
    return [finding["code"] for finding in gateway.review()["findings"]]


def seconds_between(first, second):
    """The time between the starts of two exchanges."""
    moments = [datetime.fromisoformat(exchange["received"].replace("Z", "+00:00")) for exchange in (first, second)]
    return (moments[1] - moments[0]).total_seconds()


def retry_counts(exchanges):
    headers = [{name.lower(): value for name, value in exchange["request"]["headers"]} for exchange in exchanges]
    return [int(each["x-stainless-retry-count"]) for each in headers]
