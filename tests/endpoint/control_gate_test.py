"""Tests of access to the control API and of its defences: missing tokens, foreign hosts and origins, path tricks, a
gateway that is closed, broken or out of descriptors, too many connections, and long polls at the program's end.

Usage: control_gate_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN.
"""

import concurrent.futures
import http.client
import json
import os
import pty
import re
import resource
import select
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

import control
import program
from control import Program, eventually

CSP = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
       "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'")
TYPES = {".html": "text/html; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}


class Gate(unittest.TestCase):
    def setUp(self):
        self.gateway = self.enterContext(Program()) if hasattr(self, "enterContext") else self.enter(Program())

    def enter(self, gateway):
        self.addCleanup(gateway.__exit__)
        return gateway.__enter__()

    def bearer(self, **more):
        return {"Authorization": "Bearer " + self.gateway.info["control_token"], **more}

    def answer(self, method, path, headers=None, body=None):
        """Sends a request. Returns the status, the error's code or None, and the headers. Checks the headers that every
        response must have."""
        status, received, text = self.gateway.send(method, path, body, headers or {})
        self.assertEqual([name for name in received if name.lower().startswith("access-control")], [])
        self.assertEqual(received["Cache-Control"], "no-store")
        self.assertEqual(received["X-Content-Type-Options"], "nosniff")
        self.assertEqual(received["Cross-Origin-Resource-Policy"], "same-origin")
        code = None
        if status >= 400 and method != "HEAD":
            error = json.loads(text)
            self.assertEqual(list(error), ["code", "message", "problems"])
            code = error["code"]
        return status, code, received

    def routes(self):
        for path, item in control.document()["paths"].items():
            for method in item:
                if method != "parameters":
                    yield method.upper(), path.replace("{", "").replace("}", "")
        yield "GET", "/control/v1/no/such/route"
        yield "GET", "/control"
        yield "POST", "/controls"


class Refusals(Gate):
    def test_every_route_has_every_check(self):
        port = self.gateway.control.port
        own = f"127.0.0.1:{port}"
        wrong = {"Authorization": "Bearer " + "x" * 43}
        cases = [({}, 401, "no_token"), (wrong, 401, "wrong_token"),
                 ({"Authorization": self.bearer()["Authorization"][:-1]}, 401, "wrong_token"),
                 ({"Authorization": self.bearer()["Authorization"] + "x"}, 401, "wrong_token"),
                 ({"Authorization": "Basic " + self.gateway.info["control_token"]}, 401, "wrong_token"),
                 ({"Authorization": "Bearer"}, 401, "wrong_token"),
                 ({"Authorization": "Bearer " + self.gateway.info["api_key"]}, 401, "wrong_token"),
                 (self.bearer(Host="evil.example"), 421, "wrong_host"),
                 (self.bearer(Host=f"evil.example:{port}"), 421, "wrong_host"),
                 (self.bearer(Host="127.0.0.1"), 421, "wrong_host"),
                 (self.bearer(Host=f"127.0.0.1:{port + 1}"), 421, "wrong_host"),
                 (self.bearer(Host=f"localhost.evil.example:{port}"), 421, "wrong_host"),
                 (self.bearer(Origin="http://evil.example"), 403, "foreign_origin"),
                 (self.bearer(Origin="null"), 403, "foreign_origin"),
                 (self.bearer(Origin=f"https://{own}"), 403, "foreign_origin"),
                 (self.bearer(Origin=f"http://localhost:{port}"), 403, "foreign_origin"),
                 (self.bearer(**{"Sec-Fetch-Site": "cross-site"}), 403, "foreign_origin"),
                 (self.bearer(**{"Sec-Fetch-Site": "same-site"}), 403, "foreign_origin"),
                 # The order of the checks: Host, then Origin, then the token.
                 ({"Host": "evil.example", "Origin": "http://evil.example"}, 421, "wrong_host"),
                 ({"Origin": "http://evil.example"}, 403, "foreign_origin")]
        # The exchange of a code, which is sent as the bearer token, has the same checks.
        code_of = {"wrong_token": "wrong_code"}
        for method, path in self.routes():
            # Uses new connections, because a connection without the token may send only 64 KiB in total.
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=program.TIMEOUT)
            self.addCleanup(connection.close)
            for headers, status, code in cases:
                code = code_of.get(code, code) if (method, path) == ("POST", "/control/v1/session") else code
                connection.request(method, path, headers=headers)
                response = connection.getresponse()
                error = json.loads(response.read())
                self.assertEqual((response.status, error["code"]), (status, code), (method, path, headers))
                self.assertEqual(response.headers.get("WWW-Authenticate"), "Bearer" if status == 401 else None)
                self.assertFalse([name for name in response.headers if name.lower().startswith("access-control")])
                self.assertEqual(response.headers["Cache-Control"], "no-store")
        # None of the requests had an effect.
        root = self.gateway.get("")
        self.assertEqual((root["counts"]["keys"], root["counts"]["stubs"], root["listening"]), (1, 0, True))

    def test_our_own_page_and_programs_have_access(self):
        port = self.gateway.control.port
        for headers in ({}, {"Host": f"localhost:{port}"}, {"Host": f"LOCALHOST:{port}"}, {"Host": f"[::1]:{port}"},
                        {"Origin": f"http://127.0.0.1:{port}"}, {"Sec-Fetch-Site": "same-origin"},
                        {"Sec-Fetch-Site": "none"}, {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}):
            self.assertEqual(self.answer("GET", "/control/v1", self.bearer(**headers))[0], 200, headers)
        lower = {"authorization": "bearer " + self.gateway.info["control_token"]}
        self.assertEqual(self.answer("GET", "/control/v1", lower)[0], 200)

    def test_two_credentials_are_refused(self):
        token = self.gateway.info["control_token"]
        for first, second in ((token, "x" * 43), ("x" * 43, token), (token, token)):
            with socket.create_connection(("127.0.0.1", self.gateway.control.port), program.TIMEOUT) as client:
                client.sendall(f"GET /control/v1 HTTP/1.1\r\nHost: 127.0.0.1:{self.gateway.control.port}\r\n"
                               f"Authorization: Bearer {first}\r\nAuthorization: Bearer {second}\r\n"
                               "Connection: close\r\n\r\n".encode())
                self.assertIn(b" 401 ", client.makefile("rb").readline())

    def test_a_configured_host_name_is_allowed_with_any_port(self):
        self.gateway = self.enter(Program(None, "--control-allow-host", "Gateway.internal"))
        for host, status in (("gateway.internal", 200), ("gateway.internal:9999", 200), ("GATEWAY.INTERNAL:1", 200),
                             ("other.internal", 421), ("gateway.internal.evil.example", 421)):
            self.assertEqual(self.answer("GET", "/control/v1", self.bearer(Host=host))[0], status, host)
        same = self.bearer(Host="gateway.internal:9999", Origin="http://gateway.internal:9999")
        self.assertEqual(self.answer("GET", "/control/v1", same)[0], 200)

    def test_a_path_must_match_exactly_without_normalization(self):
        port = self.gateway.control.port
        inside = ["/control", "/control/", "/control/v1/", "/control/v1//stubs", "/control//v1/stubs",
                  "/control/v1/../v1/stubs", "/control/v1/./stubs", "/control/v1/%73tubs", "/control/%76%31",
                  "/control/v1/stubs/", "/control/v1/STUBS", "/control/v1/stubs/1/", "/control/v1/stubs;a=b",
                  "/control/v1/stubs%3Fscope=1", "/control/v1/stubs%2F1", "/control/v11", "/control/v1x", "/controls",
                  "/control/v1/stubs//wait", "/control/v1/schema.json", "/control/v1/openapi", "/control\\v1"]
        outside = ["/Control/v1", "/CONTROL/v1", "//control/v1", "/./control/v1", "/x/../control/v1", "/%63ontrol/v1",
                   f"https://127.0.0.1:{port}/control/v1", "control/v1", "*", "/index.html/", "/../index.html",
                   "/index.html%00", "/%69ndex.html", "/Index.html", "/.", "/openapi.json", "/console/index.html"]
        for path in inside:
            self.assertEqual(self.answer("GET", path)[:2], (401, "no_token"), path)
            self.assertEqual(self.answer("GET", path, self.bearer())[:2], (404, "no_such_route"), path)
        for path in outside:
            for headers in ({}, self.bearer()):
                self.assertIn(self.answer("GET", path, headers)[0], (400, 404), path)

    def test_an_absolute_target_with_our_host_is_served(self):
        port = self.gateway.control.port
        for own in (f"http://127.0.0.1:{port}", f"HTTP://localhost:{port}", f"http://[::1]:{port}"):
            self.assertEqual(self.answer("GET", own + "/control/v1", self.bearer())[0], 200, own)
            self.assertEqual(self.answer("GET", own + "/control/v1/stubs?scope=x", self.bearer())[1], "no_such_scope")
            self.assertEqual(self.answer("GET", own + "/control/v1")[:2], (401, "no_token"), own)
            self.assertEqual(self.answer("GET", own)[0], 200, own)
            self.assertEqual(self.answer("GET", own + "/control/v1", self.bearer(Host="evil.example"))[0], 421, own)
        for other in ("http://evil.example", f"http://evil.example:{port}", f"http://127.0.0.1:{port + 1}"):
            for path in ("/control/v1", "/"):
                self.assertEqual(self.answer("GET", other + path, self.bearer())[:2], (421, "wrong_host"), other)
        self.assertEqual(self.answer("GET", "http:///control/v1", self.bearer())[0], 400)

    def test_other_methods_get_405_with_allow_but_only_after_the_token_check(self):
        for headers, status in (({}, 401), (self.bearer(), 405)):
            for method in ("OPTIONS", "HEAD", "TRACE", "PATCH", "get", "PROPFIND"):
                got, _, received = self.answer(method, "/control/v1", headers)
                self.assertEqual(got, status, method)
                self.assertEqual(received["Allow"], "GET" if status == 405 else None)
        for path in ("/", "/index.html", "/nothing"):
            self.assertEqual(self.answer("OPTIONS", path)[0], 405)
        for method in ("POST", "HEAD", "DELETE"):
            self.assertEqual(self.answer(method, "/")[0], 405)
        preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "PUT"}
        self.assertEqual(self.answer("OPTIONS", "/control/v1/script", preflight)[:2], (403, "foreign_origin"))

    def test_invalid_and_repeated_query_parameters_are_refused(self):
        cases = [("?", 200), ("?scope=x", 404), ("?scop=x", 400), ("?scope=a&scope=a", 400), ("?scope=%zz", 400),
                 ("?scope=%ff", 400), ("?&", 200)]
        for query, status in cases:
            self.assertEqual(self.answer("GET", "/control/v1/stubs" + query, self.bearer())[0], status, query)


