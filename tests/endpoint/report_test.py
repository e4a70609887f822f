"""Tests of the reports of `mock-gateway run` and `serve`: text, JSON, JUnit, GitHub's annotations.

Usage: report_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
"""

import fcntl
import json
import os
import re
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import unittest
import xml.dom.minidom
import xml.etree.ElementTree

import program
from program import TIMEOUT, python, run

KEY_IN_QUERY = "request('GET', '/v1/models?key=' + os.environ['OPENAI_API_KEY'])"
FIXED_CASES = ["a request reached the gateway", "a request was served", "every request was answered by a stub", "every fault was reached",
               "every gate was opened", "every answer could be generated", "every other expectation was met"]


def finding_codes():
    said = run("--without-finding", "none", command=["true"]).stderr
    return re.search(r"the codes are (.*)\n", said)[1].split(", ")


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.file = os.path.join(folder.name, "report")

    def report(self, form, *flags, code, expected=None):
        """Returns the content of the report's file, and the process."""
        done = run("--report", f"{form}:{self.file}", *flags, command=python(code))
        if expected is not None:
            self.assertEqual(done.returncode, expected, done.stderr)
        with open(self.file, "rb") as file:
            return file.read(), done


class Text(Reports):
    def test_the_output_of_verify_and_review_then_one_line(self):
        done = run("--report", "text", command=python(KEY_IN_QUERY))
        self.assertRegex(done.stderr, r"\Averify: nothing is wrong\nreview: 1 finding in 1 call, 1 try, 0 injected faults\nkey_in_query \(exchange 1\): [^\n]+\n"
                                      r"mock-gateway: failed: 1 finding, 1 request judged, \S+ exited with 0\n\Z")
        self.assertEqual(done.stdout, "")

    def test_ignored_findings_are_counted_separately(self):
        done = run("--fail-on", "never", command=python(KEY_IN_QUERY))
        self.assertIn("passed: 1 finding that --fail-on does not count, 1 request judged", done.stderr)

    def test_notes_are_printed_once_if_something_failed(self):
        script = os.path.join(self.folder, "length.json")
        with open(script, "w", encoding="utf-8") as file:
            json.dump({"mock_gateway": 1, "chaos": [{"nth": 9, "failure": "server_error"}],
                       "stubs": [{"reply": {"text": "a b", "finish_reason": "length"}}]}, file)
        note = "exchange 1: finish_reason length was sent"
        for form in ("text", "junit:-", "github"):
            for code, times in (("chat()", 0), ("chat(); sys.exit(1)", 1), ("chat(); " + KEY_IN_QUERY, 1)):
                with self.subTest(form=form, code=code):
                    done = run("--report", form, "--script", script, command=python(code))
                    self.assertEqual(done.returncode, times, done.stderr)
                    self.assertEqual((done.stdout + done.stderr).count(note), times)
                    if form == "text":
                        self.assertEqual(done.stderr.count("chaos: seed"), 1)
        report, _ = self.report("json", "--script", script, code="chat()", expected=0)
        self.assertEqual(json.loads(report)["verify"]["notes"][1:], [note])

    def test_reports_that_no_request_was_served_and_that_the_command_started_gateways(self):
        started = f"""
import subprocess
subprocess.run([{program.PROGRAM!r}, "serve", "--port", "0", "--quiet", "--until-eof"],
               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
"""
        refused = "request('GET', '/v1/models', Authorization='Bearer sk-nobody')\n"
        served, own = "served 0 requests: ", "CMD has started 1 mock-gateway of its own, whose requests are not judged here"
        for code, expected in ((refused, [served]), (started + "chat()", [own]), (refused + started, [served, own])):
            said = run("--report", "text", command=python(code)).stderr
            lines = said.splitlines()
            self.assertRegex(lines[-1], r"\Amock-gateway: (passed|failed): ")
            self.assertEqual([line[:len(wanted)] for line, wanted in zip(lines[-1 - len(expected):-1], expected)], expected)
            self.assertEqual([said.count(line) for line in (served, own)], [expected.count(line) for line in (served, own)])

    def test_statements_about_all_requests_come_after_the_lines_of_each(self):
        count = 200
        code = f"for _ in range({count}): request('GET', '/v1/none')\nprint(address.port)"
        words = [program.PROGRAM, "run", "--scenario", "closed-in-stream", "--", *python(code)]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            watchdog = threading.Timer(TIMEOUT, process.kill)
            watchdog.start()
            # The pipe has room for only a few lines, and the test reads it after the gateway has stopped.
            if hasattr(fcntl, "F_SETPIPE_SZ"):
                fcntl.fcntl(process.stderr, fcntl.F_SETPIPE_SZ, 4096)
            port = int(process.stdout.readline())
            is_open = True
            while is_open:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT).close()
                except OSError:
                    is_open = False
            lines = process.stderr.read().splitlines()
            watchdog.cancel()
        told = [line for line in lines if "GET /v1/none 404" in line]
        self.assertEqual(len(told), count)
        self.assertEqual(lines[:count], told)
        self.assertIn(f" scenario closed-in-stream never struck, in {count} requests", lines[count])

    def test_with_other_formats_only_the_last_line_is_printed(self):
        _, done = self.report("json", code="chat()", expected=0)
        self.assertRegex(done.stderr, r"\Amock-gateway: passed: 1 request judged, \S+ exited with 0\n\Z")


