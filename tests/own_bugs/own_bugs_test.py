"""Tests that `mock-gateway run` and `mock-gateway check` find the bug of each small client, and nothing if it is mended.

Usage: own_bugs_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
"""

import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "endpoint"))

import program

WEATHER = {"name": "get_weather", "id": "call_weather"}
TIME = {"name": "get_time", "id": "call_time"}
BOTH_RESULTS = {"all": [{"tool_result": {"tool": "get_weather", "text": "21"}}, {"tool_result": {"tool": "get_time", "text": "12:00"}}]}


def fails_once(**failure):
    return {"stubs": [{"replies": [failure, "Done."]}]}


def calls_tools(*calls, **result):
    """Returns a script that calls tools, and then answers; `result` has keys of the second stub."""
    return {"stubs": [{"when": {"last_is_tool_result": False}, "reply": {"tool_calls": list(calls)}}, {"reply": "Done.", **result}]}


class Row(NamedTuple):
    line: str  # a pattern of the line that reports the bug
    findings: list  # all findings about the client with the bug
    script: dict = None  # for `run`
    flags: list = None  # for `check`


# For each client of clients.py: how its bug is found. A date in Retry-After needs the only real wait, of 2 to 3 s.
BUGS = {
    "retry_without_body": Row(
        r"request_refused \(exchange 2\): refused with 400 invalid_json: invalid JSON: the body is empty",
        ["request_refused", "gave_up"], fails_once(failure=503, retry_after="0s")),
    "retry_date_in_local_time": Row(
        r"retry_after_ignored \(exchange 2 after 1\): retried [\d.]+ m?s before the date in Retry-After",
        ["retry_after_ignored"], fails_once(failure=429, retry_after_date="2s")),
    "retry_shows_text_again": Row(
        r"caller got  text \"Zürich 21 °C, Zürich 21 °C, 東京 9 °C[.]\"",
        [], flags=["--stream", "--only", "stream-broken-then-answer"]),
    "old_key_after_rotation": Row(
        r"retried_final_error \(exchange 2 after 1\): retried after 401 \"unauthorized\"",
        ["retried_final_error"], {"keys": [{"name": "new", "secret": "sk-new-key"}], "stubs": [{"reply": "Done."}]}),
    "key_of_another_tenant": Row(
        r"no stub matched  POST /v1/chat/completions  key \"bank\"  exchange 1\n  user: \"Hi from the shop\"",
        [], {"keys": [{"name": name, "secret": f"sk-of-{name}"} for name in ("shop", "bank")],
             "stubs": [{"when": {"key_is": name, "user_says": name}, "reply": "Done."} for name in ("shop", "bank")]}),
    "key_in_tool_result": Row(
        r"key_in_body \(exchange 2\): the body contains a key", ["key_in_body"], calls_tools({"name": "get_settings"})),
    "key_in_error_text": Row(
        r"finding key_told: the error shown to the user contains the key",
        ["key_told"], flags=["--plain", "--only", "bad-request"]),
    "second_call_unanswered": Row(
        r"tool_call_unanswered \(exchange 2\): .* answers \"call_time\"", ["tool_call_unanswered"], calls_tools(WEATHER, TIME)),
    "results_swapped": Row(
        r"✘ has an unanswered tool result of \"get_weather\" .* actual call \"call_weather\" of get_weather: \"12:00\"",
        [], calls_tools(WEATHER, TIME, should=BOTH_RESULTS)),
    "no_arguments_crash": Row(
        r"tool-call-arguments-empty +streamed ERROR",
        [], flags=["--stream", "--tools", "--outcome", "json", "--only", "tool-call-arguments-empty"]),
}


def judged(name, kind):
    """Runs a client with its bug, where only errors count, or mended, where warnings count too."""
    row = BUGS[name]
    client = [*program.PYTHON, str(HERE / "clients.py"), name, kind]
    flags = ["--fail-on", "error" if kind == "bug" else "warning"]
    options = {"env": {**os.environ, "TZ": "UTC-1", "PYTHONIOENCODING": "utf-8"}, "encoding": "utf-8"}
    if row.flags:
        return program.execute("check", *row.flags, *flags, "--", *client, **options)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.json")
        script.write_text(json.dumps({"mock_gateway": 1, **row.script}), encoding="utf-8")
        return program.run("--script", str(script), *flags, command=client, **options)


class OwnBugs(unittest.TestCase):
    def judge(self, name):
        row = BUGS[name]
        done = judged(name, "bug")
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 1, said)
        self.assertRegex(said, row.line)
        self.assertRegex(said, r"\nfailed: 1 call judged, 1 bad\n" if row.flags else r"exited with 0\n\Z")
        found = re.findall(r"^  finding (\w+): |^(\w+) \(exchange ", said, re.MULTILINE)
        self.assertEqual(["".join(codes) for codes in found], row.findings, said)

        done = judged(name, "mended")
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertRegex(said, r"\npassed: 1 call judged, 0 bad\n" if row.flags else r"Done[.]\nverify: nothing is wrong\nreview: clean: ")


for bug in BUGS:
    setattr(OwnBugs, f"test_{bug}", lambda test, name=bug: test.judge(name))

if __name__ == "__main__":
    program.main(threads=2)
