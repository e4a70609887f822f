"""Wrappers around the openai SDK under `mock-gateway run`: a wrapper that retries by itself without waiting gets a
finding; the same wrapper without its own retries gets none. tests/clients/run.sh runs these tests with the wrappers'
Python."""

import json
import os
import re
import subprocess
import sys

import pytest

# Keeps the wrappers from using the network beyond the gateway.
ALONE = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LANGSMITH_TRACING": "false", "DO_NOT_TRACK": "1"}

LITELLM = """
import litellm, os
answer = litellm.completion(model="openai/mock-model", messages=[{"role": "user", "content": "Hi"}],
                            api_base=os.environ["OPENAI_BASE_URL"], %s)
print(answer.choices[0].message.content)
"""

LANGCHAIN = """
from langchain_openai import ChatOpenAI
print(ChatOpenAI(model="mock-model", %s.invoke("Hi").content)
"""

# Neither waits an hour: LiteLLM waits at most a minute, and LangChain ignores the header.
WRONG = {
    "litellm": LITELLM % "num_retries=2",
    "langchain": LANGCHAIN % "max_retries=0).with_retry(stop_after_attempt=3, wait_exponential_jitter=False)",
}
RIGHT = {
    "litellm": LITELLM % "max_retries=2",
    "litellm by itself": LITELLM % "num_retries=2",
    "langchain": LANGCHAIN % "max_retries=2)",
}


@pytest.fixture
def judge(tmp_path):
    """Runs the code as a client of a gateway that refuses it once. Returns the exit code and the output."""
    script = tmp_path / "limited.json"

    def run(code, retry_after, *flags):
        replies = [{"failure": "rate_limited", "retry_after": retry_after}, "Hello."]
        script.write_text(json.dumps({"mock_gateway": 1, "stubs": [{"replies": replies, "expect": 2}]}))
        command = [os.environ["MOCK_GATEWAY_BIN"], "run", "--script", script, *flags, "--", sys.executable, "-c", code]
        done = subprocess.run(command, env={**os.environ, **ALONE}, capture_output=True, text=True, timeout=120)
        assert done.stdout.strip().endswith("Hello."), done.stderr
        return done.returncode, done.stderr

    return run


@pytest.mark.parametrize("wrapper", WRONG)
def test_a_wrapper_that_does_not_wait_gets_a_finding(judge, wrapper):
    code, said = judge(WRONG[wrapper], "3600s", "--fail-on", "warning")
    assert code == 1, said
    assert re.search(r"\nreview: 1 finding in [^\n]+\nasked_again_early \(exchange 2 after 1\): sent the same request again after [\d.]+ s, as a "
                     r"new call \(x-stainless-retry-count: 0\); Retry-After was 3600 s\.", said), said
    assert "mock-gateway: failed: 1 finding, 2 requests judged" in said


def test_a_finding_that_may_be_intended_fails_a_run_only_on_request(judge):
    code, said = judge(WRONG["langchain"], "3600s")
    assert code == 0, said
    assert "asked_again_early" in said
    assert "mock-gateway: passed: 1 finding that --fail-on does not count, 2 requests judged" in said


@pytest.mark.parametrize("wrapper", RIGHT)
def test_a_wrapper_that_waits_gets_no_finding(judge, wrapper):
    code, said = judge(RIGHT[wrapper], "1s", "--fail-on", "warning")
    assert code == 0, said
    assert "\nreview: clean: 2 exchanges judged (" in said