class AsJson(Reports):
    def test_a_complete_report(self):
        text, _ = self.report("json", code="chat(); " + KEY_IN_QUERY, expected=1)
        report = json.loads(text)
        self.assertEqual((report["failed"], report["fail_on"], report["judged"], report["evicted"], report["open"]),
                         (True, "error", 2, 0, 0))
        self.assertRegex(report["command"], r" exited with 0\Z")
        self.assertEqual([finding["code"] for finding in report["review"]["findings"]], ["key_in_query"])
        self.assertEqual(report["verify"]["problems"], [])
        self.assertEqual([exchange["id"] for exchange in report["exchanges"]], [2])

    def test_at_most_the_first_hundred_named_exchanges_are_included(self):
        code = "chat()\nfor _ in range(101): " + KEY_IN_QUERY
        report = json.loads(self.report("json", code=code, expected=1)[0])
        self.assertEqual([exchange["id"] for exchange in report["exchanges"]], list(range(2, 102)))
        self.assertEqual(report["judged"], 102)

    def test_the_default_is_stderr_and_a_dash_is_stdout(self):
        done = run("--report", "json", command=python("chat(); print('own')"))
        self.assertEqual(done.stdout, "own\n")
        self.assertFalse(json.loads(done.stderr[:done.stderr.rindex("mock-gateway: ")])["failed"])
        done = run("--report", "json:-", command=python("chat()"))
        self.assertFalse(json.loads(done.stdout)["failed"])

    def test_reports_that_no_request_was_judged(self):
        text, _ = self.report("json", code="", expected=1)
        report = json.loads(text)
        self.assertEqual((report["failed"], report["judged"]), (True, 0))
        self.assertIn("judged 0 requests", report["remarks"][0])