class Page(Gate):
    def test_the_page_needs_no_token_and_has_a_content_security_policy(self):
        folder = os.path.join(os.path.dirname(__file__), "..", "..", "endpoint", "console")
        files = {"/" + name: os.path.join(folder, name) for name in os.listdir(folder)}
        files["/"] = os.path.join(folder, "index.html")
        for path, file in files.items():
            status, _, received = self.answer("GET", path)
            with open(file, "rb") as content:
                self.assertEqual((status, self.gateway.send("GET", path, headers={})[2]), (200, content.read()), path)
            self.assertEqual(received["Content-Security-Policy"], CSP)
            self.assertEqual(received["Referrer-Policy"], "no-referrer")
            self.assertEqual(received["Content-Type"], TYPES[os.path.splitext(file)[1]])
            self.assertIsNone(received["Set-Cookie"])

    def test_a_rebound_name_does_not_get_the_page(self):
        self.assertEqual(self.answer("GET", "/", {"Host": "evil.example"})[:2], (421, "wrong_host"))

    def printed(self, on_terminal, **environment):
        """Returns the output of `serve` until it is ready."""
        master, slave = pty.openpty()
        words = [program.PROGRAM, "serve", "--port", "0", "--control", "0", "--until-eof"]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=slave if on_terminal else subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env={**os.environ, **environment})
        os.close(slave)
        printed = b""
        source = master if on_terminal else process.stdout.fileno()
        while b"ready" not in printed:
            printed += os.read(source, 65536)
        process.stdin.close()
        self.assertEqual(process.wait(program.TIMEOUT), 0)
        os.close(master)
        if process.stdout:
            process.stdout.close()
        return printed

    def test_a_terminal_shows_a_code_and_a_file_does_not(self):
        for on_terminal in (True, False):
            printed = self.printed(on_terminal)
            self.assertRegex(printed, rb"console   http://127\.0\.0\.1:[0-9]+/" +
                             (rb"#code=[A-Za-z0-9_-]{32}\r\n" if on_terminal else rb"\n"))
            self.assertNotIn(b"mgct_", printed)

    def test_a_chosen_token_is_never_shown(self):
        token = "".join(map(chr, range(0x21, 0x7F)))
        printed = self.printed(True, MOCK_GATEWAY_CONTROL_TOKEN=token).decode()
        self.assertNotIn(token, printed)
        self.assertNotIn(token, urllib.parse.unquote(printed))


