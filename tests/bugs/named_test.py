#!/usr/bin/env python3
"""Checks that the text of a failed test names the cause: the bug of the tested client.

    named_test.py PROGRAM

Runs each test case with its bug, where it must fail, and without, where it must pass and print nothing about the
gateway. A bug is named if the failed test prints its words in CAUSES. Uses only Python's standard library.
"""

import os
import re
import subprocess
import sys

# Words of a failure that lead an author to the bug.
CAUSES = {
    "a line feed alone ends a line": "lines ended with CR\\b",
    "a carriage return stays in its line": "lines ended with CRLF",
    "an event that no blank line ends is dropped": "blank line",
    "an answer without [DONE] is taken for a broken one": "exchange 1.*\\[DONE\\]",
    "a closed connection is taken for the end": "exchange 1 broke off after token 2",
    "an answer cut short by its length is taken for a whole one": "finish_reason length",
    "an error event is passed over": "exchange 1 sent an error event after token 2",
    "each read is decoded by itself": "exchange 1 stalled inside .*character",
    "parallel tool calls are joined": "2 tool calls",
    "a 401 is retried": "retried_final_error",
    "Retry-After is ignored": "retry_after_ignored",
    "a 500 is final": "exchange 1.* 500 ",
    "a key is kept after it was changed": "exchange 2.* 401 .*first key",
    "a stream is left open": "stream_left_open",
    "a stall is waited for": "stall(s|ed) (as scripted )?after token 2",
    "the first choice alone is read": "2 choices",
    "the finish_reason is taken for the end, and the usage is lost": "usage",
    "comments are parsed": "exchange 1.* comment",
    "a kept connection is trusted": "connection 1 .*reused",
    "a tool's result has another id than its call": "tool_result_unknown_id",
}

# Bugs that no text names, and the reasons.
UNNAMED = {
    "the finish_reason is taken for the end, and the usage is lost": (
        "the stream was the usual one and left the gateway whole; what of it the client read is not on the wire"
    ),
}

RULER = "=" * 79


def run(program, case, seeded):
    """Returns whether the test case passed, and its output."""
    environment = {name: value for name, value in os.environ.items() if name != "SEEDED"}
    if seeded:
        environment["SEEDED"] = "1"
    escaped = case.replace(",", "\\,")
    done = subprocess.run(
        [program, "--no-colors=true", "--no-version=true", "--no-intro=true", f"--test-case={escaped}"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
    )
    if "test cases: 1 |" not in done.stdout:
        sys.exit(f"the program has no test case {case!r}:\n{done.stdout}")
    said = done.stdout.split(f"{RULER}\n[doctest]")[0]
    # The test's name and its checks do not count: they are the author's own words.
    own = re.compile(r"^TEST CASE: .*\n|^.* is NOT correct!\n", re.MULTILINE)
    return done.returncode == 0, own.sub("", said)


def main():
    program = sys.argv[1]
    listed = subprocess.run(
        [program, "--list-test-cases", "--no-version=true"], stdout=subprocess.PIPE, encoding="utf-8", timeout=60
    ).stdout
    missing = [case for case in CAUSES if case not in listed.splitlines()]
    count = int(re.search(r"unskipped test cases passing the current filters: (\d+)", listed)[1])
    if missing or count != len(CAUSES):
        sys.exit(f"CAUSES and the program's {count} test cases differ: {missing}")

    mistakes = []
    named = []
    for case, words in CAUSES.items():
        passed, said = run(program, case, seeded=False)
        if not passed or said.strip():
            mistakes.append(f"the mended twin of {case!r}:\n{said}")
        passed, said = run(program, case, seeded=True)
        if passed:
            mistakes.append(f"the bug {case!r} fails no test")
        is_named = re.search(words, said) is not None
        named += [case] if is_named else []
        if is_named == (case in UNNAMED):
            mistakes.append(f"{case!r} is {'' if is_named else 'not '}named:\n{said}")
    print(f"named: {len(named)} of {len(CAUSES)} bugs")
    for case in CAUSES:
        if case not in named:
            print(f"not named: {case}{': ' + UNNAMED[case] if case in UNNAMED else ''}")
    if mistakes:
        sys.exit("\n".join(mistakes))


if __name__ == "__main__":
    main()