class Files(Reports):
    def test_several_reports_at_once(self):
        other = os.path.join(self.folder, "other")
        done = run("--report", f"json:{self.file}", "--report", f"junit:{other}", "--report", "github",
                   command=python("chat()"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["other", "report"], "no draft is left")
        self.assertIn("::notice ", done.stderr)

    def test_the_files_mode_follows_the_umask(self):
        done = run("--report", f"json:{self.file}", command=python("chat()"), umask=0o027)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o640)

    def test_an_unwritable_report_is_an_error_before_anything_runs(self):
        target = os.path.join(self.folder, "target")
        with open(target, "w", encoding="ascii") as file:
            file.write("precious\n")
        os.symlink(target, self.file)
        for path in self.file, self.folder, "/no/such/folder/report", "/dev/null":
            with self.subTest(path):
                done = run("--report", "junit:" + path, command=["sh", "-c", "echo started"])
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"\Amock-gateway: --report: [^\n]+\n\Z")
        with open(target, encoding="ascii") as file:
            self.assertEqual(file.read(), "precious\n")

    def test_a_report_that_fails_at_the_end_is_an_error_after_the_commands(self):
        for status, expected in (0, 2), (3, 3):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "gone", "report")
                os.mkdir(os.path.dirname(path))
                code = f"chat(); os.rmdir({os.path.dirname(path)!r}); sys.exit({status})"
                done = run("--report", "junit:" + path, command=python(code))
                self.assertEqual(done.returncode, expected, done.stderr)
                self.assertIn("--report: cannot write " + path, done.stderr)
                self.assertIn("mock-gateway: failed: a report could not be written, 1 request judged", done.stderr)
                self.assertNotIn("passed", done.stderr)

    def test_a_report_that_stdout_does_not_accept_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([program.PROGRAM, "run", "--report", "json:-", "--", *python("chat()")], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--report: cannot write to stdout", done.stderr)


class Junit(Reports):
    def suites(self, *flags, code, expected=None):
        """Returns the JUnit report as {suite: {case: element}}. Checks that two parsers give the same result."""
        text, _ = self.report("junit", *flags, code=code, expected=expected)
        tree = xml.etree.ElementTree.fromstring(text)
        self.assertEqual(tree.tag, "testsuites")
        suites = {suite.get("name"): {case.get("name"): case for case in suite.iter("testcase")} for suite in tree}
        document = xml.dom.minidom.parseString(text)
        names = {suite.getAttribute("name"): [case.getAttribute("name") for case in suite.getElementsByTagName("testcase")]
                 for suite in document.getElementsByTagName("testsuite")}
        self.assertEqual({name: list(cases) for name, cases in suites.items()}, names)
        for suite in tree:
            cases = suites[suite.get("name")].values()
            self.assertEqual(int(suite.get("tests")), len(cases))
            self.assertEqual(int(suite.get("failures")), sum(case.find("failure") is not None for case in cases))
            self.assertEqual(int(suite.get("skipped")), sum(case.find("skipped") is not None for case in cases))
            self.assertEqual({entry.get("name") for entry in suite.iter("property")},
                             {"judged", "evicted", "open", "reload_errors"})
        failures = [element.firstChild.data if element.firstChild else ""
                    for element in document.getElementsByTagName("failure")]
        self.assertEqual(failures, [case.find("failure").text or "" for cases in suites.values()
                                    for case in cases.values() if case.find("failure") is not None])
        return suites

    def failed(self, suites):
        return [name for cases in suites.values() for name, case in cases.items() if case.find("failure") is not None]

    def test_cases_are_the_same_in_each_run(self):
        first = self.suites(code="chat()", expected=0)
        second = self.suites("--seed", "2", code=KEY_IN_QUERY + "; chat(temperature='hot')", expected=1)
        for suites in first, second:
            self.assertEqual(list(suites), ["verify", "review"])
            self.assertEqual(list(suites["verify"]), FIXED_CASES)
            self.assertEqual(list(suites["review"]), finding_codes())
        self.assertEqual(self.failed(first), [])
        self.assertEqual(self.failed(second), ["request_refused", "key_in_query"])
        third = self.suites(code="chat(temperature='hot')", expected=1)
        self.assertEqual(self.failed(third), ["a request was served", "request_refused"])
        self.assertIn("1 with 400 invalid_type", third["verify"]["a request was served"].find("failure").text)
        fourth = self.suites("--allow-refused", code="chat(temperature='hot')", expected=0)
        self.assertEqual(self.failed(fourth), [])
        self.assertIn("1 with 400", fourth["verify"]["a request was served"].find("system-out").text)

    def test_a_failure_has_its_message_and_exchanges(self):
        failure = self.suites(code="chat(); " + KEY_IN_QUERY + "; " + KEY_IN_QUERY)["review"]["key_in_query"].find("failure")
        self.assertTrue(failure.get("message").endswith(" (and 1 more)"), failure.get("message"))
        self.assertIn("\nexchange 2\n\n", failure.text)
        self.assertTrue(failure.text.endswith("\nexchange 3"), failure.text)

    def test_a_failure_has_a_type(self):
        def types(suites):
            return {name: case.find("failure").get("type") for cases in suites.values() for name, case in cases.items()
                    if case.find("failure") is not None}

        self.assertEqual(types(self.suites(code=KEY_IN_QUERY + "; chat(temperature='hot')")),
                         {"key_in_query": "key_in_query", "request_refused": "request_refused"})
        self.assertEqual(types(self.suites(code="")), {"a request reached the gateway": "not reached"})
        script = os.path.join(self.folder, "demo.json")
        with open(script, "w", encoding="utf-8") as file:
            json.dump({"mock_gateway": 1, "stubs": [
                {"name": "twice", "when": {"user_says": "Hi"}, "reply": "Hello.", "expect": 2},
                {"when": {"user_says": "broken"}, "reply": {"text": "one two three", "faults": [{"after_tokens": 2, "effect": "reset_connection"}]}}
            ]}, file)
        code = "chat(messages=[{'role': 'user', 'content': 'Bye'}], stream=True)\n" \
               "chat(messages=[{'role': 'user', 'content': 'broken'}], stream=True, max_tokens=1)"
        self.assertEqual(sorted(types(self.suites("--script", script, code=code)).values()),
                         ["fault not reached", "unmatched", "unmet expectation"])

    def test_ignored_findings_are_reported_but_no_failure(self):
        suites = self.suites("--fail-on", "never", code=KEY_IN_QUERY, expected=0)
        self.assertEqual(self.failed(suites), [])
        self.assertIn("exchange 1", suites["review"]["key_in_query"].find("system-out").text)
        suites = self.suites(code="chat(stop='x')", expected=0)
        self.assertEqual(self.failed(suites), [])
        self.assertIsNotNone(suites["review"]["stop_as_string"].find("system-out"))
        self.assertEqual(self.failed(self.suites("--fail-on", "warning", code="chat(stop='x')", expected=1)),
                         ["stop_as_string"])

    def test_an_excluded_finding_is_skipped(self):
        suites = self.suites("--without-finding", "key_in_query", code=KEY_IN_QUERY, expected=0)
        self.assertIsNotNone(suites["review"]["key_in_query"].find("skipped"))

    def test_reports_that_no_request_was_judged(self):
        self.assertEqual(self.failed(self.suites(code="", expected=1)), ["a request reached the gateway"])
        self.assertEqual(self.failed(self.suites("--fail-on", "never", code="", expected=0)), [])

    def test_judged_requests_are_counted(self):
        script = os.path.join(self.folder, "script.json")
        with open(script, "w", encoding="utf-8") as file:
            json.dump({"mock_gateway": 1, "gateway": {"journal_limits": {"entries": 3, "bytes": 100_000}}}, file)
        self.suites("--script", script, code="for _ in range(5): chat()", expected=0)
        for suite in xml.etree.ElementTree.parse(self.file).getroot():
            self.assertEqual([(entry.get("name"), entry.get("value")) for entry in suite.iter("property")],
                             [("judged", "3"), ("evicted", "2"), ("open", "0"), ("reload_errors", "0")])

    def test_every_byte_and_every_character_that_xml_forbids_is_escaped(self):
        code = r"""
everything = bytes(range(256))
request('POST', '/v1/chat/completions', everything)
request('POST', '/v1/chat/completions', b'{"model": "mock-model", "messages": [{"role": "user", "content": "' + everything)
text = '\ufffe\uffff\U0001f600]]>&<"' + ''.join(map(chr, range(256)))
for role, name in (text, 'x'), ('user', text):
    chat(messages=[{'role': role, 'content': text, name: text}], **{text: text})
request('POST', '/v1/chat/completions', json.dumps({'model': '\ud800', 'messages': []}).encode())
with socket.create_connection((address.hostname, address.port)) as connection:
    connection.sendall(b'GET /v1/models?' + bytes(range(33, 256)) + b' HTTP/1.1\r\nHost: x\r\nX: ' + everything + b'\r\n\r\n')
    connection.makefile('rb').read()
"""
        suites = self.suites("--fail-on", "warning", code=code, expected=1)
        self.assertIn("request_refused", self.failed(suites))
        forbidden = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
        with open(self.file, encoding="utf-8") as file:  # strict: fails unless it is UTF-8
            self.assertNotRegex(file.read(), forbidden)
        self.assertIn("\N{GRINNING FACE}", "".join(suites["review"]["request_refused"].itertext()) +
                      "".join(suites["review"]["unknown_field"].itertext()))

    def test_a_message_has_at_most_64_kib(self):
        code = "for i in range(900): chat(**{f'field_{i}_' + 'é' * 40: 1})"
        failure = self.suites("--fail-on", "warning", code=code, expected=1)["review"]["unknown_field"].find("failure")
        self.assertTrue(64 * 1024 - 8 < len(failure.text.encode()) <= 64 * 1024, len(failure.text.encode()))
        self.assertTrue(failure.text.endswith("…"))


class Github(Reports):
    LINE = re.compile(r"::(error|warning|notice) ((?:\w+=[^,:]*,)*\w+=[^,:]*)::(.*)")

    def annotations(self, *flags, code):
        """Returns (command, {property: value}, message) of each annotation, unescaped as by GitHub's runner."""
        def unescaped(text):
            for escape, character in [("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")]:
                text = text.replace(escape, character)
            return text

        done = run("--report", "github", *flags, command=python(code))
        lines = done.stderr.splitlines()
        self.assertTrue(lines.pop().startswith("mock-gateway: "))
        for line in lines:
            found = self.LINE.fullmatch(line)
            self.assertTrue(found, line)
            properties = dict(part.split("=", 1) for part in found[2].split(","))
            yield found[1], {name: unescaped(value) for name, value in properties.items()}, unescaped(found[3])

    def test_one_line_per_finding(self):
        annotations = list(self.annotations(code=KEY_IN_QUERY + "; chat(stop='x')"))
        self.assertEqual([(command, properties["title"]) for command, properties, _ in annotations],
                         [("error", "key_in_query"), ("warning", "stop_as_string"), ("notice", "mock-gateway")])
        self.assertTrue(annotations[0][2].endswith(" (exchange 1)"), annotations[0])
        self.assertIn("failed: 1 finding, 1 finding that --fail-on does not count, 2 requests judged", annotations[2][2])

    def test_an_unmatched_request_is_at_the_line_of_the_closest_stub(self):
        script = os.path.join(self.folder, "two.json")
        with open(script, "w", encoding="utf-8") as file:
            file.write('{"mock_gateway": 1, "stubs": [\n{"when": {"user_says": "x"}, "reply": "1"},\n'
                       '{"when": {"model_is": "mock-model", "user_says": "y"}, "reply": "2"}]}')
        for flags, command in [((), "error"), (("--fail-on", "never"), "warning")]:
            first, *_ = self.annotations("--script", script, *flags, code="chat()")
            self.assertEqual(first[:2], (command, {"file": script, "line": "3", "title": "unmatched"}))

    def test_uncounted_problems_and_findings_have_their_nouns(self):
        script = os.path.join(self.folder, "one.json")
        with open(script, "w", encoding="utf-8") as file:
            json.dump({"mock_gateway": 1, "stubs": [{"when": {"user_says": "x"}, "reply": "1"}]}, file)
        done = run("--script", script, "--fail-on", "never", command=python("chat(); chat(); " + KEY_IN_QUERY))
        self.assertIn("passed: 2 problems that --fail-on does not count, 1 finding that --fail-on does not count, "
                      "3 requests judged", done.stderr)

    def test_the_exchanges_of_a_finding_are_listed(self):
        flags = ["--fail", "429", "--without-finding", "request_refused"]
        annotations = list(self.annotations(*flags, code="chat(); chat()"))
        self.assertEqual(annotations[0][:2], ("error", {"title": "retry_after_ignored"}))
        self.assertTrue(annotations[0][2].endswith(" (exchange 1, 2)"), annotations[0])
        text, _ = self.report("junit", *flags, code="chat(); chat()", expected=1)
        (failure,) = xml.etree.ElementTree.fromstring(text).iter("failure")
        self.assertTrue(failure.text.endswith("\nexchange 1, 2"), failure.text)
        self.assertNotIn("more)", failure.get("message"))

    def test_characters_that_would_end_the_line_or_the_message_are_escaped(self):
        annotations = list(self.annotations("--fail-on", "warning", code=r"chat(**{'100%0A::error::, %25': 1})"))
        self.assertEqual([command for command, _, _ in annotations], ["error", "notice"])
        self.assertIn("100%0A::error::, %25", annotations[0][2])

    def test_reports_that_no_request_was_judged(self):
        (command, _, message), _ = self.annotations(code="")
        self.assertEqual(command, "error")
        self.assertIn("judged 0 requests", message)

    def test_reports_that_no_request_was_served(self):
        code = "request('GET', '/v1/models', Authorization='Bearer sk-nobody')"
        for flags, expected in ([], "error"), (["--allow-refused"], "warning"):
            command, _, message = next(iter(self.annotations(*flags, code=code)))
            self.assertEqual(command, expected)
            self.assertIn("served 0 requests: the gateway refused every request, 1 with 401 unauthorized", message)


class Served:
    """A running `mock-gateway serve` that is ready."""

    def __init__(self, *flags):
        self.process = subprocess.Popen([program.PROGRAM, "serve", "--port", "0", "--quiet", *flags], text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.watchdog = threading.Timer(TIMEOUT, self.process.kill)
        self.watchdog.start()
        printed = ""
        while not printed.endswith("ready\n"):
            printed += self.process.stdout.readline() or "ready\n"
        self.port = int(re.search(r":(\d+)/v1\n", printed)[1])
        self.key = re.search(r"API key +(\S+)\n", printed)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        self.watchdog.cancel()

    def send(self, body):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT)
        connection.sendall((f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.key}\r\n"
                            f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
        return connection

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        stdout, stderr = self.process.communicate()
        return self.process.returncode, stdout, stderr


class OfServe(Reports):
    CHAT = {"model": "mock-model", "messages": [{"role": "user", "content": "Hi"}]}

    def test_serve_is_judged_only_on_request(self):
        for flags, code in [((), 0), (("--report", "text"), 1), (("--fail-on", "error"), 1), (("--fail-on", "never"), 0)]:
            for how in signal.SIGTERM, signal.SIGINT:
                with self.subTest(flags), Served(*flags) as served:
                    ended, stdout, stderr = served.end(how)
                    self.assertEqual((ended, stdout), (code, ""), stderr)
                    self.assertEqual("judged 0 requests" in stderr, bool(flags))

    def test_a_correct_client(self):
        with Served("--report", "text") as served:
            with served.send(json.dumps(self.CHAT)) as connection:
                connection.makefile("rb").read()
            code, _, stderr = served.end()
            self.assertEqual(code, 0, stderr)
            self.assertTrue(stderr.endswith("mock-gateway: passed: 1 request judged\n"), stderr)

    def test_requests_under_way_are_counted_separately(self):
        junit = os.path.join(self.folder, "junit")
        flags = ["--first-token-ms", "60000", "--report", f"json:{self.file}", "--report", f"junit:{junit}",
                 "--report", "github", "--report", "text"]
        with Served(*flags) as served, served.send(json.dumps({**self.CHAT, "stream": True})) as connection:
            self.assertTrue(connection.recv(1))
            code, _, stderr = served.end()
        self.assertEqual(code, 0, stderr)
        with open(self.file, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["open"], 1)
        tree = xml.etree.ElementTree.parse(junit)
        self.assertEqual({entry.get("value") for entry in tree.iter("property") if entry.get("name") == "open"}, {"1"})
        self.assertIn("::warning title=mock-gateway::1 exchange had not ended\n", stderr)
        self.assertRegex(stderr, r"review: .*1 [^\n]*\n")

    def test_a_faulty_client_in_the_same_formats(self):
        with Served("--report", f"junit:{self.file}") as served:
            with served.send("{}") as connection:
                self.assertTrue(connection.makefile("rb").read().startswith(b"HTTP/1.1 400 "))
            self.assertEqual(served.end()[0], 1)
        tree = xml.etree.ElementTree.parse(self.file)
        self.assertEqual([case.get("name") for case in tree.iter("testcase") if case.find("failure") is not None],
                         ["a request was served", "request_refused"])


class OfScripts(Reports):
    def setUp(self):
        super().setUp()
        if not program.reads_scripts():
            self.skipTest("this program reads no scripts yet")

    def write(self, name, **document):
        path = os.path.join(os.fsencode(self.folder), name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"mock_gateway": 1, **document}, file, indent=1)
        return path

    STUBS = [{"name": "greeting", "when": {"user_says": "Hello"}, "reply": "Hello.", "expect": 1},
             {"name": "unexpected", "when": {"user_says": "Bye"}, "never": True},
             {"name": "plain", "reply": "Well."}]

    def test_evicted_exchanges_are_reported(self):
        script = self.write(b"small.json", gateway={"journal_limits": {"entries": 1, "bytes": 100000}})
        for code, evicted, told in (("chat()", 0, ""), ("chat(); chat()", 1, "1 exchange was"),
                                    ("chat(); chat(); chat()", 2, "2 exchanges were")):
            with self.subTest(code=code):
                remark = f"{told} evicted from the journal and not judged"
                report, _ = self.report("json", "--script", script, code=code, expected=0)
                report = json.loads(report)
                self.assertEqual((report["judged"], report["evicted"], report["remarks"]),
                                 (1, evicted, [remark] if told else []))
                report, done = self.report("junit", "--report", "github", "--script", script, code=code, expected=0)
                self.assertEqual(remark in report.decode(), bool(told))
                self.assertEqual(f"::warning title=mock-gateway::{remark}\n" in done.stderr, bool(told))

    def test_one_case_per_judged_stub_with_its_line(self):
        path = self.write(b"demo.json", stubs=self.STUBS)
        done = run("--script", path, "--report", f"junit:{self.file}", command=python("chat()"))
        self.assertEqual(done.returncode, 1, done.stderr)
        tree = xml.etree.ElementTree.parse(self.file)
        cases = [case for case in tree.iter("testcase") if case.get("file")]
        self.assertEqual([case.get("name").split('"')[1] for case in cases], ["greeting", "unexpected"])
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        for case in cases:
            self.assertEqual(case.get("file"), os.fsdecode(path))
            self.assertIn("{", lines[int(case.get("line")) - 1])
        self.assertIsNotNone(cases[0].find("failure"))
        self.assertIsNone(cases[1].find("failure"))

    def test_a_stub_without_a_file_is_reported_without_a_place(self):
        code = """
info = json.load(open(os.environ["MOCK_GATEWAY_INFO"]))
there = urllib.parse.urlsplit(info["control_url"])
stub = {"when": {"user_says": "x"}, "reply": "x", "expect": 2}
for method, path, body in (("POST", "/stubs", {**stub, "name": "posted"}),
                           ("PUT", "/script", {"mock_gateway": 1, "stubs": [{**stub, "name": "put"}]})):
    connection = http.client.HTTPConnection(there.hostname, there.port, timeout=20)
    headers = {"Authorization": "Bearer " + info["control_token"]}
    connection.request(method, "/control/v1" + path, json.dumps(body), headers)
    assert connection.getresponse().status < 300
chat()
"""
        done = run("--control", "0", "--report", f"junit:{self.file}", "--report", "github", command=python(code))
        self.assertEqual(done.returncode, 1, done.stderr)
        tree = xml.etree.ElementTree.parse(self.file)
        cases = {case.get("name").split('"')[1]: case for case in tree.iter("testcase")
                 if '"' in case.get("name")}
        self.assertEqual(sorted(cases), ["posted", "put"])
        for case in cases.values():
            self.assertIsNotNone(case.find("failure"))
            self.assertEqual((case.get("file"), case.get("line")), (None, None))
        self.assertEqual(done.stderr.count("::error title=unmet expectation::"), 2)

    def test_cases_with_the_same_name_are_distinguished(self):
        path = self.write(b"demo.json", stubs=[])
        with open(path, "w", encoding="utf-8") as file:  # on one line: a title names the line and the matchers
            json.dump({"mock_gateway": 1, "stubs": [{"reply": text, "when": {"user_says": "x"}, "expect": 1}
                                                    for text in "abc"]}, file)
        run("--script", path, "--report", f"junit:{self.file}", command=python("chat()"))
        names = [case.get("name") for case in xml.etree.ElementTree.parse(self.file).iter("testcase") if case.get("file")]
        self.assertEqual(len(names), 3)
        self.assertEqual(names, [names[0], names[0] + " [2]", names[0] + " [3]"])

    def test_scripts_that_could_not_be_reloaded(self):
        path = self.write(b"demo.json", stubs=[{"reply": "Hello."}])
        junit = os.path.join(self.folder, "junit")
        with Served("--script", path, "--report", f"json:{self.file}", "--report", f"junit:{junit}", "--report", "text",
                    "--report", "github") as served:
            with served.send(json.dumps(OfServe.CHAT)) as connection:
                connection.makefile("rb").read()
            with open(path, "w", encoding="utf-8") as file:  # on one line: each error quotes it, with the secret
                json.dump({"mock_gateway": 1, "stubs": [{"repyl": "Hello."}],
                           "keys": [{"name": "billing", "secret": "local-billing-0123", "stat": "x"}]}, file)
            said = ""
            while "the previous version is still served" not in said:
                said = served.process.stderr.readline()
                self.assertTrue(said, "the failed reload was not printed")
            code, _, stderr = served.end()
        self.assertEqual(code, 0, stderr)
        with open(self.file, encoding="utf-8") as file:
            (error,) = json.load(file)["reload_errors"]
        self.assertIn("/stubs/0", error)
        self.assertIn("/keys/0/stat", error)
        with open(junit, encoding="utf-8") as file:
            for said in (error, stderr, file.read()):
                self.assertNotIn("local-billing", said)
        tree = xml.etree.ElementTree.parse(junit)
        self.assertIn(error, "".join(element.text for element in tree.iter("system-out")))
        self.assertIn("not reloaded: ", stderr)
        self.assertIn("::warning title=mock-gateway::not reloaded: ", stderr)

    def test_an_annotation_points_to_the_line_of_the_stub(self):
        path = self.write(b"a,b:c%.json", stubs=self.STUBS)
        done = run("--script", path, "--report", "github", command=python("chat()"))
        self.assertRegex(done.stderr, r"(?m)^::error file=\S+a%2Cb%3Ac%25\.json,line=\d+,title=unmet expectation::")

    def test_a_file_whose_name_has_every_possible_byte(self):
        name = bytes(byte for byte in range(1, 250) if byte != ord("/")) + b".json"
        path = self.write(name, stubs=self.STUBS)
        done = run("--script", path, "--report", f"junit:{self.file}", command=python("chat()"), text=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        first = xml.etree.ElementTree.parse(self.file)
        second = xml.dom.minidom.parse(self.file)
        (case,) = [case for case in first.iter("testcase") if case.find("failure") is not None]
        self.assertIn("\N{REPLACEMENT CHARACTER}", case.get("file"))
        self.assertIn(case.get("file"), [case.getAttribute("file") for case in second.getElementsByTagName("testcase")])

    def test_an_unmatched_prompt_with_every_byte(self):
        path = self.write(b"demo.json", stubs=self.STUBS[:1])
        code = "chat(messages=[{'role': 'user', 'content': ''.join(map(chr, range(256))) + '\\ufffe\\uffff'}])"
        done = run("--script", path, "--report", f"junit:{self.file}", "--fail-on", "unmatched", command=python(code))
        self.assertEqual(done.returncode, 1, done.stderr)
        tree = xml.etree.ElementTree.parse(self.file)
        xml.dom.minidom.parse(self.file)
        self.assertEqual([case.get("name") for case in tree.iter("testcase") if case.find("failure") is not None],
                         ["every request was answered by a stub"])


if __name__ == "__main__":
    program.main(threads=2)