class OnTerminal:
    """`serve` with its control API on a terminal, which shows console addresses."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        info = os.path.join(self.folder.name, "info.json")
        self.screen, slave = pty.openpty()
        words = [program.PROGRAM, "serve", "--port", "0", "--control", "0", "--until-eof", "--info-file", info]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=slave, stderr=subprocess.DEVNULL)
        os.close(slave)
        self.shown = ""
        # Waits for the whole last line, because a terminal may receive it in pieces.
        while not re.search(r"ready\s*\n", self.shown):
            self.read()
        with open(info, encoding="utf-8") as file:
            self.info = json.load(file)
        self.control = urllib.parse.urlsplit(self.info["control_url"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(program.TIMEOUT)
        os.close(self.screen)
        self.folder.cleanup()

    def read(self, wait=program.TIMEOUT):
        """Reads the next output of the terminal. Returns False if there is none within this many seconds."""
        if not select.select([self.screen], [], [], wait)[0]:
            return False
        self.shown += os.read(self.screen, 65536).decode()
        return True

    def codes(self):
        return re.findall(r"console +http://[0-9.:]+/#code=(\S+)\s*\n", self.shown)

    def exchange(self, code, **headers):
        """Exchanges a code. Returns the status, and the token or the error's code."""
        connection = http.client.HTTPConnection(self.control.hostname, self.control.port, timeout=program.TIMEOUT)
        connection.request("POST", "/control/v1/session", headers={"Authorization": "Bearer " + code, **headers})
        response = connection.getresponse()
        answer = json.loads(response.read())
        control.compare("POST", "/control/v1/session", response.status, answer)
        connection.close()
        return response.status, answer.get("token") or answer["code"]


