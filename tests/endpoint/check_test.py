"""Tests of `mock-gateway check -- CMD`: how it runs clients, and its reports. check_clients_test.py tests the failures
that it finds.

Usage: check_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library. The
client under test is check_client.py, with or without a bug; other commands and drivers are a few lines of Python here.
"""

import html.parser
import json
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree
from pathlib import Path

import program
from checking import (CHECKOUT, SCENARIOS, ANSWER, WHOLE, command, driver, client, only, check,
                      check_driver, Folder)
from program import TIMEOUT, execute, once


class Preflight(Folder):
    def refused(self, *flags, of, **options):
        done = check(*flags, *only("early-hints"), of=of, **options)
        self.assertEqual((done.code, done.stdout), (2, ""), done.said)
        self.assertTrue(done.stderr.startswith("mock-gateway: "), done.stderr)
        self.assertNotRegex(done.stderr, r"sk-[A-Za-z0-9_-]{10}", "a key is in no log")
        self.assertIsNone(done.report)
        return done.stderr

    def test_a_command_that_cannot_be_started_is_explained(self):
        for word, why in [("no-such-command", "No such file or directory"), (str(self.folder), "Permission denied")]:
            for flags in [], ["--driver"]:
                said = self.refused(*flags, of=[word])
                self.assertEqual(said, f"mock-gateway: cannot start {word}: {why}\n")

    def test_check_without_a_command_is_an_error(self):
        for words in ["check"], ["check", "--"], ["check", "true"]:
            done = execute(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertRegex(done.stderr, r"\Amock-gateway: [^\n]+\n\Z")

    def test_a_client_that_requests_another_model_fails_the_preflight(self):
        said = self.refused(of=client("wrong-model"))
        for part in ("POST", "/v1/chat/completions", "404", "model_not_found", "gpt-of-my-own"):
            self.assertIn(part, said)
        said = self.refused("--driver", of=client("wrong-model", words=["--driver"]))
        self.assertIn("model_not_found", said)

    def test_a_client_that_sends_no_request_fails_the_preflight(self):
        said = self.refused(of=["sh", "-c", "echo 'It is raining.'; echo 'no network here' >&2"])
        for part in ("request", "It is raining.", "no network here", ANSWER):
            self.assertIn(part, said)
        # The right text is not enough: the client must have sent a request.
        self.refused(of=["echo", ANSWER])

    def test_a_client_that_prints_other_text_too(self):
        said = self.refused(of=command("print('Connecting'); go()"))
        for part in ("Connecting", ANSWER, "200"):
            self.assertIn(part, said)
        self.refused(of=command("import builtins; builtins.print = lambda *_, **__: sys.stdout.write('\\n\\n'); go()"))

    def test_a_trailing_newline_is_not_part_of_the_answer(self):
        for end in "''", "chr(10)":
            done = check("--plain", *only("early-hints"), of=command(
                f"import builtins; builtins.print = lambda *_, **__: sys.stdout.write({end}); go()"))
            self.assertEqual(done.code, 0, done.said)

    def test_a_client_that_fails_hangs_or_is_killed(self):
        said = self.refused(of=command("print('x' * 40000); print('the end'); print('told', file=sys.stderr); sys.exit(3)"))
        for part in ("the end", "told", "3"):
            self.assertIn(part, said)
        self.assertLess(len(said), 20000, "the last 16 KiB")
        self.assertGreater(len(said), 15000)
        self.refused("--timeout", "500ms", of=command("time.sleep(1000)"))
        self.assertIn("signal 6", self.refused(of=command("os.abort()")))

    def test_a_driver_that_ends_prints_nothing_or_something_else(self):
        self.refused("--driver", of=["true"])
        self.refused("--driver", of=["cat"])
        self.assertIn("no such module", self.refused("--driver", of=["sh", "-c", "echo no such module >&2; exit 1"]))
        said = self.refused("--driver", of=driver("for job in jobs: print('{not json', flush=True)"))
        self.assertIn("{not json", said)
        self.refused("--driver", of=driver("for job in jobs: say(job, {'text': 'Hello.'})"))
        self.refused("--driver", of=driver("for job in jobs: say(job, {'unknown': True})"))

    def test_a_client_without_tools_although_they_are_requested(self):
        done = check_driver("--tools", *only("early-hints"), of=driver(
            "for job in jobs:\n    job.pop('tools', None)\n    say(job, {**outcome_of(job), 'tool_calls': []})"))
        self.assertEqual(done.code, 2, done.said)
        self.assertIn("get_weather", done.stderr)

    def test_the_preflight_is_in_no_report(self):
        done = check_driver("--plain", *only("early-hints"), of=client(words=["--driver"]))
        self.assertEqual(list(done.cells), [("early-hints", "plain")])


class ExitCodes(Folder):
    def code(self, *flags, of):
        done = check(*flags, of=of)
        self.assertEqual(done.report["failed"], done.code == 1, done.said)
        return done.code

    def test_the_exit_code_is_0_for_a_careful_client_and_1_for_a_bug(self):
        self.assertEqual(self.code("--plain", *only("early-hints"), of=client()), 0)
        self.assertEqual(self.code("--plain", *only("closed-in-stream"), of=client("no-error-on-cut")), 1)

    def test_fail_on_decides_which_failures_count(self):
        cases = [("no-error-on-cut", "closed-in-stream"), ("retries-401", "key-invalid"), ("undocumented-field", "early-hints")]
        bug, name = cases[2]
        self.assertEqual(self.code("--fail-on", "error", "--plain", *only(name), of=client(bug)), 0)
        for bug, name in cases:
            with self.subTest(bug):
                self.assertEqual(self.code("--fail-on", "warning", "--plain", *only(name), of=client(bug)), 1)
        bugs, names = zip(*cases)
        self.assertEqual(self.code("--fail-on", "never", "--plain", *only(*names), of=client(*bugs)), 0)

    def test_ignored_findings(self):
        words, flags = client("retries-401"), ["--plain", *only("key-invalid")]
        self.assertEqual(self.code("--without-finding", "retried_final_error", *flags, of=words), 0)
        done = check("--without-finding", "retried_final_eror", *flags, of=words)
        self.assertEqual((done.code, done.stdout), (2, ""), done.said)
        self.assertIn("retried_final_error", done.stderr)

    def test_the_exit_code_is_1_if_nothing_was_judged(self):
        done = check("--plain", *only("closed-when-reused"), of=client())
        self.assertEqual(done.code, 1, done.said)
        self.assertEqual(done.kinds(), {"closed-when-reused plain": "skipped"})
        self.assertEqual(self.code("--fail-on", "never", "--plain", *only("closed-when-reused"), of=client()), 0)

    def test_the_exit_code_is_2_for_an_invalid_command_line(self):
        for flags, said in [(["--sweep", "a b"], "--driver"), (["--splits", "a b"], "--driver"), (["--tools"], "--outcome"),
                            (["--driver", "--sweep", "a", "--splits", "b"], "--s"), (["--timeout", "20"], "--timeout"),
                            (["--timeout", "0s"], "--timeout"), (["--jobs", "0"], "--jobs"), (["--fail-on", "x"], "--fail-on"),
                            (["--report", "xml"], "--report"), (["--report", "junit"], "--report"),
                            (["--report", "html"], "--report"), (["--report", "json:/no/such/folder/x"], "/no/such/folder/x"),
                            (["--write-baseline"], "--baseline"), (["--baseline", "/no/such/file"], "/no/such/file"),
                            (["--outcome", "xml"], "--outcome"), (["--catalogue", "/no/such/folder"], "/no/such/folder"),
                            (["--profile", "none"], "--profile"), (["--acceptance", "none"], "--acceptance"),
                            (["--enforce", "documented"], "documented not in {openai,dashscope,deepseek}"),
                            (["--base-path", "x"], "base_path"), (["--key-header", "host"], "key_header"),
                            (["--unknown"], "--unknown")]:
            with self.subTest(flags):
                done = execute("check", *flags, "--", *client())
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertTrue(done.stderr.startswith("mock-gateway: ") or said == "/no/such/folder", done.stderr)
                self.assertIn(said, done.stderr)


class Retries(Folder):
    SCENARIOS = only("rate-limited-then-answer", "retry-after-zero", "retry-after-in-the-past", "retry-after-garbage")

    def test_a_client_that_takes_no_time_to_wait_for_never_is_told(self):
        code = """
if scenario in ("retry-after-zero", "retry-after-garbage"):
    check_client.Client.pause = lambda *_: None
go()
"""
        done = check("--plain", *self.SCENARIOS, of=command(code))
        self.assertEqual(done.code, 0, done.said)
        self.assertEqual(done.report["remarks"], [
            "inconsistent retries, plain: CMD tries again after Retry-After: 1 (rate-limited-then-answer), but not in "
            "retry-after-zero, retry-after-garbage. A Retry-After that names no time to wait does not mean never: wait for "
            "a time of your own, such as 0.5 s"])
        self.assertIn(done.report["remarks"][0], done.stdout)

    def test_clients_that_always_or_never_try_again_are_consistent(self):
        never = "check_client.Client.pause = lambda *_: None; go()"
        for of in client(), command(never):
            with self.subTest(of=of):
                self.assertEqual(check("--plain", *self.SCENARIOS, of=of).report["remarks"], [])

    def test_503_must_be_tried_again(self):
        done = check("--plain", *only("unavailable-then-answer"), of=command("check_client.Client.pause = lambda *_: None; go()"))
        self.assertEqual((done.code, done.bad()), (1, {"unavailable-then-answer plain error"}), done.said)

    def test_a_content_length_in_characters_fails(self):
        code = """
import http.client, urllib.parse
body = json.dumps({"model": os.environ["MOCK_GATEWAY_MODEL"], "messages": [
    {"role": "user", "content": os.environ["MOCK_GATEWAY_PROMPT"]}]}, ensure_ascii=False)
address = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
connection = http.client.HTTPConnection(address.netloc, timeout=5)
connection.request("POST", address.path + "/chat/completions", body.encode(), {
    "Content-Length": str(len(body.encode()) if BYTES else len(body)), "Content-Type": "application/json",
    "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
response = connection.getresponse()
if response.status != 200: sys.exit(str(response.status))
sys.stdout.buffer.write(json.load(response)["choices"][0]["message"]["content"].encode())
"""
        for is_right, exit_code in (True, 0), (False, 2):
            with self.subTest(is_right):
                done = check("--plain", *only("unknown-fields"), of=command(f"BYTES = {is_right}\n" + code))
                self.assertEqual(done.code, exit_code, done.said)


    def test_a_client_with_another_header_for_its_key_and_another_base_path(self):
        code = """
import urllib.error, urllib.parse, urllib.request
body = json.dumps({"model": os.environ["MOCK_GATEWAY_MODEL"], "messages": [
    {"role": "user", "content": os.environ["MOCK_GATEWAY_PROMPT"]}]})
def answer(url):
    headers = {"api-key": os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    try:
        return urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers), timeout=5)
    except urllib.error.HTTPError as error:
        if error.code != 307: raise
        return answer(urllib.parse.urljoin(url, error.headers["Location"]))
text = json.load(answer(os.environ["OPENAI_BASE_URL"] + "/chat/completions"))["choices"][0]["message"]["content"]
sys.stdout.buffer.write(text.encode())
"""
        flags = ["--key-header", "api-key", "--base-path", "/api/v4"]
        done = check("--plain", *only("redirect-307"), *flags, of=command(code))
        self.assertEqual((done.code, done.bad()), (0, set()), done.said)
        self.assertIn(" ".join(flags), done.report["cells"][0]["again"])
        self.assertEqual(check("--plain", *only("redirect-307"), of=command(code)).code, 2)
        anonymous = command(code.replace('"api-key": os.environ["OPENAI_API_KEY"], ', ""))
        done = check("--plain", *only("unknown-fields"), "--no-key-required", of=anonymous)
        self.assertEqual(done.code, 0, done.said)
        self.assertIn("--no-key-required", done.report["cells"][0]["again"])


class Selection(Folder):
    def test_flags_select_scenarios_by_name_and_group(self):
        done = check_driver("--plain", "--group", "connection", "--skip", "early-hints", of=client(words=["--driver"]))
        groups = {cell["group"] for cell in done.report["cells"]}
        self.assertEqual(groups, {"connection"})
        names = {name for name, _ in done.cells}
        self.assertIn("unsolicited-continue", names)
        self.assertNotIn("early-hints", names)
        done = check("--plain", *only("bad-request", "empty-200"), of=client())
        self.assertEqual(set(done.cells), {("bad-request", "plain"), ("empty-200", "plain")})

    def test_the_error_for_an_unknown_name_suggests_a_similar_one(self):
        for flags, near in [(["--only", "early-hint"], "early-hints"), (["--skip", "closed-in-strem"], "closed-in-stream"),
                            (["--group", "tool-calls"], "tool calls")]:
            done = execute("check", *flags, "--", *client())
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(near, done.stderr)
            self.assertRegex(done.stderr, r"\Amock-gateway: [^\n]+\n\Z")

    def test_flags_select_plain_and_streamed_calls(self):
        names = only("early-hints", "done-missing")
        for flags, forms in [([], ["plain", "streamed"]), (["--plain", "--stream"], ["plain", "streamed"]),
                             (["--plain"], ["plain"]), (["--stream"], ["streamed"])]:
            with self.subTest(flags):
                done = check_driver(*flags, *names, of=client(words=["--driver"]))
                self.assertEqual((done.code, done.report["forms"]), (0, forms), done.said)
                expected = {("early-hints", form) for form in forms} | ({("done-missing", "streamed")} & {
                    ("done-missing", form) for form in forms})
                self.assertEqual(set(done.cells), expected)
                if not flags:
                    self.assertIn("–", done.row("done-missing"), done.said)

    def test_a_client_with_one_form_is_recognized(self):
        for bug, form, words in [("always-plain", "plain", client("always-plain")), ("stream", "streamed",
                                                                                     client(words=["--stream"]))]:
            with self.subTest(bug):
                done = check(*only("early-hints"), of=words)
                self.assertEqual((done.code, done.report["forms"]), (0, [form]), done.said)
                self.assertEqual(list(done.cells), [("early-hints", form)])
                self.assertEqual(len(done.report["remarks"]), 1, done.report)
                self.assertIn(done.report["remarks"][0], done.stdout.replace("\n", " "))

    def test_the_requested_form_must_exist(self):
        done = check("--stream", *only("early-hints"), of=client("always-plain"))
        self.assertEqual(done.code, 2, done.said)
        self.assertIn("stream", done.stderr)

    def test_skipped_scenarios_have_a_reason(self):
        done = check("--plain", *only("early-hints", "closed-when-reused", "text-before-tool-call"), of=client())
        self.assertEqual(done.code, 0, done.said)
        for name, why in ("closed-when-reused", "--driver"), ("text-before-tool-call", "--tools"):
            cell = done.cells[name, "plain"]
            self.assertEqual(cell["kind"], "skipped")
            self.assertIn(why, cell["why"])
            self.assertIn("?", done.row(name))
            self.assertIn(why, done.stdout)
        self.assertEqual(done.report["counts"]["skipped"], 2)

    def test_a_call_that_does_not_reach_the_scenario_is_skipped(self):
        names = "unknown-fields", "early-hints", "closed-on-accept"
        done = check("--plain", *only(*names, "bad-request"), of=command(
            f"if scenario in {names!r}: print({WHOLE!r})\nelse: go()"))
        for name in names:
            with self.subTest(name):
                self.assertEqual(done.kinds()[f"{name} plain"], "skipped", done.said)
                self.assertIn("request", done.cells[name, "plain"]["why"])
        self.assertEqual(done.code, 0, done.said)

    def test_a_refused_connection_is_judged(self):
        done = check("--plain", *only("connection-refused"), of=client())
        self.assertEqual((done.kinds(), done.code), ({"connection-refused plain": "error"}, 0), done.said)

    def test_a_client_that_offers_no_tools(self):
        done = check_driver("--tools", *only("stop-after-tool-call"), of=driver(
            "for job in jobs: job.pop('tools', None); say(job, outcome_of(job))"))
        self.assertEqual(done.code, 2, done.said)
        self.assertIn("get_weather", done.stderr)

    def test_with_tools_scenarios_of_tool_calls_are_judged(self):
        names = only("text-before-tool-call", "early-hints")
        for flags, words in [(["--driver"], ["--driver"]), (["--outcome", "json"], ["--outcome-json"])]:
            done = check("--tools", *flags, *names, of=client(words=words))
            self.assertEqual(done.code, 0, done.said)
            cell = done.cells["text-before-tool-call", "streamed"]
            self.assertEqual((cell["kind"], cell["text"]), ("ok", "Let me look."))
            self.assertEqual([(call["name"], json.loads(call["arguments"])) for call in cell["tool_calls"]],
                             [("get_weather", {"city": "Zürich"})])

    def test_scenarios_in_a_folder_can_replace_the_catalogue(self):
        done = check_driver("--catalogue", str(SCENARIOS), of=client(words=["--driver"]))
        self.assertEqual(done.code, 0, done.said)
        names = {path.stem for path in SCENARIOS.glob("*.jsonc")} - {"tool-call-without-index"}
        self.assertEqual({cell["scenario"] for cell in done.report["cells"] if cell["kind"] != "skipped"}, names)
        done = check_driver("--catalogue", str(SCENARIOS), "--plain", "--only", "crlf-line-end",
                            of=client(words=["--driver"]))
        self.assertEqual(done.code, 2, done.said)
        self.assertIn("crlf-line-ends", done.stderr)
        broken = self.write("broken.jsonc", '{\n "mock_gateway": 1,\n "scenario": {"nam": "x"}\n}\n')
        done = check("--catalogue", str(self.folder), of=client())
        self.assertEqual((done.code, done.stdout), (2, ""), done.said)
        self.assertRegex(done.stderr, re.escape(broken) + r":3:\d+: ")


class WhatACommandGets(Folder):
    LOOK = "log([scenario, stream, dict(os.environ), sys.argv[1:], sys.stdin.read(), os.getpgrp() == os.getpid()])\ngo()"

    def looked(self, *flags, of=None, environment=None):
        given = {name: value for name, value in os.environ.items()
                 if name.lower() != "no_proxy" and not name.startswith("OPENAI_")}
        done = check(*flags, of=of or command(self.LOOK), env={**given, **self.environment, **(environment or {})})
        self.assertEqual(done.code, 0, done.said)
        return [seen for seen in self.logged() if seen[0] == "early-hints"]

    def test_the_client_gets_address_key_and_prompt_in_its_environment(self):
        seen = self.looked(*only("early-hints"), environment={"NO_PROXY": "corp", "OTHER": "kept", "OPENAI_API_KEY": "sk-real"})
        self.assertEqual(sorted(stream for _, stream, *_ in seen), [False, True])
        for _, stream, environment, _, stdin, is_leader in seen:
            address = environment["OPENAI_BASE_URL"]
            self.assertRegex(address, r"\Ahttp://127\.0\.0\.1:\d+/v1\Z")
            self.assertEqual(environment["OPENAI_API_BASE"], address)
            self.assertNotEqual(environment["OPENAI_API_KEY"], "sk-real")
            self.assertEqual((environment["NO_PROXY"], environment["no_proxy"]), ("corp,127.0.0.1,localhost",) * 2)
            self.assertEqual(environment["MOCK_GATEWAY_PROMPT"], "What is the weather in Zürich?")
            self.assertEqual(environment["MOCK_GATEWAY_MODEL"], "mock-model")
            self.assertEqual(environment["MOCK_GATEWAY_STREAM"], "1" if stream else "0")
            self.assertEqual((environment["OTHER"], stdin, is_leader), ("kept", "", True))
            self.assertNotIn("MOCK_GATEWAY_TOOLS", environment)
        self.assertNotEqual(*(environment["OPENAI_BASE_URL"] for _, _, environment, *_ in seen))

    def test_placeholders_in_the_arguments_are_replaced(self):
        words = ["{base_url}", "key={api_key}", "{prompt}", "{model}{stream}", "{other}", "{}", "$HOME", "a b", ""]
        seen = self.looked("--plain", "--prompt", "Say {model}", "--model", "fast", "--model", "deep", *only("early-hints"),
                           of=[*command(self.LOOK), *words])
        (_, _, environment, given, *_), = seen
        self.assertEqual(given, [environment["OPENAI_BASE_URL"], "key=" + environment["OPENAI_API_KEY"], "Say {model}",
                                 "fastfalse", "{other}", "{}", "$HOME", "a b", ""])
        self.assertEqual(environment["MOCK_GATEWAY_PROMPT"], "Say {model}")

    def test_tools_are_in_the_environment_of_calls_that_have_them(self):
        code = ("log([scenario, stream, os.environ.get('MOCK_GATEWAY_TOOLS')])\n"
                "sys.exit(check_client.command([], None, True))")
        done = check("--plain", "--tools", "--outcome", "json", *only("text-before-tool-call"), of=command(code),
                     environment=self.environment)
        self.assertEqual(done.code, 0, done.said)
        (tools,) = [json.loads(tools) for name, _, tools in self.logged() if name == "text-before-tool-call"]
        self.assertEqual([tool["function"]["name"] for tool in tools], ["get_weather", "get_time"])

    def test_the_outcome_is_the_last_line(self):
        ask = ("outcome = check_client.Client(os.environ['OPENAI_BASE_URL'], os.environ['OPENAI_API_KEY']).call("
               "'mock-model', 'Hi', stream).as_json()\nprint('some line')\n")
        flags = ["--outcome", "json", "--plain"]
        done = check(*flags, *only("early-hints", "closed-in-stream"), of=command(ask + "print(json.dumps(outcome))"))
        self.assertEqual((done.code, done.bad()), (0, set()), done.said)
        self.assertTrue(done.cells["closed-in-stream", "plain"]["told"])
        # An exit status other than 0 suffices to report an error.
        code = ask + "print(json.dumps({'text': outcome['text']})); sys.exit(outcome['error'] is not None)"
        done = check(*flags, *only("closed-in-stream"), of=command(code))
        self.assertEqual(done.kinds(), {"closed-in-stream plain": "error"}, done.said)
        done = check(*flags, *only("early-hints"), of=command(
            ask + "print(outcome['text'] if scenario == 'early-hints' else json.dumps(outcome))"))
        self.assertNotEqual(done.code, 0, done.said)
        self.assertIn("Zürich", done.stdout + done.stderr)
        # `check` also judges the other fields of the outcome.
        done = check(*flags, *only("unknown-fields"), of=command(
            ask + "print(json.dumps(outcome | ({'finish_reason': 'length'} if scenario == 'unknown-fields' else {})))"))
        self.assertEqual(done.kinds(), {"unknown-fields plain": "wrong"}, done.said)

    def test_an_answer_that_is_not_utf_8_is_wrong_and_cannot_control_the_terminal(self):
        done = check("--plain", *only("early-hints"), of=command(
            "if scenario != 'early-hints': go()\n"
            "check_client.command([], None, False); os.write(1, b'\\xff\\x00\\x1b]0;x\\x07')"))
        self.assertEqual(done.kinds(), {"early-hints plain": "wrong"}, done.said)
        self.assertNotIn("\x1b", done.stdout)
        self.assertNotIn("\x00", done.stdout)

    def test_a_command_that_prints_endlessly(self):
        done = check("--plain", "--timeout", "3s", *self.known("early-hints plain hang"), *only("early-hints"), of=command(
            "if scenario == 'early-hints':\n    while True: os.write(1, b'x' * 65536)\ngo()"))
        self.assertEqual((done.code, done.kinds()), (0, {"early-hints plain": "hang"}), done.said[-3000:])
        self.assertLess(len(done.stdout), 200_000)


# --- The driver protocol ----------------------------------------------------------------------------------------------

class Baseline(Folder):
    WHERE = ["--plain", *only("closed-in-stream", "key-invalid", "early-hints")]
    BOTH = client("no-error-on-cut", "retries-401", words=["--driver"])
    LINES = ["closed-in-stream plain loss", "key-invalid plain finding retried_final_error"]

    def run_with(self, *lines, of, where=None, flags=()):
        path = self.write("baseline", "".join(line + "\n" for line in lines))
        return check_driver("--baseline", path, *flags, *(where or self.WHERE), of=of)

    def test_a_listed_failure_is_accepted(self):
        done = self.run_with("# what we know of", "", *self.LINES, of=self.BOTH)
        self.assertEqual(done.code, 0, done.said)
        for name in "closed-in-stream", "key-invalid":
            self.assertTrue(done.cells[name, "plain"]["accepted"])
        self.assertFalse(done.cells["early-hints", "plain"]["accepted"])
        self.assertEqual(done.report["stale"], [])
        self.assertNotIn("again: ", done.stdout)

    def test_an_unlisted_failure_fails(self):
        for line in self.LINES:
            done = self.run_with(line, of=self.BOTH)
            self.assertEqual(done.code, 1, done.said)
            (other,) = set(self.LINES) - {line}
            self.assertIn("--only " + other.split()[0], done.stdout)

    def test_a_listed_failure_that_passes_is_stale(self):
        done = self.run_with(*self.LINES, of=client("no-error-on-cut", words=["--driver"]))
        self.assertEqual(done.code, 1, done.said)
        self.assertEqual(done.report["stale"], [self.LINES[1]])
        self.assertIn(self.LINES[1], done.stdout)

    def test_another_kind_of_failure_fails(self):
        done = self.run_with("closed-in-stream plain wrong", self.LINES[1], of=self.BOTH)
        self.assertEqual(done.code, 1, done.said)
        self.assertEqual(done.report["stale"], ["closed-in-stream plain wrong"])

    def test_only_scenarios_that_ran_are_compared(self):
        where = ["--plain", *only("key-invalid")]
        done = self.run_with("open-after-done streamed hang", *self.LINES, of=self.BOTH, where=where)
        self.assertEqual((done.code, done.report["stale"]), (0, []), done.said)
        # A skipped scenario does not count as run.
        where = ["--plain", *only("key-invalid", "stop-after-tool-call")]
        done = self.run_with("stop-after-tool-call plain loss", *self.LINES, of=self.BOTH, where=where)
        self.assertEqual(done.code, 0, done.said)

    def test_an_unknown_scenario_in_the_baseline_fails(self):
        done = self.run_with(*self.LINES, "closed-in-strem plain loss", of=self.BOTH)
        self.assertEqual(done.code, 1, done.said)
        self.assertIn("closed-in-strem", done.stdout + done.stderr)

    def test_a_baseline_is_written_and_read_again(self):
        path = str(self.folder / "written")
        done = check_driver("--baseline", path, "--write-baseline", *self.WHERE, of=self.BOTH)
        self.assertEqual(done.code, 0, done.said)
        text = Path(path).read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual(lines, sorted(self.LINES))
        self.assertTrue(text.endswith("\n"))
        done = check_driver("--baseline", path, *self.WHERE, of=self.BOTH)
        self.assertEqual(done.code, 0, done.said)
        done = check_driver("--baseline", path, *self.WHERE, of=client(words=["--driver"]))
        self.assertEqual(done.code, 1, done.said)
        # A correct client rewrites the baseline.
        self.assertEqual(check_driver("--baseline", path, "--write-baseline", *self.WHERE,
                                      of=client(words=["--driver"])).code, 0)
        self.assertFalse(set(self.LINES) & set(Path(path).read_text(encoding="utf-8").splitlines()))

    def test_a_sweep_does_not_change_the_baseline(self):
        done = self.run_with(*self.LINES, of=client(words=["--driver"]), where=["--plain", "--sweep", "a b", "--at-most", "2"])
        self.assertEqual((done.code, done.report["stale"]), (0, []), done.said)

    def test_scenarios_that_did_not_run_stay_in_a_written_baseline(self):
        path = self.folder / "kept"
        path.write_text("# why\nkey-invalid plain loss\nbad-request  plain   loss\n", encoding="utf-8")
        flags = ["--plain", "--baseline", str(path), "--write-baseline"]
        done = check_driver(*flags, *only("bad-request"), of=client(words=["--driver"]))
        self.assertEqual(done.code, 0, done.said)
        self.assertEqual(path.read_text(encoding="utf-8").splitlines()[1:], ["# why", "key-invalid plain loss"])
        before = path.read_text(encoding="utf-8")
        done = check_driver(*flags, *only("stop-after-tool-call"), of=client(words=["--driver"]))
        self.assertEqual(done.code, 1, done.said)  # nothing was judged
        self.assertEqual(path.read_text(encoding="utf-8"), before)

    def test_an_invalid_line_in_a_baseline_is_reported(self):
        for line in ("closed-in-stream", "closed-in-stream plain", "closed-in-stream sideways loss", "one two three four five"):
            with self.subTest(line):
                done = self.run_with(*self.LINES, line, of=self.BOTH)
                self.assertIn(done.code, (1, 2), done.said)
                self.assertIn(line, done.stdout + done.stderr)


class Flaky(Folder):
    """Tests of a client that fails once and then succeeds."""

    # The client's first call in this scenario has another result.
    CODE = """
mark = os.environ["LOG"] + ".mark"
if scenario == "early-hints" and not os.path.exists(mark):
    open(mark, "w").close()
    check_client.command([], None, False)
    print("once")
    sys.exit(0)
go()
"""

    def test_a_failure_that_passes_alone_passes_unless_strict(self):
        for flags, code in ([], 0), (["--strict"], 1):
            Path(self.environment["LOG"] + ".mark").unlink(missing_ok=True)
            done = check("--plain", *flags, *only("early-hints", "unknown-fields"), of=command(self.CODE),
                         environment=self.environment)
            self.assertEqual(done.code, code, done.said)
            cell = done.cells["early-hints", "plain"]
            self.assertTrue(cell["flaky"], cell)
            self.assertFalse(done.cells["unknown-fields", "plain"]["flaky"])
            self.assertIn("flaky", done.stdout)
            if flags:
                self.assertIn("at first", done.stdout)  # the failure, because the run fails

    def test_a_repeated_failure_is_a_failure(self):
        done = check("--plain", *only("closed-in-stream"), of=client("no-error-on-cut"))
        self.assertEqual((done.code, done.cells["closed-in-stream", "plain"]["flaky"]), (1, False))


# --- Reports ----------------------------------------------------------------------------------------------------------


class Secrets(unittest.TestCase):
    def test_a_key_that_the_client_prints_is_in_no_report(self):
        done = check("--plain", *only("bad-request"), of=command(
            "if scenario: print(os.environ['OPENAI_API_KEY']); print(os.environ['OPENAI_API_KEY'], file=sys.stderr)\nelse: go()"))
        self.assertNotRegex(done.stdout + done.stderr + json.dumps(done.report), r"sk-[A-Za-z0-9_-]{10}")
        self.assertEqual(done.code, 1, done.said)  # there was no request to judge

    def test_a_report_that_is_lost_fails(self):
        with open("/dev/full", "w") as full:
            done = execute("check", "--plain", *only("bad-request"), "--", *client(), stdout=full, stderr=subprocess.PIPE,
                           capture_output=False)
        self.assertEqual(done.returncode, 2, done.stderr)


class Page(html.parser.HTMLParser):
    """A parser of the links, elements and text of an HTML page."""

    def __init__(self, text):
        super().__init__()
        self.references, self.elements, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.references += [value for name, value in attributes
                            if name in ("src", "href", "action", "srcset", "data", "poster") and value]

    def handle_data(self, data):
        self.text += data


class Reports(Folder):
    HOSTILE = "<script>alert(1)</script>&\"'\x1b[31m\x00]]>"
    # The client's answer in one scenario contains an attack.
    CODE = f"""
if scenario == "early-hints":
    check_client.command([], None, False)
    print({HOSTILE!r})
    sys.exit(0)
if scenario == "bad-request": print({HOSTILE!r}, file=sys.stderr)
go("retries-401")
"""

    @property
    def files(self):
        return self.files_of_one_run()

    @staticmethod
    @once
    def files_of_one_run():
        """Returns the reports of one run, and its output."""
        with tempfile.TemporaryDirectory() as folder:
            names = {kind: f"{folder}/report.{kind}" for kind in ("json", "junit", "html")}
            flags = [word for kind, path in names.items() for word in ("--report", f"{kind}:{path}")]
            done = execute("check", "--plain", *only("early-hints", "key-invalid", "unknown-fields", "stop-after-tool-call",
                                                     "bad-request"),
                           *flags, "--report", "github", "--", *command(Reports.CODE), encoding="utf-8")
            if done.returncode != 1:
                raise AssertionError(f"exit code {done.returncode}\n{done.stderr}")
            return done, {kind: Path(path).read_text(encoding="utf-8") for kind, path in names.items()}

    def test_the_json_report_is_complete(self):
        report = json.loads(self.files[1]["json"])
        self.assertEqual(set(report), {"version", "failed", "conclusion", "client", "command", "forms", "remarks", "cells",
                                       "stale", "counts"})
        self.assertEqual((report["failed"], report["forms"], report["stale"]), (True, ["plain"], []))
        self.assertIn(report["version"], execute("--version").stdout)
        self.assertEqual(set(report["counts"]), {"ok", "error", "loss", "wrong", "hang", "crash", "skipped"})
        self.assertEqual(sum(report["counts"].values()), len(report["cells"]))
        cells = {cell["scenario"]: cell for cell in report["cells"]}
        keys = {"scenario", "group", "form", "kind", "good", "flaky", "accepted", "expected", "why", "text", "tool_calls",
                "finish_reason", "usage", "told", "requests", "seconds", "findings", "beyond", "reference", "again",
                "stdout", "stderr"}
        for cell in report["cells"]:
            self.assertEqual(set(cell), keys)
        self.assertEqual((cells["early-hints"]["kind"], cells["early-hints"]["good"]), ("wrong", False))
        self.assertIn("<script>", cells["early-hints"]["text"])
        self.assertEqual((cells["key-invalid"]["kind"], cells["key-invalid"]["good"]), ("error", False), "by its finding")
        for finding in cells["key-invalid"]["findings"]:
            self.assertEqual((finding["code"], finding["severity"]), ("retried_final_error", "error"))
            self.assertTrue(finding["message"])
        self.assertTrue(cells["key-invalid"]["findings"])
        self.assertGreater(cells["key-invalid"]["requests"], 1)
        self.assertEqual(cells["unknown-fields"]["requests"], 1)
        self.assertLess(0, cells["unknown-fields"]["seconds"])
        self.assertEqual(cells["stop-after-tool-call"]["kind"], "skipped")
        self.assertIn("<script>", cells["bad-request"]["stderr"])

    def test_no_report_contains_a_key(self):
        done, files = self.files
        for text in [*files.values(), done.stdout, done.stderr]:
            self.assertIsNone(re.search(r"sk-[A-Za-z0-9_-]{10}", text))

    def test_the_junit_report_has_a_case_per_scenario(self):
        tree = xml.etree.ElementTree.fromstring(self.files[1]["junit"])
        self.assertIn(tree.tag, ("testsuites", "testsuite"))
        cases = {case.get("name"): case for case in tree.iter("testcase")}
        by_scenario = {name: next(case for label, case in cases.items() if name in label)
                       for name in ("early-hints", "key-invalid", "unknown-fields", "stop-after-tool-call")}
        self.assertEqual(len([name for name in cases if " plain" in name]), 5)
        tags = {name: [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
                for name, case in by_scenario.items()}
        self.assertEqual(tags["unknown-fields"], [])
        self.assertEqual(tags["stop-after-tool-call"], ["skipped"])
        for name in "early-hints", "key-invalid":
            self.assertEqual(tags[name][:1], ["failure"])
        self.assertIn("<script>alert(1)</script>", "".join(by_scenario["early-hints"].itertext()))

    def test_the_html_report_is_one_file_that_escapes_texts(self):
        text = self.files[1]["html"]
        page = Page(text)
        self.assertEqual([one for one in page.references if not one.startswith(("#", "data:"))], [])
        self.assertNotIn("script", page.elements)
        self.assertNotRegex(text, r"@import|url\(\s*['\"]?(?!data:)")
        self.assertIn("<script>alert(1)</script>", page.text)
        for part in ("early-hints", "key-invalid", "retried_final_error", "unknown-fields"):
            self.assertIn(part, page.text)
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\x00", text)

    def test_the_github_report_is_annotations(self):
        lines = [line for line in self.files[0].stdout.splitlines() if line]
        self.assertTrue(lines)
        errors = [line for line in lines if line.startswith("::error")]
        self.assertEqual(len(errors), 2, lines)
        for line in lines:
            self.assertRegex(line, r"\A::(error|warning|notice)[ :]")
        self.assertTrue(any("early-hints" in line for line in errors))
        self.assertTrue(any("key-invalid" in line for line in errors))

    def test_the_destinations_of_reports(self):
        where = ["--plain", *only("early-hints")]
        done = execute("check", *where, "--", *client(), encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("early-hints", done.stdout)
        self.assertIn("ok", done.stdout)
        done = execute("check", *where, "--report", "json", "--", *client(), encoding="utf-8")
        self.assertEqual([cell["kind"] for cell in json.loads(done.stdout)["cells"]], ["ok"])
        path = self.folder / "x.json"
        done = execute("check", *where, "--report", f"json:{path}", "--", *client(), encoding="utf-8")
        self.assertEqual([cell["kind"] for cell in json.loads(path.read_text())["cells"]], ["ok"])
        self.assertIn("early-hints", done.stdout, "text goes to stdout unless another goes there")

    def test_the_text_report_is_a_table_of_results(self):
        done = check(*only("early-hints", "key-invalid", "done-missing"), of=client("retries-401"))
        lines = done.stdout.splitlines()
        self.assertEqual(done.row("early-hints")[1:5], ["plain", "ok", "streamed", "ok"], done.stdout)
        self.assertEqual(done.row("key-invalid")[1:5], ["plain", "error!", "streamed", "error!"])
        self.assertIn("retried_final_error", done.row("key-invalid"))
        self.assertTrue({"errors", "framing", "connection"} <= {word.strip(":").lower() for line in lines
                                                                for word in line.split()})
        self.assertNotIn("\x1b", done.stdout)
        self.assertNotIn("\r", done.stderr)
        # Below the rows there is a block for each failure, but not for successes.
        self.assertEqual(done.stdout.count("again: "), 2, done.stdout)

    def test_the_printed_command_fails_again(self):
        words = [*client("no-error-on-cut"), "it's a \"word\" with $HOME, `ls` and *", ""]
        done = check("--prompt", "What's up?", "--timeout", "9s", "--stream",
                     *only("closed-in-stream", "early-hints"), of=words)
        printed = re.search(r"again: (mock-gateway check .*)", done.stdout)[1]
        self.assertEqual(done.cells["closed-in-stream", "streamed"]["again"], printed)
        parts = shlex.split(printed)
        self.assertEqual(parts[parts.index("--") + 1 :], words)
        for flag in ("--prompt", "--timeout", "--stream"):
            self.assertIn(flag, parts)
        again = subprocess.run(["sh", "-c", printed.replace("mock-gateway", shlex.quote(os.path.abspath(
            shutil.which(program.PROGRAM))), 1)], capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertIn("closed-in-stream", again.stdout)
        self.assertNotIn("early-hints", again.stdout)

    def test_the_printed_command_of_a_driver(self):
        done = check_driver("--plain", *only("closed-in-stream", "early-hints"), of=client("no-error-on-cut", words=["--driver"]))
        parts = shlex.split(done.cells["closed-in-stream", "plain"]["again"])
        self.assertIn("--driver", parts)
        self.assertEqual(execute(*parts[1:]).returncode, 1)

    def test_progress_is_shown_only_on_a_terminal(self):
        main, other = pty.openpty()
        process = subprocess.Popen([program.PROGRAM, "check", "--plain", *only("early-hints", "unknown-fields"), "--",
                                    *client()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=other, text=True,
                                   env={**os.environ, "TERM": "xterm"})
        os.close(other)
        seen = b""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline and select.select([main], [], [], TIMEOUT)[0]:
            try:
                part = os.read(main, 4096)
            except OSError:  # EIO: the other side has closed the terminal
                break
            if not part:
                break
            seen += part
        os.close(main)
        stdout, _ = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 0)
        self.assertTrue(seen)
        self.assertNotIn("\x1b", stdout)


# --- Processes and signals --------------------------------------------------------------------------------------------


class Documentation(unittest.TestCase):
    def test_the_page_lists_exactly_the_flags(self):
        text = (CHECKOUT / "docs/check.md").read_text(encoding="utf-8")
        rows = text.split("\n## Flags\n")[1].split("\n| exit code |")[0]
        listed = {flag for row in rows.splitlines() for flag in re.findall(r"--[a-z][a-z-]*", row.split(" | ")[0])}
        flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.sub(r"\n {20,}[^\n]*", "", execute("check", "--help").stdout)))
        self.assertEqual(listed, flags - {"--help"})


class Examples(unittest.TestCase):
    def test_the_example_with_curl(self):
        if not (shutil.which("curl") and shutil.which("jq")):
            self.skipTest("curl or jq is not installed")
        done = check(*only("early-hints", "bad-request", "closed-in-stream", "html-with-200"),
                     of=["bash", str(CHECKOUT / "examples/check/curl.sh")])
        self.assertEqual((done.code, done.bad()), (0, set()), done.said)

    def test_examples_that_need_packages_are_python_and_javascript(self):
        for file in (CHECKOUT / "examples/check").glob("*.py"):
            compile(file.read_text(encoding="utf-8"), file.name, "exec")
        for file in (CHECKOUT / "examples/check").glob("*.mjs"):
            if shutil.which("node"):
                subprocess.run(["node", "--check", file], check=True, timeout=TIMEOUT)

    def test_the_driver_of_the_python_sdk(self):
        python = CHECKOUT / "build/clients/venv/bin/python"
        if not python.exists():
            self.skipTest("tests/clients/run.sh has not installed the SDK")
        self.assert_good([str(python), str(CHECKOUT / "examples/check/openai_python.py")])

    def test_the_driver_of_the_node_sdk(self):
        modules = CHECKOUT / "tests/clients/node/node_modules"
        if not (modules.exists() and shutil.which("node")):
            self.skipTest("tests/clients/run.sh has not installed the SDK")
        with tempfile.TemporaryDirectory() as folder:  # Node looks for packages in the file's folder
            shutil.copy(CHECKOUT / "examples/check/openai_node.mjs", folder)
            Path(folder, "node_modules").symlink_to(modules)
            self.assert_good(["node", str(Path(folder, "openai_node.mjs"))])

    def assert_good(self, words):
        done = check_driver("--tools", *only("early-hints", "bad-request", "text-before-tool-call", "closed-in-stream"),
                            of=words)
        self.assertEqual(done.code, 0, done.said)
        self.assertEqual(done.report["client"]["name"], "openai")
        self.assertRegex(done.report["client"]["version"], r"\A\d+\.\d+")


if __name__ == "__main__":
    program.main(threads=4)
