"""Runs the example that fails on purpose, and compares its complete output with the expected text.

Usage: failure_texts_test.py PROGRAM PAGE…

Also compares the parts that the pages show. Uses only Python's standard library.
"""

import re
import subprocess
import sys
from pathlib import Path

EXPECTED = """\
===============================================================================
fails_on_purpose.cpp:LINE:
TEST CASE:  a typing error in the prompt

fails_on_purpose.cpp:LINE: ERROR: no stub matched  POST /v1/chat/completions  key "billing service"  exchange 1
  user: "wether in Paris?"   tools: get_weather
closest: "weather question" (fails_on_purpose.cpp:LINE), 2 of 3
  ✔ has tool "get_weather"
  ✔ model is "mock-model"
  ✘ user text contains "weather"    actual "wether in Paris?"
next: "greeting" (fails_on_purpose.cpp:LINE), 0 of 1
  ✘ not (has tool "get_weather")    actual tools: get_weather
never called: "greeting" (fails_on_purpose.cpp:LINE)
never called: "weather question" (fails_on_purpose.cpp:LINE)

===============================================================================
fails_on_purpose.cpp:LINE:
TEST CASE:  a client that does not wait

fails_on_purpose.cpp:LINE: ERROR: CHECK( gateway.review() ) is NOT correct!
  values: CHECK( 1 finding in 1 call, 2 tries, 1 injected fault
retry_after_ignored (exchange 2 after 1): retried after 0.5 s, but Retry-After was 2 s. Wait as long as the header says before retrying.
 )

fails_on_purpose.cpp:LINE: MESSAGE: exchange 1 was answered with 429 rate_limit_exceeded as scripted

===============================================================================
fails_on_purpose.cpp:LINE:
TEST CASE:  an agent that treats a cut answer as complete

fails_on_purpose.cpp:LINE: ERROR: CHECK_THROWS_AS( agent.run("The weather?"), AgentError ) did NOT throw at all!

fails_on_purpose.cpp:LINE: MESSAGE: exchange 1: finish_reason length was sent
"""


def without_lines(text):
    return re.sub(r"(?:[^\s(]*/)?fails_on_purpose\.cpp:\d+", "fails_on_purpose.cpp:LINE", text)


def main():
    run = subprocess.run(
        [sys.argv[1], "--no-colors=true", "--no-version=true", "--no-intro=true"],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    output = without_lines(run.stdout).split("\n===============================================================================\n[doctest]")[0]
    if output.strip() != EXPECTED.strip():
        sys.exit(f"--- expected\n{EXPECTED}\n--- actual\n{output}")
    for page in sys.argv[2:]:
        block = re.compile(r"^```text failure\n(.*?)^```$", re.MULTILINE | re.DOTALL)
        shown = block.findall(Path(page).read_text(encoding="utf-8"))
        if not shown:
            sys.exit(f"{page} shows no failure")
        for text in shown:
            if without_lines(text) not in output:
                sys.exit(f"{page} shows a text that the tests do not print:\n{text}\n--- actual\n{output}")
    if run.returncode == 0:
        sys.exit("the tests that fail on purpose did not fail")


if __name__ == "__main__":
    main()