class Codes(unittest.TestCase):
    def test_a_code_yields_the_token_once_and_then_a_fresh_code_is_shown(self):
        with OnTerminal() as gateway:
            token = gateway.info["control_token"]
            (first,) = gateway.codes()
            self.assertEqual(gateway.exchange(first), (200, token))
            self.assertEqual(gateway.exchange(first), (401, "used_code"))
            while len(gateway.codes()) < 2:
                self.assertTrue(gateway.read(), gateway.shown)
            second = gateway.codes()[1]
            # The terminal shows at most one fresh code every five seconds, for any number of requests.
            for _ in range(20):
                self.assertEqual(gateway.exchange(first), (401, "used_code"))
            gateway.read(0.2)
            self.assertEqual(gateway.codes(), [first, second])
            self.assertEqual(gateway.exchange(second), (200, token))
            self.assertNotEqual(first, second)
            self.assertNotIn(token, gateway.shown)

    def test_only_one_of_many_parallel_exchanges_gets_the_token(self):
        with OnTerminal() as gateway, concurrent.futures.ThreadPoolExecutor(20) as pool:
            (code,) = gateway.codes()
            answers = sorted(pool.map(gateway.exchange, [code] * 20))
            self.assertEqual(answers, [(200, gateway.info["control_token"])] + [(401, "used_code")] * 19)

    def test_a_foreign_page_a_rebound_name_and_a_guess_get_nothing_and_use_no_code(self):
        with OnTerminal() as gateway, OnTerminal() as other:
            (code,) = gateway.codes()
            own = f"127.0.0.1:{gateway.control.port}"
            for headers, expected in [({"Host": "evil.example"}, (421, "wrong_host")),
                                      ({"Origin": "http://evil.example"}, (403, "foreign_origin")),
                                      ({"Origin": "null"}, (403, "foreign_origin")),
                                      ({"Sec-Fetch-Site": "cross-site"}, (403, "foreign_origin"))]:
                self.assertEqual(gateway.exchange(code, **headers), expected)
            for guess in (code[:-1], code + "x", code.swapcase(), "x" * 32, gateway.info["control_token"], *other.codes()):
                self.assertEqual(gateway.exchange(guess), (401, "wrong_code"), guess)
            gateway.read(0.2)
            self.assertEqual(gateway.codes(), [code], "a guess shows no address")
            # A code is not accepted as a token, nor a token as a code.
            for method, path in ("GET", "/control/v1"), ("GET", "/control/v1/session"), ("POST", "/control/v1/session/"):
                connection = http.client.HTTPConnection(gateway.control.hostname, gateway.control.port)
                connection.request(method, path, headers={"Authorization": "Bearer " + code})
                self.assertEqual(connection.getresponse().status, 401, (method, path))
                connection.close()
            good = {"Host": own, "Origin": "http://" + own, "Sec-Fetch-Site": "same-origin"}
            self.assertEqual(gateway.exchange(code, **good), (200, gateway.info["control_token"]))

    def test_a_program_without_a_terminal_has_no_code(self):
        with Program() as gateway:
            status, _, body = gateway.send("POST", "/control/v1/session", headers={"Authorization": "Bearer " + "x" * 32})
            self.assertEqual((status, json.loads(body)["code"]), (401, "wrong_code"))
            status, _, body = gateway.send("POST", "/control/v1/session")
            self.assertEqual((status, json.loads(body)["code"]), (401, "wrong_code"))


