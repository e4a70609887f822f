"""Tests of `mock-gateway run -- CMD`: exit codes, the environment of CMD, signals, and processes that CMD leaves
behind.

Usage: run_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
MOCK_GATEWAY_TEST_ALL=1 combines every kind of refused request with every flag that decides whether it counts.
"""

import json
import os
import pty
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import xml.etree.ElementTree

import program
from program import TIMEOUT, execute, python, run, runs


class ExitCodes(unittest.TestCase):
    def assert_code(self, code, *flags, command):
        done = run(*flags, command=command)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_the_status_of_the_command_takes_precedence(self):
        self.assert_code(0, command=python("sys.exit(0 if chat() == 200 else 9)"))
        self.assert_code(3, command=python("chat(); sys.exit(3)"))
        self.assert_code(3, command=python("sys.exit(3)"))
        self.assert_code(3, command=python("request('GET', '/v1/models?key=' + os.environ['OPENAI_API_KEY']); sys.exit(3)"))

    def test_the_exit_code_is_128_plus_the_signal_that_ended_the_command(self):
        for number in signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT, signal.SIGPIPE:
            said = self.assert_code(128 + number, command=["sh", "-c", f"kill -{int(number)} $$"])
            self.assertIn(f"sh was ended by signal {int(number)} (", said)

    def test_the_exit_code_is_2_if_the_command_cannot_start(self):
        with tempfile.TemporaryDirectory() as folder:
            for command, why in [("no-such-command", "No such file or directory"), (folder, "Permission denied"),
                                 (os.path.join(folder, "none"), "No such file or directory")]:
                said = self.assert_code(2, command=[command])
                self.assertEqual(said, f"mock-gateway: cannot start {command}: {why}\n")

    def test_the_exit_code_is_1_if_the_command_succeeds_and_there_is_a_finding(self):
        said = self.assert_code(1, command=python("request('GET', '/v1/models?key=' + os.environ['OPENAI_API_KEY'])"))
        self.assertIn("key_in_query", said)
        self.assertRegex(said, r"\nmock-gateway: failed: 1 finding, 1 request judged, \S+ exited with 0\n\Z")

    def test_the_exit_code_is_1_if_no_request_reached_the_gateway(self):
        said = self.assert_code(1, command=["true"])
        self.assertIn("judged 0 requests: no client reached the gateway", said)
        for fail_on in "error", "warning", "unmatched":
            self.assert_code(1, "--fail-on", fail_on, command=["true"])
        said = self.assert_code(0, "--fail-on", "never", command=["true"])
        self.assertIn("judged 0 requests", said)

    def test_the_last_line_matches_the_exit_code(self):
        for flags, code, expected, said in [
                (("--fail-on", "never"), "sys.exit(1)", 1, r"failed: 0 requests judged, \S+ exited with 1"),
                ((), "chat(); sys.exit(3)", 3, r"failed: 1 request judged, \S+ exited with 3"),
                ((), "chat(); os.kill(os.getpid(), 9)", 137, r"failed: 1 request judged, \S+ was ended by signal 9 \(.*\)"),
                (("--fail-on", "never"), "", 0, r"passed: 0 requests judged, \S+ exited with 0"),
                ((), "chat()", 0, r"passed: 1 request judged, \S+ exited with 0")]:
            with self.subTest(code):
                last = self.assert_code(expected, *flags, command=python(code)).splitlines()[-1]
                self.assertRegex(last, r"\Amock-gateway: " + said + r"\Z")
                done = run(*flags, "--report", "json:-", command=python(code))
                self.assertEqual(json.loads(done.stdout)["failed"], expected != 0)

    REFUSED = [  # the request of a client, and its status
        ("request('POST', '/v1/v1/chat/completions', b'{}')", "404 unknown_path"),
        ("request('GET', '/v1/chat/completions')", "405 method_not_allowed"),
        ("chat(temperature='hot')", "400 invalid_type"),
        ("request('POST', '/v1/chat/completions', b'x', **{'Content-Type': 'text/plain'})",
         "415 unsupported_content_type"),
        ("request('POST', '/v1/chat/completions', b' ' * (17 << 20), **{'Expect': '100-continue'})",
         "413 body_too_large"),
        ("request('GET', '/v1/models', Authorization='Bearer sk-nobody')", "401 unauthorized"),
        ("request('GET', '/v1/models', Authorization='')", "401 unauthorized"),
        ("s = socket.create_connection((address.hostname, address.port)); s.sendall(b'GET\\r\\n\\r\\n'); s.recv(1)",
         "400 malformed_request")]

    def test_the_exit_code_is_1_if_all_requests_were_refused(self):
        for code, error in self.REFUSED:
            with self.subTest(code):
                said = self.assert_code(1, command=python(code))
                self.assertIn(f"\nserved 0 requests: the gateway refused every request, 1 with {error}, so the client was not tested", said)
                self.assertRegex(said, r"\nmock-gateway: failed: (1 finding, )?1 request judged, none of them served, ")
                if code != self.REFUSED[0][0] and not program.IS_EXHAUSTIVE:
                    continue
                for flags in (["--fail-on", "unmatched"], ["--without-finding", "request_refused"]):
                    self.assert_code(1, *flags, command=python(code))
                for flags in ["--fail-on", "never"], ["--allow-refused"], ["--allow-refused", "--fail-on", "warning"]:
                    said = self.assert_code(0, *flags, command=python(code))
                    self.assertIn("\nserved 0 requests: the gateway refused every request", said)
                    self.assertRegex(said, r"\nmock-gateway: passed: .*1 request judged, none of them served, ")
        said = self.assert_code(1, command=python("; ".join(code for code, _ in self.REFUSED[:2] + self.REFUSED[5:7])))
        self.assertIn(", 2 with 401 unauthorized, 1 with 404 unknown_path, 1 with 405 method_not_allowed, so the client was not tested", said)
        self.assertIn("/v1/chat/completions is near: the base address ends with /v1 already", said)

    BROKEN_OFF = [  # what a client sends before it closes the connection, and what the gateway says about it
        ("POST", "'Content-Length: 17\\r\\n\\r\\n{\"model\": 12'", "incomplete_request",
         "the client closed the connection after 12 of 17 bytes of the body"),
        ("POST", "'Content-Length: 17\\r\\n\\r\\n{\"model\": 12}'", "malformed_request",
         "the client closed the connection after 13 of 17 bytes of the body, which is complete JSON"),
        ("POST", "'Transfer-Encoding: chunked\\r\\n\\r\\n5\\r\\nhello\\r\\n'", "incomplete_request",
         "the client closed the connection after 10 bytes of the chunked body, before its last chunk"),
        ("GET", "'Accept: '", "incomplete_request", r"the client closed the connection after \d+ bytes of the head")]

    def test_a_request_that_breaks_off_is_reported(self):
        sent = """
s = socket.create_connection((address.hostname, address.port))
s.sendall((%r + " /v1/chat/completions HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer " + os.environ["OPENAI_API_KEY"] + "\\r\\n" + %s).encode())
s.close()
"""
        with tempfile.TemporaryDirectory() as folder:
            journal = os.path.join(folder, "journal")
            for number, (method, rest, code, said) in enumerate(self.BROKEN_OFF):
                with self.subTest(rest):
                    err = self.assert_code(1, "--journal", f"{journal}{number}", command=python(sent % (method, rest)))
                    self.assertIn(f"served 0 requests: the gateway refused every request, 1 with 400 {code}", err)
                    self.assertRegex(err, ("exchange 1 broke off: " if code == "incomplete_request" else
                                           "request_refused [(]exchange 1[)]: refused with 400 malformed_request: .*") + said)
                    with open(f"{journal}{number}", encoding="utf-8") as file:
                        exchange = json.loads(file.read().splitlines()[1])
                    self.assertEqual((exchange["decision"]["kind"], exchange["decision"]["detail"]), ("malformed", f"400 {code}"))
                    self.assertRegex(exchange["decision"]["refusal"], said)
                    self.assert_code(0, command=python("chat()" + sent % (method, rest))) if code == "incomplete_request" else None

    def test_what_the_command_has_sent_is_read_before_the_verdict_even_if_the_gateway_was_slow(self):
        slow = """
import subprocess
gateway = os.getppid()
resume = f"import os, sys; sys.stdin.read(); os.kill({gateway}, 18)"  # SIGCONT, once this process has ended
resumer = subprocess.Popen([sys.executable, "-c", resume], stdin=subprocess.PIPE, start_new_session=True)
os.kill(gateway, 19)  # SIGSTOP
s = socket.create_connection((address.hostname, address.port))
s.sendall(b"GET /v1/models HTTP/1.1\\r\\nAccept: ")
"""
        for _ in range(8):
            said = self.assert_code(1, command=python(slow))
            self.assertIn("served 0 requests: the gateway refused every request, 1 with 400 incomplete_request", said)

    def test_a_connection_without_a_request_is_not_recorded(self):
        opened = "s = socket.create_connection((address.hostname, address.port)); "
        for code in opened + "s.close()", opened + "s.sendall(b'\\r\\n'); s.close()":
            self.assertIn("no client reached the gateway", self.assert_code(1, command=python(code)))
        said = self.assert_code(0, command=python("chat()"))  # closes its idle connection
        self.assertIn("passed: 1 request judged", said)

    def test_one_served_request_counts_as_a_test(self):
        nobody = "request('GET', '/v1/models', Authorization='Bearer sk-nobody'); "
        said = self.assert_code(0, command=python(nobody + "chat()"))
        self.assertIn("\nmock-gateway: passed: 2 requests judged, ", said)
        for code, _ in self.REFUSED[:4]:
            self.assert_code(1, command=python(code + "; chat()"))  # because of the client's finding
            self.assert_code(0, "--allow-refused", command=python(code + "; chat()"))

    CONTROL = """
info = json.load(open(os.environ["MOCK_GATEWAY_INFO"]))
def control(method, path, body=b'{}'):
    there = urllib.parse.urlsplit(info["control_url"])
    connection = http.client.HTTPConnection(there.hostname, there.port, timeout=20)
    connection.request(method, "/control/v1" + path, body, {"Authorization": "Bearer " + info["control_token"]})
    response = connection.getresponse()
    assert response.status < 300, response.read()
    return json.load(response)
"""

    def test_forced_and_scripted_replies_and_deleted_keys_count_as_served(self):
        for status in 400, 401, 404, 403, 429:
            self.assert_code(0, "--fail", f"{status}:*", command=python("chat()"))
        nobody, off = ("request('GET', '/v1/models', Authorization='Bearer sk-%s')" % name for name in ("nobody", "off"))
        self.assert_code(0, "--key", "sk-off=disabled", command=python(off))
        deleted = self.CONTROL + """
key = control("POST", "/keys")
control("DELETE", "/keys/" + key["id"])
"""
        ask = "sys.exit(request('GET', '/v1/models', Authorization='Bearer ' + key['secret']) != 401)"
        self.assert_code(0, "--control", "0", command=python(deleted + ask))
        self.assert_code(1, "--control", "0", command=python(deleted + "chat(temperature='hot')"))
        # Exchanges that the journal has evicted count as served.
        for code, status in ("chat()", 0), ("", 1):
            self.assert_code(status, "--control", "0", command=python(
                f"{code}\n{deleted}control('DELETE', '/journal')\n{nobody}"))

    SCOPES = CONTROL + """
def in_scope(name, body=None, end=b'{}', **fields):
    scope = control("POST", "/scopes", json.dumps({"name": name}))
    stub = {"when": {"user_says": "Hi"}, "reply": "Hello."}
    control("POST", "/stubs?scope=" + scope["id"], json.dumps(stub))
    os.environ["OPENAI_API_KEY"] = scope["api_key"]
    chat(**fields)
    control("DELETE", "/scopes/" + scope["id"], end)
"""

    def test_closed_scopes_count_in_the_verdict(self):
        unmatched = "messages=[{'role': 'user', 'content': 'Bye'}]"
        with tempfile.TemporaryDirectory() as folder:
            junit, report = os.path.join(folder, "junit.xml"), os.path.join(folder, "report.json")
            flags = ["--control", "0", "--report", "text", "--report", f"junit:{junit}", "--report", f"json:{report}",
                     "--report", "github"]
            code = self.SCOPES + "for name in 'greeting', 'farewell': in_scope(name)\n"
            said = self.assert_code(0, *flags, command=python(code))
            self.assertRegex(said, r"\nmock-gateway: passed: 2 requests judged, 2 in 2 closed scopes, \S+ exited with 0\n\Z")
            code += f"in_scope('toolCall', {unmatched}); in_scope('hot', temperature='hot')\n"
            said = self.assert_code(1, *flags, command=python(code))
            self.assertIn('\nscope "toolCall": 1 problem, 0 findings\nno stub matched  POST ', said)
            self.assertIn('\nscope "hot": 0 problems, 1 finding\n1 finding in 1 call, 1 try, 0 injected faults\nrequest_refused ', said)
            self.assertNotIn('scope "greeting"', said)
            self.assertRegex(said, r"\nmock-gateway: failed: 1 problem, 1 finding, 4 requests judged, 4 in 4 closed scopes, ")
            self.assertRegex(said, r'\n::error title=scope toolCall::no stub matched ')
            cases = {case.get("name"): case for case in xml.etree.ElementTree.parse(junit).iter("testcase")
                     if case.get("classname") == "mock-gateway.scopes"}
            self.assertEqual({name: case.find("failure") is not None for name, case in cases.items()},
                             {"greeting": False, "farewell": False, 'toolCall': True, "hot": True})
            with open(report, encoding="utf-8") as file:
                scopes = json.load(file)["scopes"]
            self.assertEqual([(scope["name"], scope["judged"], len(scope["problems"]), len(scope["findings"])) for scope in scopes],
                             [("greeting", 1, 0, 0), ("farewell", 1, 0, 0), ('toolCall', 1, 1, 0), ("hot", 1, 0, 1)])
            self.assertEqual(scopes[2]["problems"][0]["kind"], "unmatched")
            # --fail-on, --without-finding and --allow-refused apply to scopes too.
            only_hot = self.SCOPES + "in_scope('greeting'); in_scope('hot', temperature='hot')\n"
            for further in ["--fail-on", "never"], ["--fail-on", "unmatched"], ["--allow-refused"], ["--without-finding", "request_refused"]:
                self.assert_code(0, *flags, *further, command=python(only_hot))
            self.assert_code(1, *flags, command=python(only_hot))
            self.assert_code(1, *flags, "--fail-on", "unmatched", command=python(code))

    def test_unlisted_models_of_closed_scopes_are_one_note_at_the_end(self):
        asked = "in_scope({0!r}, model='gpt-x', messages=[{{'role': 'user', 'content': '{1}'}}])\n"
        code = self.SCOPES + "".join(asked.format(f"t{i}", "Bye" if i > 1 else "Hi") for i in range(4))
        for more in "", "chat(model='gpt-y')\n":
            said = self.assert_code(1, "--control", "0", "--report", "text", "--report", "github", command=python(code + more))
            titles = re.findall(r"^::(\w+ title=[^:]+)::", said, re.MULTILINE)
            self.assertEqual(titles[:3], ["error title=scope t2", "error title=scope t3", "notice title=unlisted_model"])
            self.assertEqual(said.count("not listed, but"), 2, said)  # once in each report
            self.assertEqual(re.findall(r'^scope (.+)$', said, re.MULTILINE), ['"t2": 1 problem, 0 findings', '"t3": 1 problem, 0 findings'])
            self.assertRegex(said, r"\nmock-gateway: failed: 2 problems, ")

    def test_a_scope_that_expects_problems_can_be_left_out_of_the_verdict(self):
        code = self.SCOPES + "in_scope('greeting'); in_scope('hot', temperature='hot', end=b'{\"counts\": false}')\n"
        said = self.assert_code(0, "--control", "0", command=python(code))
        self.assertIn("passed: 1 request judged, 1 in 1 closed scope, ", said)
        self.assert_code(0, "--control", "0", command=python(code + "in_scope('late', temperature='hot')\ncontrol('POST', '/reset')"))

    def test_the_exit_code_is_1_if_the_command_starts_its_own_gateways(self):
        code = f"""
import subprocess
for each in range(2):
    subprocess.run([{program.PROGRAM!r}, "serve", "--port", "0", "--quiet", "--until-eof"],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
"""
        said = self.assert_code(1, command=python(code))
        self.assertIn("judged 0 requests: CMD has started 2 mock-gateways of its own, as the helpers do, and its requests "
                      "went there; the tests judge those requests: run the suite without `mock-gateway run`\n", said)
        self.assertNotIn("no client reached", said)
        said = self.assert_code(0, command=python(code + "chat()"))
        self.assertIn("CMD has started 2 mock-gateways of its own, whose requests are not judged here\n", said)

    def test_a_connection_with_a_fault_counts_as_reached(self):
        self.assert_code(0, "--scenario", "garbage-on-accept", command=python(
            "s = socket.create_connection((address.hostname, address.port)); sys.exit(0 if s.recv(1) else 9)"))

    def test_fail_on_decides_which_findings_count(self):
        warned = python("chat(stop='x')")  # stop_as_string, a warning
        wrong = python("chat(); chat(temperature='hot')")  # request_refused, an error
        for fail_on, of_warning, of_error in [("error", 0, 1), ("warning", 1, 1), ("unmatched", 0, 0), ("never", 0, 0)]:
            with self.subTest(fail_on):
                self.assert_code(of_warning, "--fail-on", fail_on, command=warned)
                self.assert_code(of_error, "--fail-on", fail_on, command=wrong)
        self.assert_code(0, command=warned)
        self.assert_code(0, "--without-finding", "request_refused", command=wrong)
        said = self.assert_code(2, "--without-finding", "request_refuse", command=wrong)
        self.assertIn('there is no finding "request_refuse"; the codes are ', said)

    def test_a_possibly_intended_retry_is_reported_and_fails_a_run_that_counts_warnings(self):
        again = python("""
for status in 429, 200:
    if request("POST", address.path + "/chat/completions", json.dumps({"model": "mock-model", "messages": [
            {"role": "user", "content": "Hi"}]}).encode(), **{"x-stainless-retry-count": "0"}) != status:
        sys.exit(9)
""")
        told = (r"sent the same request again after \S+ m?s, as a new call \(x-stainless-retry-count: 0\); Retry-After was 3600 s\. "
                r"Make the retry loop around the client wait as long as the header says\. "
                r"Ignore this if the test repeats the request on purpose\.")
        with tempfile.TemporaryDirectory() as folder:
            path, junit = os.path.join(folder, "limited.json"), os.path.join(folder, "report.xml")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"mock_gateway": 1, "stubs": [
                    {"replies": [{"failure": "rate_limited", "retry_after": "3600s"}, "Hello."]}]}, file)
            flags = ["--script", path, "--report", "text", "--report", f"junit:{junit}"]
            for code, further, element in (0, [], "system-out"), (1, ["--fail-on", "warning"], "failure"):
                with self.subTest(further):
                    said = self.assert_code(code, *flags, *further, command=again)
                    self.assertRegex(said, r"\nreview: 1 finding in [^\n]+\nasked_again_early \(exchange 2 after 1\): " + told)
                    tree = xml.etree.ElementTree.parse(junit)
                    self.assertEqual(len(list(tree.iter("failure"))), code)
                    case = tree.find(".//testcase[@name='asked_again_early']")
                    self.assertEqual([each.tag for each in case], [element])
                    self.assertRegex(case[0].text, told)

    def test_warnings_about_tries_fail_only_a_run_that_counts_them(self):
        ask = """
for _ in range(TIMES):
    request("POST", address.path + "/chat/completions", json.dumps({"model": "mock-model", "messages": [
            {"role": "user", "content": "Hi"}]}).encode())
"""
        for code, times, replies in (("retry_storm", 25, [{"failure": "service_unavailable", "retry_after": "0s"}]),
                                     ("gave_up", 1, [{"failure": "service_unavailable", "retry_after": "1s"}, "Hello."])):
            with self.subTest(code), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "script.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump({"mock_gateway": 1, "stubs": [{"replies": replies}]}, file)
                for exit_code, further in (0, []), (1, ["--fail-on", "warning"]):
                    said = self.assert_code(exit_code, "--script", path, *further, command=python(f"TIMES = {times}\n" + ask))
                    self.assertRegex(said, rf"\nreview: 1 finding in 1 call, {times} tr[^\n]+\n{code} \(exchange ")

    def test_the_exit_code_is_2_for_an_invalid_command_line(self):
        for words, said in [(["run"], "run: say what to run"), (["run", "--"], "run: say what to run"),
                            (["run", "true"], "put CMD after --"), (["run", "--unknown", "--", "true"], "--unknown"),
                            (["--port", "0", "run", "--", "true"], "--port is before run"),
                            (["--", "true"], "only run and check take -- and a command"), (["serve", "--", "true"], "only run and check take -- and a command"),
                            (["run", "--report", "xml", "--", "true"], "--report"),
                            (["run", "--report", "junit", "--", "true"], "--report"),
                            (["run", "--report", "json:", "--", "true"], "--report"),
                            (["run", "--report", "junit:/no/such/folder/x", "--", "true"], "/no/such/folder/x"),
                            (["run", "--fail-on", "anything", "--", "true"], "--fail-on"),
                            (["validate"], "FILE"), (["validate", "x", "--format", "xml"], "--format"),
                            (["import"], "FILE"), (["schema", "stray"], "stray")]:
            with self.subTest(words):
                done = execute(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"\Amock-gateway: [^\n]+\n\Z")
                self.assertIn(said, done.stderr)

    def test_a_missing_script_is_reported_by_each_subcommand(self):
        for words in (["--script", "none.json"], ["serve", "--script", "none.json"],
                      ["run", "--script", "none.json", "--", "true"], ["validate", "none.json"]):
            with self.subTest(words):
                done = execute(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn("none.json", done.stderr)


class WhatItLogs(unittest.TestCase):
    def test_only_requests_that_the_gateway_could_not_serve(self):
        script = {"mock_gateway": 1, "stubs": [{"when": {"user_says": "Hi"}, "replies": [{"failure": 429}, "Hello."]}]}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(script, file)
            file.flush()
            code = """
chat(); chat(); chat(messages=[{"role": "user", "content": "x"}]); chat(temperature="hot")
request("GET", "/v1/modelz"); request("GET", "/v1/models", Authorization="")
"""
            done = execute("run", "--script", file.name, "--", *python(code))
        lines = re.findall(r"^\S+ (#\d+ \S+ \S+ \d+) ", done.stderr, re.MULTILINE)
        self.assertEqual(sorted(lines), ["#3 POST /v1/chat/completions 422", "#4 POST /v1/chat/completions 400",
                                         "#5 GET /v1/modelz 404", "#6 GET /v1/models 401"])


class WhatTheCommandGets(unittest.TestCase):
    def environment(self, *flags, **variables):
        """Returns the environment of the command, and the content of its info file."""
        code = ("path = os.environ['MOCK_GATEWAY_INFO']; info = json.load(open(path)); chat();"
                "print(json.dumps([dict(os.environ), info, oct(os.stat(path).st_mode & 0o7777), os.getppid()]))")
        given = {name: value for name, value in os.environ.items()
                 if name.lower() != "no_proxy" and not name.startswith("OPENAI_")}
        done = run(*flags, command=python(code), env={**given, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_command_gets_addresses_and_key_in_its_environment(self):
        environment, info, mode, parent = self.environment("--key", "sk-mine", OPENAI_API_KEY="sk-real", OTHER="kept")
        self.assertRegex(environment["OPENAI_BASE_URL"], r"\Ahttp://127\.0\.0\.1:\d+/v1\Z")
        self.assertEqual(environment["OPENAI_API_BASE"], environment["OPENAI_BASE_URL"])
        self.assertEqual(environment["OPENAI_API_KEY"], "sk-mine")
        self.assertEqual(environment["OTHER"], "kept")
        self.assertEqual(mode, "0o600")
        self.assertEqual(list(info), ["instance", "pid", "base_url", "api_key", "control_url", "control_token",
                                       "version"])
        self.assertEqual((info["control_url"], info["control_token"]), (None, None))
        self.assertEqual((info["base_url"], info["api_key"]), (environment["OPENAI_BASE_URL"], "sk-mine"))
        self.assertEqual(info["pid"], parent)
        self.assertRegex(info["instance"], r"\A[-0-9A-Z_a-z]{22}\Z")
        self.assertIn(info["version"], execute("--version").stdout)
        self.assertFalse(os.path.exists(environment["MOCK_GATEWAY_INFO"]), "the program did not remove the file")
        self.assertNotEqual(info["instance"], self.environment()[1]["instance"])

    def test_the_address_ends_in_the_first_base_path(self):
        environment, info, *_ = self.environment("--base-path", "/api/paas/v4", "--base-path", "/v1")
        self.assertRegex(environment["OPENAI_BASE_URL"], r"\Ahttp://127\.0\.0\.1:\d+/api/paas/v4\Z")
        self.assertEqual(environment["OPENAI_API_BASE"], environment["OPENAI_BASE_URL"])
        self.assertEqual(info["base_url"], environment["OPENAI_BASE_URL"])

    def test_temporary_files_are_in_the_folder_that_tmpdir_names(self):
        with tempfile.TemporaryDirectory() as folder:
            for given, used in (folder, folder), ("", "/tmp"):
                environment = self.environment(TMPDIR=given)[0]
                for name in "MOCK_GATEWAY_INFO", "MOCK_GATEWAY_RUN":
                    self.assertEqual(os.path.dirname(environment[name]), used)
            self.assertEqual(os.listdir(folder), [])
            done = run(command=["true"], env={**os.environ, "TMPDIR": os.path.join(folder, "none")})
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"a temporary file: cannot write {folder}/none/mock-gateway-", done.stderr)

    def test_no_proxy_lists_are_extended(self):
        ours = "127.0.0.1,localhost"
        for given, upper, lower in [
                ({}, ours, ours),
                ({"NO_PROXY": "corp"}, "corp," + ours, "corp," + ours),
                ({"no_proxy": "corp"}, "corp," + ours, "corp," + ours),
                ({"NO_PROXY": "a", "no_proxy": "b"}, "a," + ours, "b," + ours),
                ({"NO_PROXY": "localhost,x"}, "localhost,x,127.0.0.1", "localhost,x,127.0.0.1"),
                ({"NO_PROXY": "*"}, "*", "*")]:
            with self.subTest(given):
                environment = self.environment(**given)[0]
                self.assertEqual((environment["NO_PROXY"], environment["no_proxy"]), (upper, lower))

    def test_the_listening_host_is_reached_without_a_proxy(self):
        for host, shown in ("127.0.0.2", "127.0.0.1,localhost,127.0.0.2"), ("0.0.0.0", "127.0.0.1,localhost"):
            self.assertEqual(self.environment("--host", host)[0]["NO_PROXY"], shown)

    def test_the_default_key_is_valid_in_addition_to_keys_of_flags(self):
        done = run("--key", "sk-off=disabled", command=python("print(chat())"))
        self.assertEqual((done.returncode, done.stdout), (0, "200\n"), done.stderr)

    def test_arguments_are_passed_unchanged(self):
        words = ["--", "--port", "serve", "run", "", "a b", "$HOME", "line\nend", "--help"]
        done = run(command=[sys.executable, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))", *words])
        self.assertEqual(json.loads(done.stdout), words)

    def test_the_command_has_stdin_and_its_own_stdout(self):
        done = execute("run", "--", *python("chat(); sys.stdout.write(sys.stdin.read())"), stdin=None, input="a\x00b\n")
        self.assertEqual((done.returncode, done.stdout), (0, "a\x00b\n"), done.stderr)
        self.assertIn("verify: nothing is wrong\nreview: clean: 1 exchange judged\nmock-gateway: passed: ", done.stderr)

    def test_the_command_has_its_own_process_group_and_default_signals(self):
        state = "import os; print(os.getpgrp() == os.getpid())"
        self.assertEqual(run(command=[sys.executable, "-c", state]).stdout, "True\n")
        if not os.path.exists("/proc/self/status"):
            self.skipTest("without /proc")
        command = ["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"]
        # glibc's posix_spawn leaves its own two signals, 32 and 33, ignored.
        masks = [[int(mask, 16) & ~(3 << 31) for mask in re.findall(r"\t(\w+)\n", printed)]
                 for printed in (run(command=command).stdout,
                                 subprocess.run(command, capture_output=True, text=True, check=True).stdout)]
        self.assertEqual(len(masks[0]), 3)
        self.assertEqual(*masks)

    def test_the_command_has_the_shells_limit_of_descriptors(self):
        code = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
        limit = 200

        def with_few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

        self.assertEqual(run(command=[sys.executable, "-c", code], preexec_fn=with_few).stdout, f"{limit}\n")

    def test_the_command_inherits_no_descriptor_of_the_program(self):
        code = "import os; print(sorted(os.listdir('/proc/self/fd'))[:5])"
        if not os.path.exists("/proc/self/fd"):
            self.skipTest("without /proc")
        alone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(run(command=[sys.executable, "-c", code]).stdout, alone.stdout)


class Running:
    """`mock-gateway run` with a command that has printed its first line."""

    def __init__(self, code, *flags):
        self.process = subprocess.Popen([program.PROGRAM, "run", "--quiet", "--fail-on", "never", *flags, "--",
                                         *python(code)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.watchdog = threading.Timer(TIMEOUT, self.process.kill)
        self.watchdog.start()
        self.first_line = self.process.stdout.readline()
        if not self.first_line:
            raise AssertionError(f"the command printed nothing: {self.process.communicate()[1]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        self.watchdog.cancel()

    def end(self):
        """Waits for the end. Returns the exit code, and the output on stdout and stderr after the first line."""
        stdout, stderr = self.process.communicate()
        return self.process.returncode, stdout, stderr


class Signals(unittest.TestCase):
    def test_each_signal_is_forwarded_to_the_command(self):
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            code = f"signal.signal({int(number)}, lambda *_: sys.exit(7)); print('ready', flush=True); signal.pause()"
            with self.subTest(number), Running(code) as running:
                running.process.send_signal(number)
                self.assertEqual(running.end()[0], 7)

    def test_each_signal_is_forwarded_to_the_commands_children(self):
        code = ("import subprocess; child = subprocess.Popen(['sleep', '1000']);"
                "signal.signal(signal.SIGINT, signal.SIG_IGN); print('ready', flush=True); sys.exit(-child.wait())")
        with Running(code) as running:
            running.process.send_signal(signal.SIGINT)
            self.assertEqual(running.end()[0], signal.SIGINT)

    @staticmethod
    def waiting_for_a_line(number):
        return (f"signal.signal({int(number)}, lambda *_: os.write(1, b'heard\\n')); print('ready', flush=True);"
                "print(sys.stdin.readline())")

    def assert_ends_by_itself(self, running):
        running.process.stdin.write("done\n")
        running.process.stdin.flush()
        code, stdout, _ = running.end()
        self.assertEqual((code, stdout), (0, "done\n\n"))

    def test_a_command_that_ignores_the_first_signal_ends_by_itself(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(number), Running(self.waiting_for_a_line(number)) as running:
                running.process.send_signal(number)
                self.assertEqual(running.process.stdout.readline(), "heard\n")
                self.assertIsNone(running.process.poll())
                self.assert_ends_by_itself(running)

    IGNORES = "signal.signal(signal.SIGTERM, lambda *_: os.write(1, b'heard\\n')); print('ready', flush=True)\n" \
              "while True: signal.pause()"

    def test_the_second_signal_kills_after_a_grace_period_and_the_first_never(self):
        with Running(self.waiting_for_a_line(signal.SIGTERM)) as once:
            once.process.send_signal(signal.SIGTERM)
            self.assertEqual(once.process.stdout.readline(), "heard\n")
            with Running(self.IGNORES) as running:
                began = time.monotonic()
                for _ in range(2):
                    running.process.send_signal(signal.SIGTERM)
                    self.assertEqual(running.process.stdout.readline(), "heard\n")
                code, _, stderr = running.end()
                self.assertEqual(code, 128 + signal.SIGKILL)
                self.assertGreaterEqual(time.monotonic() - began, 4.9)
                self.assertIn(" did not end; sending SIGKILL\n", stderr)
            self.assert_ends_by_itself(once)

    def test_the_third_signal_kills_at_once(self):
        with Running(self.IGNORES) as running:
            for _ in range(2):
                running.process.send_signal(signal.SIGTERM)
                self.assertEqual(running.process.stdout.readline(), "heard\n")
            running.process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            self.assertEqual(running.end()[0], 128 + signal.SIGKILL)
            self.assertLess(time.monotonic() - began, 4)

    def test_the_report_is_written_after_a_signal(self):
        code = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); chat(); print('ready', flush=True); signal.pause()"
        with Running(code) as running:
            running.process.send_signal(signal.SIGTERM)
            code, _, stderr = running.end()
            self.assertEqual(code, 0)
            self.assertIn("passed: 1 request judged", stderr)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class LeftBehind(unittest.TestCase):
    def test_remaining_children_are_ended_and_reported(self):
        done = run("--fail-on", "never", command=["sh", "-c", "sleep 1000 & echo $!; exit 4"])
        self.assertEqual(done.returncode, 4)
        self.assertIn("mock-gateway: sh left processes behind; sending SIGTERM:", done.stderr)
        if os.path.exists("/proc/self/stat"):
            self.assertIn(f" {done.stdout.strip()} (sleep)\n", done.stderr)
        self.assertFalse(is_alive(int(done.stdout)))

    @unittest.skipUnless(os.path.exists("/proc/self/comm"), "without /proc")
    def test_a_child_is_reported_by_its_name_with_any_characters(self):
        for name, told in ("a) S 1 (b", "a) S 1 (b"), ("x)\ny (z", r"x)\ny (z"):
            child = (f"import os, signal, sys; open('/proc/self/comm', 'w').write({name!r}); os.close(int(sys.argv[1]));"
                     "signal.pause()")
            # The command ends when the child has its name, which the child signals by closing the pipe.
            code = ("import subprocess; r, w = os.pipe();"
                    f"child = subprocess.Popen([sys.executable, '-c', {child!r}, str(w)], pass_fds=[w]);"
                    "os.close(w); os.read(r, 1); print(child.pid)")
            done = run("--fail-on", "never", command=python(code))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"left processes behind; sending SIGTERM: {done.stdout.strip()} ({told})\n", done.stderr)
            self.assertFalse(is_alive(int(done.stdout)))

    def test_children_that_ignore_sigterm_are_killed(self):
        deaf = ("import os, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.close(int(sys.argv[1]));"
                "signal.pause()")
        # The command ends when the child ignores SIGTERM, which the child signals by closing the pipe.
        code = ("import subprocess; r, w = os.pipe();"
                f"child = subprocess.Popen([sys.executable, '-c', {deaf!r}, str(w)], pass_fds=[w]);"
                "os.close(w); os.read(r, 1); print(child.pid)")
        done = run("--fail-on", "never", command=python(code))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("did not end; sending SIGKILL:", done.stderr)
        self.assertFalse(is_alive(int(done.stdout)))

    def test_children_that_end_right_after_the_command_are_not_reported(self):
        done = run("--fail-on", "never", command=["sh", "-c", "(read line) & exit 0"])
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("left processes behind", done.stderr)


class Killed(unittest.TestCase):
    @unittest.skipUnless(sys.platform == "linux", "the system does not end the command of a run that is gone")
    def test_sigkill_of_run_ends_its_command(self):
        with Running("print(os.getpid(), flush=True); signal.pause()") as running:
            command = int(running.first_line)
            os.kill(running.process.pid, signal.SIGKILL)
            deadline = time.monotonic() + 10
            while runs(command):
                self.assertLess(time.monotonic(), deadline, "the command is left")
                time.sleep(0.01)

    def test_a_normal_end_of_run_ends_no_other_process(self):
        code = ("import subprocess; print(subprocess.Popen(['sleep', '1000'], start_new_session=True, "
                "stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)")
        done = run("--fail-on", "never", command=python(code))
        self.assertTrue(runs(int(done.stdout)), "a service that the command started is not run's to end")
        os.kill(int(done.stdout), signal.SIGKILL)


class OnATerminal(unittest.TestCase):
    alone = True  # it forks, which is not safe beside other threads

    def play(self, code, typed, **variables):
        """Types the keys when "ready" is on the screen. Returns the exit code and the screen."""
        pid, screen = pty.fork()
        if pid == 0:
            words = [program.PROGRAM, "run", "--quiet", "--fail-on", "never", "--", *python(code)]
            environment = {**os.environ, "TERM": "xterm", **variables}
            if "NO_COLOR" not in variables:
                environment.pop("NO_COLOR", None)
            os.execvpe(words[0], words, environment)
        seen = b""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            if not select.select([screen], [], [], deadline - time.monotonic())[0]:
                break
            try:
                part = os.read(screen, 4096)
            except OSError:  # EIO: the other side has closed the terminal
                break
            if not part:
                break
            seen += part
            if typed and b"ready" in seen:
                os.write(screen, typed)
                typed = b""
        else:
            os.kill(pid, signal.SIGKILL)
        os.close(screen)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode(errors="replace")

    def test_the_command_reads_from_the_terminal(self):
        code, screen = self.play("print('ready', flush=True); print('read', sys.stdin.readline())", b"a line\n")
        self.assertEqual(code, 0, screen)
        self.assertIn("read a line", screen)
        self.assertIn("passed: ", screen, "and the program has it back")

    def test_control_c_reaches_only_the_command(self):
        code, screen = self.play("signal.signal(signal.SIGINT, lambda *_: sys.exit(5)); print('ready', flush=True);"
                                 "signal.pause()", b"\x03")
        self.assertEqual(code, 5, screen)
        self.assertIn("failed: ", screen, "and the program has it back")

    def test_a_terminal_shows_colours_unless_no_color_is_set(self):
        self.assertIn("\x1b[32mpassed: ", self.play("", b"")[1])
        for forbidden in {"NO_COLOR": "1"}, {"TERM": "dumb"}:
            self.assertNotIn("\x1b", self.play("", b"", **forbidden)[1])
        self.assertNotIn("\x1b", run("--fail-on", "never", command=["true"]).stderr)


class FailuresOnDemand(unittest.TestCase):
    def statuses(self, *flags):
        code = "print(request('GET', '/v1/models'), chat(), request('GET', '/v1/models'), chat())"
        done = run("--fail-on", "never", *flags, command=python(code))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_failures_for_a_path_a_key_or_a_model(self):
        self.assertEqual(self.statuses("--fail", "503@/v1/models"), "503 200 200 200")
        self.assertEqual(self.statuses("--fail", "503:*@/v1/models"), "503 200 503 200")
        self.assertEqual(self.statuses("--fail", "503:2@/v1/chat/completions"), "200 503 200 503")
        self.assertEqual(self.statuses("--fail", "429@GET /v1/models", "--fail", "500@model=mock-model"), "429 500 200 200")
        self.assertEqual(self.statuses("--fail", "403:3@key=default key"), "403 403 403 200")
        self.assertEqual(self.statuses("--fail", "403@key=key_1"), "403 200 200 200")
        self.assertEqual(self.statuses("--key", "sk-mine", "--key", "sk-other", "--fail", "403:*@key=--key"),
                         "200 200 200 200")

    def test_a_failure_for_an_unknown_name(self):
        for spec, said in [("503@", "--fail"), ("503@models", "--fail"), ("503@/v1/files", "with which method"),
                           ("503@GET /v1/*", 'GET /v1/*: "*" is no wildcard; '),
                           ("503@key=none", "no key has this name (others are default key)"), ("503@key=", "--fail"),
                           ("503:x@/v1/models", "--fail"), ("@/v1/models", "--fail")]:
            with self.subTest(spec):
                done = run("--fail", spec, command=["true"])
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"\Amock-gateway: [^\n]+\n\Z")
                self.assertIn(said, done.stderr)
        keys = [flag for key in ("sk-a", "sk-b", "sk-c") for flag in ("--key", key)]
        for name, said in [("--key", "several keys have this name, key_2 and key_3: 503@key=--key"),
                           ("none", "no key has this name (others are default key, --key, --key): 503@key=none")]:
            done = run(*keys, "--fail", "503@key=" + name, command=["true"])
            self.assertEqual((done.returncode, done.stderr), (2, f"mock-gateway: --fail: {said}\n"))


class Pace(unittest.TestCase):
    def test_pace_flags_apply_to_every_reply(self):
        began = time.monotonic()
        done = run("--first-token-ms", "80", "--gap-ms", "5", command=python("sys.exit(chat() != 200)"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(time.monotonic() - began, 0.08)


class Scripts(unittest.TestCase):
    def setUp(self):
        if not program.reads_scripts():
            self.skipTest("this program reads no scripts yet")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "demo.json")

    def write(self, **document):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"mock_gateway": 1, **document}, file, indent=1)
        return self.path

    def test_an_expectation_decides_the_exit_code(self):
        path = self.write(stubs=[{"name": "greeting", "reply": "Hello.", "expect": 1}])
        self.assertEqual(run("--script", path, command=python("chat()")).returncode, 0)
        done = run("--script", path, command=python("chat(); chat()"))
        self.assertEqual(done.returncode, 1)
        self.assertIn('"greeting" (demo.json:', done.stderr)

    def test_a_stub_that_is_never_called_is_a_note_in_a_failed_run(self):
        path = self.write(stubs=[
            {"name": "broken", "when": {"user_says": "never"},
             "reply": {"text": "a b c", "faults": [{"after_tokens": 2, "effect": "reset_connection"}]}},
            {"reply": "Hello."}])
        done = run("--script", path, command=python("chat()"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("never called", done.stderr)
        done = run("--script", path, command=python("chat(); sys.exit(3)"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr.count('never called: "broken"'), 1)

    def test_flags_override_the_gateway_section(self):
        path = self.write(gateway={"limit": "1/1h", "acceptance": "strict", "seed": 7})
        code = "print(chat(stop='x'), chat(), os.environ['OPENAI_API_KEY'])"
        scripted = run("--fail-on", "never", "--script", path, command=python(code)).stdout.split()
        self.assertEqual(scripted[:2], ["400", "429"])
        flagged = run("--fail-on", "never", "--script", path, "--limit", "9/1h", "--acceptance", "default", "--seed", "8",
                      command=python(code)).stdout.split()
        self.assertEqual(flagged[:2], ["200", "200"])
        self.assertNotEqual(scripted[2], flagged[2])

    def test_the_finding_of_a_broken_rule_names_the_flag_that_enforces_it(self):
        code = "print(chat(parallel_tool_calls=True))"
        done = run("--profile", "openai", "--report", "text", command=python(code))
        self.assertEqual((done.returncode, done.stdout), (0, "200\n"), done.stderr)
        self.assertIn("parallel_tool_calls_without_tools (exchange 1): Invalid value for 'parallel_tool_calls': "
                      "'parallel_tool_calls' is only allowed when 'tools' are specified; OpenAI refuses it with 400. "
                      "--enforce openai does the same.\n", done.stderr)
        flags = ["--profile", "openai", "--fail-on", "warning"]
        self.assertEqual(run(*flags, command=python(code)).returncode, 1)
        flags += ["--without-finding", "parallel_tool_calls_without_tools"]
        self.assertEqual(run(*flags, command=python(code)).returncode, 0)
        self.assertEqual(run(command=python(code)).returncode, 0)
        path = self.write(gateway={"enforce": "deepseek"})
        done = run("--script", path, "--enforce", "openai", command=python(code))
        self.assertEqual((done.returncode, done.stdout), (1, "400\n"), done.stderr)
        self.assertIn("refused with 400 parallel_tool_calls_without_tools: Invalid value for", done.stderr)
        self.assertEqual(run("--script", path, command=python(code)).stdout, "200\n")

    def test_the_default_key_is_valid_in_addition_to_the_scripts(self):
        path = self.write(keys=[{"name": "billing", "secret": "sk-billing"}])
        code = "print(chat(), request('GET', '/v1/models', Authorization='Bearer sk-billing'))"
        done = run("--fail-on", "never", "--script", path, command=python(code))
        self.assertEqual(done.stdout, "200 200\n", done.stderr)
        done = run("--fail-on", "never", "--fail", "403:*@key=billing", "--script", path, command=python(code))
        self.assertEqual(done.stdout, "200 403\n", done.stderr)

    def test_the_served_objects_are_printed(self):
        path = self.write(keys=[{"name": "billing"}, {"name": "old", "state": "disabled"}],
                          stubs=[{"name": "weather", "reply": "Sun."}],
                          operations=[{"method": "POST", "path": "/v1/images/generations", "reply": {"status": 200, "json": {}}}],
                          failures=[{"failure": 503, "for": {"operation": "list_models"}}])
        done = execute("run", "--script", path, "--", *python("chat()"))
        line = next(line for line in done.stderr.splitlines() if "serves" in line)
        for part in (path, "weather", "billing", "old (disabled)", "1 operation: POST /v1/images/generations", "1 failure"):
            self.assertIn(part, line)

    def test_a_file_that_is_not_regular_is_refused_at_once(self):
        pipe = os.path.join(os.path.dirname(self.path), "pipe")
        os.mkfifo(pipe)
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(self.path)
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        self.addCleanup(os.close, writing)
        os.write(writing, b'{"mock_gateway": 1}')
        for path, what in [(pipe, "a pipe"), (self.path, "a socket"), ("/dev/zero", "a device"),
                           (f"/dev/fd/{reading}", "a pipe"), ("/dev/stdin", "a device")]:
            for words in ["validate", path], ["--script", path], ["run", "--script", path, "--", "true"]:
                with self.subTest(words):
                    done = execute(*words, pass_fds=[reading], timeout=5)
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                    self.assertEqual(done.stderr, f"{path}: is {what}, not a regular file; a script is reread "
                                                  "when it changes, so write it to a file first\n")
        # A redirected file counts as a regular file, with any name.
        os.remove(self.path)
        with open(self.write(stubs=[{"reply": "Hi"}]), "rb") as file:
            self.assertEqual(execute("validate", "/dev/stdin", stdin=file).returncode, 0)

    def test_a_mistake_in_a_script_is_reported_with_its_line(self):
        path = self.write(stubs=[{"repyl": "Hello."}])
        for words in ["serve", "--port", "0", "--script", path], ["run", "--script", path, "--", "true"], ["validate", path]:
            done = execute(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, re.escape(path) + r":\d+:\d+: /stubs/0")
        done = execute("validate", path, "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (2, ""))
        answer = json.loads(done.stdout)
        self.assertFalse(answer["valid"])
        self.assertEqual(answer["problems"][0]["file"], path)
        self.assertEqual(execute("validate", self.write()).returncode, 0)

    def test_unknown_names_are_warnings(self):
        stubs = [{"when": {"model_is": "fasst"}, "reply": "a"}, {"when": {"key_is": "ci"}, "reply": "b"},
                 {"in_state": {"machine": "login", "state": "started"}, "reply": "c"}]
        path = self.write(gateway={"models": ["mock-model"]}, stubs=stubs)
        done = execute("validate", path)
        self.assertEqual((done.returncode, done.stdout), (0, path + ": valid\n"))
        warned = [line for line in done.stderr.splitlines() if ": warning: " in line]
        for line, place in zip(warned, ("2/in_state", "0/when/model_is", "1/when/key_is"), strict=True):
            self.assertRegex(line, re.escape(path) + rf":\d+:\d+: warning: /stubs/{place}: ")
        self.assertIn('the state machine "login" in the state "started" is {"login": "started"}', warned[0])
        # A flag can add the model, and then there is no warning.
        said = execute("run", "--script", path, "--model", "fasst", "--", "true").stderr
        self.assertEqual(said.count(": warning: "), 2, said)
        self.assertNotIn("model_is", said)
        # The program serves any model if it has no list of models, and then there is no warning.
        said = execute("validate", self.write(stubs=stubs)).stderr
        self.assertEqual((said.count(": warning: "), "model_is" in said), (2, False), said)

        path = self.write(failures=[{"failure": 503, "for": {"key": "biling"}}], keys=[{"name": "billing"}])
        for words in ["serve", "--port", "0", "--script", path], ["run", "--script", path, "--", "true"], ["validate", path]:
            done = execute(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertRegex(done.stderr, re.escape(path) + r":\d+:\d+: /failures/0/for/key: the gateway has no key "
                             '"biling"; did you mean "billing"')


if __name__ == "__main__":
    program.main(threads=4)