class Names(Gate):
    LONGEST = "é" * 128  # 256 bytes

    def test_each_name_has_at_most_256_bytes(self):
        key = self.gateway.post("/keys", {"name": "first"})["id"]
        scope = self.gateway.post("/scopes", {"name": self.LONGEST})["id"]
        # The kinds of names, each with the call that sets the name.
        ways = {
            "a stub": lambda name: self.gateway.post("/stubs", {"name": name, "reply": "Hi"}),
            "a key": lambda name: self.gateway.post("/keys", {"name": name}),
            "a new name of a key": lambda name: self.gateway.call("PATCH", f"/keys/{key}", {"name": name}),
            "a state": lambda name: self.gateway.put("/states/order", {"state": name}),
            "a state machine": lambda name: self.gateway.put(f"/states/{urllib.parse.quote(name)}", {"state": "paid"}),
            "a state machine of a scope": lambda name: self.gateway.put(f"/states/{urllib.parse.quote(name)}",
                                                                        {"state": "paid"}, scope=scope),
            "a state machine of a stub": lambda name: self.gateway.post("/stubs", {"in_state": {name: "x"}, "reply": "Hi"}),
            "a state of a stub": lambda name: self.gateway.post("/stubs", {"then_state": {"order": name}, "reply": "Hi"}),
            "a gate": lambda name: self.gateway.post("/stubs", {
                "reply": {"text": "a b", "hold": {"gate": name, "before_token": 2}}}),
            "a gate of a stall": lambda name: self.gateway.post("/stubs", {
                "reply": {"text": "a b", "faults": [{"after_tokens": 1, "effect": {"stall_at_gate": name}}]}}),
            "a stub of a script": lambda name: self.gateway.put("/script", {
                "mock_gateway": 1, "stubs": [{"name": name, "reply": "Hi"}]}),
        }
        for what, give in ways.items():
            with self.subTest(what):
                for name in self.LONGEST + "x", "x" * 257, "x" * 1_000_000:
                    if len(name) > 1000 and "machine" in what:
                        continue  # a path of that length is refused as a path
                    with self.assertRaises(control.Refused) as refused:
                        give(name)
                    self.assertEqual((refused.exception.status, refused.exception.code[:8]), (400, "invalid_"))
                    self.assertIn(f"a name has at most 256 bytes, and this one has {len(name.encode())}",
                                  refused.exception.error["message"])
                give(self.LONGEST)
        # None of the other objects was created.
        told = json.dumps([self.gateway.get(path) for path in ("/stubs", "/keys", "/scopes", "/states", "/gates", "/script")])
        self.assertIn(json.dumps(self.LONGEST)[1:-1], told)
        self.assertNotIn(json.dumps(self.LONGEST)[1:-1] + "x", told)
        self.assertNotIn("x" * 257, told)

    def test_a_scope_keeps_both_ends_of_a_name_that_is_too_long(self):
        for name, kept in [(self.LONGEST, self.LONGEST), ("a" * 130 + "b" * 127, "a" * 125 + "…" + "b" * 125),
                           ("é" * 500, "é" * 62 + "…" + "é" * 62), ("x" + "😀" * 500, "x" + "😀" * 31 + "…" + "😀" * 31)]:
            self.assertEqual(self.gateway.post("/scopes", {"name": name})["name"], kept)


class Masked(unittest.TestCase):
    def test_the_token_in_a_prompt_is_masked_everywhere(self):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report")
            flags = [word for form in ("json", "junit") for word in ("--report", f"{form}:{report}.{form}")]
            flags += ["--report", "text", "--report", "github", "--fail-on", "warning", "--loud"]
            with Program({"stubs": [{"when": {"user_says": "never"}, "reply": "Hi"}]}, *flags) as gateway:
                token = gateway.info["control_token"]
                prompt = f"My token is {token}, or {token[:10]}\\u00{ord(token[10]):02x}{token[11:]}."
                self.assertEqual(gateway.chat(prompt, user=token, **{token: 1})[0], 422)
                gateway.request("GET", f"/v1/models?token={token}")
                gateway.request("GET", f"/v1/{token}")
                gateway.post("/stubs", {"reply": {"ask": True}, "when": {"user_says": "asked"}})
                asking = threading.Thread(target=lambda: gateway.chat("asked " + token))
                asking.start()
                (asked,) = gateway.get("/asked", wait="10s")["asked"]
                told = [json.dumps(asked)]
                gateway.post(f"/asked/{asked['exchange']}", {"reply": f"You said {token}."})
                asking.join()
                # Waits, because the client has the response a moment before the exchange ends and a bundle exists.
                eventually(self, lambda: gateway.get("/journal/4")["outcome"] != "pending", "the exchange did not end")
                for path in ("", "/journal", "/verify", "/review", "/stubs", "/journal/1", "/journal/1/curl", "/journal/2/curl",
                             "/journal/3/curl", "/journal/4", "/journal/4/bundle"):
                    answer = gateway.get(path)
                    told.append(answer if isinstance(answer, str) else json.dumps(answer))
                gateway.post("/stop")
                gateway.end()
                told += [gateway.log, gateway.output]
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    told.append(file.read())
            self.assertEqual(len(told), 16)
            for text in told:
                self.assertNotIn(token[5:], text)
            self.assertTrue(any("My token is ***" in text for text in told))


class Endurance(Gate):
    def test_the_api_works_while_the_gateway_is_closed_or_broken(self):
        self.gateway.put("/listening", {"listening": False})
        self.gateway.get("")
        self.gateway.put("/listening", {"listening": True})
        self.gateway.post("/connections", {"fault": "reset_on_accept", "always": True})
        with self.assertRaises((ConnectionError, http.client.RemoteDisconnected)):
            self.gateway.chat()
        self.gateway.delete("/connections")
        self.assertEqual(self.gateway.chat()[0], 200)

    def test_a_gateway_without_descriptors_keeps_some_for_the_api(self):
        limit = 160
        self.gateway = self.enter(
            Program(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))))
        clients = []
        self.addCleanup(lambda: [client.close() for client in clients])
        head = (f"GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.gateway.info['api_key']}\r\n\r\n")

        def status():
            client = socket.create_connection((self.gateway.data.hostname, self.gateway.data.port), program.TIMEOUT)
            clients.append(client)
            client.sendall(head.encode())
            return client.makefile("rb").readline()

        while b"200" in (answered := status()):
            self.assertLess(len(clients), limit)
        self.assertIn(b"503", answered)
        for _ in range(3):  # the gateway keeps rejecting clients while the control API keeps serving
            for _ in range(20):
                self.gateway.get("")
            with concurrent.futures.ThreadPoolExecutor(20) as pool:
                roots = list(pool.map(lambda _: self.gateway.get("")["instance"], range(20)))
            self.assertEqual(set(roots), {self.gateway.info["instance"]})
            self.assertIn(b"503", status())

    def test_many_clients_with_a_connection_per_request(self):
        with concurrent.futures.ThreadPoolExecutor(60) as pool:
            statuses = list(pool.map(lambda _: self.gateway.send("GET", "/control/v1")[0], range(600)))
        self.assertEqual(set(statuses), {200})

    def test_long_polls_delay_no_other_request(self):
        stub = self.gateway.post("/stubs", {"reply": "x"})["stubs"][0]
        with concurrent.futures.ThreadPoolExecutor(48) as pool:
            polls = [pool.submit(self.gateway.get, f"/stubs/{stub['id']}/wait", calls=1, within="30s")
                     for _ in range(48)]
            for _ in range(20):
                self.gateway.get("")
            self.assertFalse(any(poll.done() for poll in polls))
            self.gateway.ask()
            self.assertTrue(all(poll.result()["reached"] for poll in polls))

    def test_long_polls_of_departed_clients_free_their_places(self):
        stub = self.gateway.post("/stubs", {"reply": "x"})["stubs"][0]["id"]
        for _ in range(3 * 64):
            client = socket.create_connection(("127.0.0.1", self.gateway.control.port), program.TIMEOUT)
            client.sendall(f"GET /control/v1/stubs/{stub}/wait?within=60s HTTP/1.1\r\n"
                           f"Host: 127.0.0.1:{self.gateway.control.port}\r\n"
                           f"Authorization: Bearer {self.gateway.info['control_token']}\r\n\r\n".encode())
            client.close()
        began = time.monotonic()
        eventually(self, lambda: self.gateway.send("GET", "/control/v1")[0] == 200, "the limit of long polls is still reached")
        self.assertLess(time.monotonic() - began, 30)  # well before the polls end

    def test_stop_does_not_wait_for_long_polls(self):
        times = []
        # The target is 50 ms; a busy machine takes longer, sometimes much longer.
        while len(times) < 10 and min(times, default=1) >= 0.5:
            gateway = self.enter(Program())
            stub = gateway.post("/stubs", {"reply": "x"})["stubs"][0]["id"]
            polls = []
            for _ in range(30):
                client = socket.create_connection(("127.0.0.1", gateway.control.port), program.TIMEOUT)
                self.addCleanup(client.close)
                client.sendall(f"GET /control/v1/stubs/{stub}/wait?within=60s HTTP/1.1\r\n"
                               f"Host: 127.0.0.1:{gateway.control.port}\r\n"
                               f"Authorization: Bearer {gateway.info['control_token']}\r\n\r\n".encode())
                polls.append(client)
            gateway.get("")
            began = time.monotonic()
            gateway.post("/stop")
            for client in polls:
                try:
                    self.assertIn(client.recv(65536)[:12], (b"", b"HTTP/1.1 503"))
                except ConnectionResetError:
                    pass
            times.append(time.monotonic() - began)
            self.assertEqual(gateway.end(), 0)
        self.assertLess(min(times), 0.5, times)

    def test_requests_without_a_body_are_answered_at_once(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.control.port, timeout=program.TIMEOUT)
        self.addCleanup(connection.close)
        began = time.monotonic()
        for method, path, status in (("POST", "/reset", 200), ("DELETE", "/failures", 200), ("POST", "/stubs", 400)):
            connection.putrequest(method, "/control/v1" + path)  # without Content-Length
            connection.putheader("Authorization", self.bearer()["Authorization"])
            connection.endheaders()
            response = connection.getresponse()
            response.read()
            self.assertEqual(response.status, status, path)
        self.assertLess(time.monotonic() - began, 5)

    def test_bodies_up_to_16_mib(self):
        limit = 16 * 1024 * 1024
        full = json.dumps({"reply": "x"}).ljust(limit)
        self.assertEqual(self.gateway.send("POST", "/control/v1/stubs", full)[0], 201)
        status, code, _ = self.answer("POST", "/control/v1/stubs", self.bearer(), full + " ")
        self.assertEqual((status, code), (413, "too_large"))
        self.assertEqual(len(self.gateway.get("/stubs")["stubs"]), 1)

    def test_bytes_that_are_not_http_get_the_usual_error(self):
        for sent, status in ((b"nonsense\r\n\r\n", b"400"), (b"GET / HTTP/1.1\r\n\r\n", b"400"),
                             (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"414"),
                             (b"GET / HTTP/2.0\r\nHost: x\r\n\r\n", b"505"), (b"GET / HTTP/1.0\r\n\r\n", b"421")):
            with socket.create_connection(("127.0.0.1", self.gateway.control.port), program.TIMEOUT) as client:
                client.sendall(sent)
                received = client.makefile("rb").read()
            self.assertEqual(received[9:12], status, sent[:40])
            self.assertIn("message", json.loads(received.split(b"\r\n\r\n", 1)[1]))


class Token(unittest.TestCase):
    def test_the_token_is_in_no_output(self):
        token = "tOkEn-that-only-its-owner-knows"
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, name) for name in ("journal.jsonl", "report.json", "report.xml")]
            flags = ["--loud", "--journal", files[0], "--report", "json:" + files[1], "--report", "junit:" + files[2],
                     "--report", "text", "--fail-on", "never"]
            with Program({"stubs": [{"reply": "x", "expect": 5}]}, *flags,
                         environment={"MOCK_GATEWAY_CONTROL_TOKEN": token}) as gateway:
                self.assertEqual(gateway.info["control_token"], token)
                answers = [gateway.get(path) for path in ("", "/script", "/stubs", "/keys", "/openapi.json")]
                gateway.send("GET", "/control/v1", headers={"Authorization": "Bearer " + token + "x"})
                gateway.send("GET", "/control/v1/" + "no-such-route")
                gateway.ask()
                gateway.chat(key=token)  # on the wrong port
                answers += [gateway.get(path) for path in ("/journal", "/journal/2", "/journal/2/curl", "/verify")]
                gateway.post("/stop")
                self.assertEqual(gateway.end(), 0)
            self.assertNotIn(token, json.dumps(answers))
            self.assertNotIn(token, gateway.output + gateway.log)
            for file in files:
                with open(file) as written:
                    text = written.read()
                self.assertTrue(text)
                self.assertNotIn(token, text)


if __name__ == "__main__":
    program.main()
