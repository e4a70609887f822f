"""Tests of the local endpoint from a user's view: flags, output, signals, exit codes.

Usage: serve_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
"""

import datetime
import http.client
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = os.environ.get("MOCK_GATEWAY_BIN", "mock-gateway")
TIMEOUT = 60  # seconds; a timeout for tests that hang; sanitizers are slow
MORE_THAN_A_PIPE_HOLDS = 1200  # lines of stderr


class Endpoint:
    """A running mock-gateway that is ready."""

    def __init__(self, *flags, port="0", read_log=True):
        self.process = subprocess.Popen([PROGRAM, "--port", port, *flags], text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.watchdog = threading.Timer(TIMEOUT, self.process.kill)
        self.watchdog.start()
        self.log = []
        self.logged = threading.Condition()
        self.reader = threading.Thread(target=self._read_log)
        if read_log:
            self.reader.start()
        self.printed = []
        for line in self.process.stdout:
            self.printed.append(line.rstrip("\n"))
            if self.printed[-1] == "ready":
                break
        else:
            self.__exit__()
            raise AssertionError("never ready: " + "".join(self.log))
        self.base_url = self.value("base URL")
        self.key = self.value("API key")
        self.port = int(re.search(r":(\d+)(/|$)", self.base_url)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.watchdog.cancel()
        if self.reader.ident:
            self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()

    def _read_log(self):
        for line in self.process.stderr:
            with self.logged:
                self.log.append(line.rstrip("\n"))
                self.logged.notify_all()

    def wait_for_log(self, lines):
        with self.logged:
            assert self.logged.wait_for(lambda: len(self.log) >= lines, TIMEOUT), self.log
            return list(self.log)

    def wait_for_requests(self, lines):
        """Returns the log lines in the order of the requests. The program prints them in the order of their ends."""
        return sorted(self.wait_for_log(lines), key=lambda line: int(re.search(r" #(\d+) ", line)[1]))

    def value(self, name):
        return next(line[len(name):].strip() for line in self.printed if line.startswith(name))

    def request(self, method, path, body=None, key=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        headers = {"Authorization": "Bearer " + (key or self.key), "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response, text

    def chat(self, key=None, **fields):
        body = {"model": "mock-model", "messages": [{"role": "user", "content": "Hi"}], **fields}
        return self.request("POST", "/v1/chat/completions", body, key)

    def list_models(self, times):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        for _ in range(times):
            connection.request("GET", "/v1/models", headers={"Authorization": "Bearer " + self.key})
            answer = connection.getresponse()
            assert answer.status == 200, answer.status
            answer.read()
        connection.close()

    def status(self, key=None, **fields):
        return self.chat(key, **fields)[0].status

    def end(self, how):
        self.process.send_signal(how)
        began = time.monotonic()
        code = self.process.wait(TIMEOUT)
        return code, time.monotonic() - began


def run(*flags):
    return subprocess.run([PROGRAM, *flags], capture_output=True, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)


class WhatItPrints(unittest.TestCase):
    def test_address_key_and_lines_to_paste_then_ready(self):
        with Endpoint() as endpoint:
            self.assertRegex(endpoint.base_url, r"^http://127\.0\.0\.1:\d+/v1$")
            self.assertRegex(endpoint.key, r"^sk-\S+$")
            self.assertEqual(endpoint.printed[-1], "ready")
            self.assertEqual(endpoint.printed.count("ready"), 1)
            self.assertIn(f"export OPENAI_BASE_URL={endpoint.base_url} OPENAI_API_KEY={endpoint.key}", endpoint.printed)
            endpoint.end(signal.SIGTERM)
            self.assertEqual(endpoint.process.stdout.read(), "", "the ready line is the last one")

    def paste(self, line):
        if not shutil.which("curl"):
            self.skipTest("without curl")
        environment = {**os.environ, "http_proxy": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1"}
        shell = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=TIMEOUT, env=environment)
        self.assertEqual(shell.returncode, 0, shell.stderr)
        return json.loads(shell.stdout)

    def test_the_curl_line_works_when_pasted(self):
        with Endpoint("--reply", "Hello.") as endpoint:
            answer = self.paste(next(line for line in endpoint.printed if line.startswith("curl ")))
            self.assertEqual(answer["choices"][0]["message"]["content"], "Hello.")

    def test_the_curl_line_uses_a_model_of_the_script(self):
        models = ["fast", {"id": "deep", "owner": "lab"}]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "gateway.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"mock_gateway": 1, "gateway": {"models": models}, "stubs": [{"reply": "Hello."}]}, file)
            for flags in [], ["--model", "other"]:
                with Endpoint("--script", path, *flags) as endpoint:
                    answer = self.paste(next(line for line in endpoint.printed if line.startswith("curl ")))
                    self.assertEqual(answer["choices"][0]["message"]["content"], "Hello.")

    def test_the_curl_line_works_with_special_characters_of_shells(self):
        with Endpoint("--model", "it's $HOME/`x`", "--key", "sk-'$HOME\"") as endpoint:
            answer = self.paste(next(line for line in endpoint.printed if line.startswith("curl ")))
            self.assertEqual(answer["model"], "it's $HOME/`x`")
            export = next(line for line in endpoint.printed if line.startswith("export "))
            shell = subprocess.run(["sh", "-c", export + '; printf %s "$OPENAI_API_KEY"'], capture_output=True, text=True)
            self.assertEqual(shell.stdout, "sk-'$HOME\"")

    def test_the_key_is_the_same_in_each_run_and_depends_on_the_seed(self):
        keys = []
        for flags in [], [], ["--seed", "2"]:
            with Endpoint(*flags) as endpoint:
                keys.append(endpoint.key)
        self.assertEqual(keys[0], keys[1])
        self.assertNotEqual(keys[0], keys[2])

    def test_without_a_terminal_the_consoles_address_has_no_code(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "info")
            with Endpoint("--control", "0", "--info-file", path) as endpoint:
                with open(path, encoding="ascii") as file:
                    self.assertEqual(endpoint.value("console"), json.load(file)["control_url"] + "/")
        with Endpoint() as endpoint:
            self.assertEqual([line for line in endpoint.printed if line.startswith("console")], [])

    def test_the_port_file_contains_only_the_port(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "port")
            with open(path, "w", encoding="ascii") as earlier:
                earlier.write("1\n")
            with Endpoint("--port-file", path) as endpoint:
                with open(path, encoding="ascii") as file:
                    self.assertEqual(file.read(), f"{endpoint.port}\n")
                self.assertEqual(os.listdir(folder), ["port"])

    def test_only_the_owner_can_read_the_port_file_and_the_program_removes_it(self):
        for how in signal.SIGTERM, signal.SIGINT:
            with self.subTest(how), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "port")
                earlier = os.umask(0)
                try:
                    with Endpoint("--port-file", path) as endpoint:
                        self.assertEqual(stat.S_IMODE(os.lstat(path).st_mode), 0o600)
                        self.assertEqual(endpoint.end(how)[0], 0)
                        self.assertEqual(os.listdir(folder), [])
                finally:
                    os.umask(earlier)

    def test_a_port_file_that_another_run_has_replaced_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "port")
            with Endpoint("--port-file", path) as first, Endpoint("--port-file", path) as second:
                self.assertEqual(first.end(signal.SIGTERM)[0], 0)
                with open(path, encoding="ascii") as file:
                    self.assertEqual(file.read(), f"{second.port}\n")
                self.assertEqual(second.end(signal.SIGTERM)[0], 0)
                self.assertEqual(os.listdir(folder), [])

    def test_an_existing_temporary_port_file_is_neither_used_nor_followed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "port")
            victim = os.path.join(folder, "victim")
            with open(victim, "w", encoding="ascii") as file:
                file.write("precious\n")
            # Earlier versions named the temporary file after the port file and the process ID. This creates a link for
            # each ID that the program may get.
            with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
                pid_max = int(file.read())
            links = [f"{path}.{(os.getpid() + i) % pid_max}" for i in range(3000)]
            for link in links:
                os.symlink(victim, link)
            with Endpoint("--port-file", path):
                with open(victim, encoding="ascii") as file:
                    self.assertEqual(file.read(), "precious\n")
                self.assertTrue(stat.S_ISREG(os.lstat(path).st_mode))

    def test_an_existing_object_that_is_no_file_stays_and_is_an_error(self):
        def refused(path):
            result = run("--port", "0", "--port-file", path)
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(result.stdout, "")
            self.assertRegex(result.stderr, r"\Amock-gateway: --port-file: [^\n]+ not a regular file\n\Z")

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "port")
            victim = os.path.join(folder, "victim")
            os.mkdir(path)
            refused(path)
            self.assertTrue(os.path.isdir(path))
            os.rmdir(path)
            with open(victim, "w", encoding="ascii") as file:
                file.write("precious\n")
            os.symlink(victim, path)
            refused(path)
            self.assertEqual(os.readlink(path), victim)
            with open(victim, encoding="ascii") as file:
                self.assertEqual(file.read(), "precious\n")
            os.unlink(path)
            os.mkfifo(path)
            refused(path)
            self.assertTrue(stat.S_ISFIFO(os.lstat(path).st_mode))

    def test_a_port_file_that_cannot_be_written_is_an_error_and_leaves_nothing(self):
        def without_room():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([PROGRAM, "--port", "0", "--port-file", os.path.join(folder, "port")],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    timeout=TIMEOUT, preexec_fn=without_room)
            self.assertEqual(result.returncode, 2, result)
            self.assertIn("--port-file: cannot write", result.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_version_and_help_go_to_stdout_with_exit_code_0(self):
        version = run("--version")
        self.assertEqual(version.returncode, 0)
        self.assertRegex(version.stdout, r"^mock-gateway \d+\.\d+\.\d+\n$")
        usage = run("--help")
        self.assertEqual(usage.returncode, 0)
        for flag in ["--host", "--port", "--port-file", "--model", "--context-window", "--key", "--fail", "--limit", "--limit-tokens", "--limit-concurrent", "--seed", "--profile",
                     "--acceptance", "--strict", "--reply", "--first-token-ms", "--gap-ms", "--scenario",
                     "--version", "--script", "--quiet", "--report", "--fail-on", "--without-finding"]:
            self.assertIn(flag, usage.stdout)

    def test_the_catalogue_as_a_table_and_as_json(self):
        listed = run("scenarios")
        self.assertEqual((listed.returncode, listed.stderr), (0, ""))
        lines = listed.stdout.splitlines()
        described = run("scenarios", "--json")
        self.assertEqual((described.returncode, described.stderr), (0, ""))
        scenarios = json.loads(described.stdout)
        self.assertEqual(len(lines), len(scenarios))
        name_width = max(len(scenario["name"]) for scenario in scenarios)
        group_width = max(len(scenario["group"]) for scenario in scenarios)
        for line, scenario in zip(lines, scenarios):
            self.assertEqual(line, scenario["name"].ljust(name_width + 2) + scenario["group"].ljust(group_width + 2) +
                             scenario["description"])
            self.assertEqual(list(scenario), ["name", "group", "description", "reference", "good_client", "expected",
                                              "text", "tool_calls", "finish_reason", "usage", "needs_stream",
                                              "needs_timeout", "calls"])
            self.assertIn(scenario["expected"], ["answer", "error", "answer or error"])


class WhatItServes(unittest.TestCase):
    def test_models_with_and_without_owner(self):
        with Endpoint("--model", "fast", "--model", "deep=lab") as endpoint:
            response, text = endpoint.request("GET", "/v1/models")
            self.assertEqual(response.status, 200)
            models = {model["id"]: model["owned_by"] for model in json.loads(text)["data"]}
            self.assertEqual(models, {"fast": "mock_gateway", "deep": "lab"})
            self.assertEqual(endpoint.status(model="deep"), 200)
            self.assertEqual(endpoint.status(model="mock-model"), 404)

    def test_context_windows_of_models(self):
        with Endpoint("--model", "deep=lab", "--context-window", "deep=9", "--context-window", "fast=1") as endpoint:
            self.assertEqual([endpoint.status(model=model) for model in ("deep", "fast", "mock-model")], [200, 400, 404])
            text = endpoint.request("GET", "/v1/models")[1]
            self.assertEqual([model["owned_by"] for model in json.loads(text)["data"]], ["lab", "mock_gateway"])

    def test_the_first_enabled_key_is_the_default_and_each_key_has_its_state(self):
        with Endpoint("--key", "sk-off=disabled", "--key", "sk-first", "--key", "sk-second") as endpoint:
            self.assertEqual(endpoint.key, "sk-first")
            self.assertEqual(endpoint.status(), 200)
            self.assertEqual(endpoint.status("sk-second"), 200)
            self.assertEqual(endpoint.status("sk-off"), 403)
            self.assertEqual(endpoint.status("sk-other"), 401)

    def test_a_key_may_have_any_form_and_contain_an_equals_sign(self):
        with Endpoint("--key", "a=b==", "--key", "EMPTY", "--key", "c=disabled=disabled", "--key", "d==disabled",
                      "--key", "e=enabled") as endpoint:
            self.assertEqual(endpoint.key, "a=b==")
            self.assertEqual([endpoint.status(key) for key in (None, "EMPTY", "e=enabled")], [200, 200, 200])
            self.assertEqual([endpoint.status(key) for key in ("c=disabled", "d=")], [403, 403])
            self.assertEqual([endpoint.status(key) for key in ("a", "c", "d", "e", "empty")], [401] * 5)

    def test_a_key_of_a_flag_may_delete_itself(self):
        with Endpoint("--key", "sk-two=deleted_after:2", "--key", "sk-a=b=deleted_after:1h", "--key", "sk-main",
                      "--key", "sk-1=deleted_after", "--key", "sk-short=deleted_after:1ns") as endpoint:
            self.assertEqual(endpoint.key, "sk-main")
            self.assertEqual([endpoint.status("sk-two") for _ in range(3)], [200, 200, 401])
            self.assertEqual([endpoint.status("sk-a=b") for _ in range(3)], [200] * 3)
            self.assertEqual([endpoint.status("sk-short") for _ in range(2)], [200, 401])
            self.assertEqual(endpoint.status("sk-1=deleted_after"), 200)

    def test_a_key_may_contain_spaces(self):
        with Endpoint("--key", "My API Key") as endpoint:
            self.assertEqual(endpoint.key, "My API Key")
            self.assertEqual(endpoint.status(), 200)
            self.assertEqual(endpoint.status(key="My API"), 401)
            self.assertTrue(any("OPENAI_API_KEY='My API Key'" in line for line in endpoint.printed))

    def test_a_key_may_arrive_in_another_header_or_not_at_all(self):
        chat = {"model": "any", "messages": [{"role": "user", "content": "Hi"}]}

        def status(fields):
            connection = http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=TIMEOUT)
            connection.request("POST", "/v1/chat/completions", json.dumps(chat), fields)
            answer = connection.getresponse()
            answer.read()
            connection.close()
            return answer.status

        flags = ["--key", "sk-one", "--key", "sk-off=disabled", "--key-header", "api-key", "--key-header", "X-Key"]
        for more, without in ([], 401), (["--no-key-required"], 200):
            with self.subTest(more), Endpoint(*flags, *more) as endpoint:
                for fields, wanted in [({"api-key": "sk-one"}, 200), ({"x-key": "sk-one"}, 200), ({"x-key": "sk-off"}, 403),
                                       ({"api-key": "sk-no"}, 401), ({"x-api-key": "sk-one"}, without), ({}, without),
                                       ({"Authorization": "Bearer"}, without), ({"Authorization": "Bearer sk-no"}, 401)]:
                    self.assertEqual(status(fields), wanted, fields)
                self.assertNotIn("sk-one", "".join(endpoint.wait_for_log(8)))

    def test_base_paths_replace_v1(self):
        with Endpoint("--base-path", "/api/paas/v4", "--base-path", "/", "--fail", "503:1@/v1/models") as endpoint:
            self.assertEqual(endpoint.base_url, f"http://127.0.0.1:{endpoint.port}/api/paas/v4")
            paths = ["/api/paas/v4/models", "/api/paas/v4/models", "/models", "/v1/models", "/health"]
            self.assertEqual([endpoint.request("GET", path)[0].status for path in paths], [503, 200, 200, 404, 200])
            self.assertIn("#1 GET /api/paas/v4/models 503", endpoint.wait_for_log(1)[0])
        with Endpoint("--base-path", "/", "--fail", "503:1@GET /health") as endpoint:
            self.assertEqual(endpoint.base_url, f"http://127.0.0.1:{endpoint.port}")
            self.assertEqual([endpoint.request("GET", "/health")[0].status for _ in range(2)], [503, 200])

    def test_health_needs_no_key_and_leaves_no_trace(self):
        script = {"mock_gateway": 1, "keys": [{"name": "one", "secret": "sk-one", "state_for": [{"state": "disabled", "requests": 1}]}]}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(script, file)
            file.flush()
            with Endpoint("--fail", "429:1", "--limit", "5/1h", "--script", file.name, "--fail-on", "error") as endpoint:
                for method, key, text in [("GET", "sk-nobody", '{"status":"ok"}'), ("HEAD", "sk-nobody", ""),
                                          ("GET", "sk-one", '{"status":"ok"}')]:
                    answer, body = endpoint.request(method, "/health?full=1", key=key)
                    self.assertEqual((answer.status, body), (200, text))
                    self.assertEqual(answer.headers["Content-Type"], "application/json")
                connection = http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=TIMEOUT)
                for path, status in [("/health", 200), ("/v1/models", 429), ("/health", 200)]:
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    answer.read()
                    self.assertEqual(answer.status, status)
                connection.close()
                # The limit and the key's states are unused, as was the failure.
                self.assertEqual([endpoint.status() for _ in range(2)], [200, 200])
                self.assertEqual([endpoint.status(key="sk-one") for _ in range(2)], [403, 200])
                self.assertEqual(endpoint.request("POST", "/health", {})[0].status, 404)
                self.assertEqual(endpoint.request("GET", "/v1/health")[0].status, 404)
                log = "\n".join(endpoint.wait_for_log(8))
                self.assertIn(" #1 GET /v1/models 429 ", log)
                self.assertNotIn("GET /health", log)
                self.assertEqual(endpoint.end(signal.SIGTERM)[0], 1)
                endpoint.reader.join()
                self.assertIn("7 requests judged", endpoint.log[-1])

    def test_an_operation_or_a_failure_for_health_takes_precedence(self):
        with Endpoint("--fail", "503:1@GET /health") as endpoint:
            self.assertEqual([endpoint.request("GET", "/health")[0].status for _ in range(2)], [503, 200])
        script = {"mock_gateway": 1, "operations": [{"method": "GET", "path": "/health", "reply": {"json": {"mine": 1}}}]}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(script, file)
            file.flush()
            with Endpoint("--script", file.name) as endpoint:
                self.assertEqual(json.loads(endpoint.request("GET", "/health")[1]), {"mine": 1})
                self.assertEqual(endpoint.request("GET", "/health", key="sk-nobody")[0].status, 401)

    def test_with_only_disabled_keys_there_is_still_an_enabled_one(self):
        with Endpoint("--key", "sk-off=disabled") as endpoint:
            self.assertEqual(endpoint.status("sk-off"), 403)
            self.assertEqual(endpoint.status(), 200)

    def test_failures_come_in_the_given_order_and_then_end(self):
        with Endpoint("--fail", "429:2", "--fail", "503", "--fail", "418") as endpoint:
            limited, _ = endpoint.chat()
            self.assertEqual(limited.status, 429)
            self.assertEqual(limited.getheader("Retry-After"), "1")
            self.assertEqual([endpoint.status() for _ in range(4)], [429, 503, 418, 200])

    def test_a_failure_has_the_code_of_its_status(self):
        codes = {400: "bad_request", 401: "unauthorized", 403: "unauthorized", 404: "not_found", 408: "request_timeout",
                 409: "conflict", 429: "rate_limit_exceeded", 418: "forced_failure", 499: "forced_failure",
                 500: "internal_error", 502: "bad_gateway", 503: "service_unavailable", 504: "gateway_timeout",
                 529: "overloaded", 599: "forced_failure"}
        with Endpoint(*(flag for status in codes for flag in ("--fail", str(status)))) as endpoint:
            answers = [endpoint.chat() for _ in codes]
        self.assertEqual({answer.status: json.loads(text)["error"]["code"] for answer, text in answers}, codes)

    def test_a_failure_with_a_star_is_permanent(self):
        with Endpoint("--fail", "503:*") as endpoint:
            self.assertEqual([endpoint.status() for _ in range(4)], [503] * 4)

    def test_a_limit_counts_all_keys_together(self):
        with Endpoint("--limit", "2/1h", "--key", "sk-a", "--key", "sk-b") as endpoint:
            self.assertEqual([endpoint.status(key) for key in ("sk-a", "sk-b")], [200, 200])
            response, text = endpoint.chat()
            self.assertEqual(response.status, 429)
            self.assertEqual(json.loads(text)["error"]["code"], "rate_limit_exceeded")
            self.assertTrue(3500 < float(response.getheader("Retry-After")) <= 3600)

    def test_a_limit_takes_windows_in_each_unit(self):
        for window in ["60s", "1m", "0.9m"]:
            with self.subTest(window), Endpoint("--limit", "1/" + window) as endpoint:
                self.assertEqual(endpoint.status(), 200)
                response, _ = endpoint.chat()
                self.assertTrue(50 < float(response.getheader("Retry-After")) <= 60)
        with Endpoint("--limit", "1/60000ms") as endpoint:
            self.assertEqual([endpoint.status(), endpoint.status()], [200, 429])

    def test_profiles_and_strictness(self):
        with Endpoint("--profile", "openai") as endpoint:
            self.assertIn("system_fingerprint", json.loads(endpoint.chat()[1]))
        with Endpoint() as endpoint:
            self.assertNotIn("system_fingerprint", json.loads(endpoint.chat()[1]))
            self.assertEqual(endpoint.status(stop="x"), 200)
        for flags in ["--strict"], ["--acceptance", "strict"], ["--acceptance=strict", "--profile", "dashscope"]:
            with Endpoint(*flags) as endpoint:
                self.assertEqual(endpoint.status(stop="x"), 400)

    def test_errors_and_ids_have_the_form_of_the_profile(self):
        with Endpoint("--profile", "siliconflow", "--model", "mock-model") as endpoint:
            response, text = endpoint.chat(model="unknown")
            self.assertEqual((response.status, json.loads(text)["code"]), (404, 20012))
            self.assertEqual(len(response.getheader("x-siliconcloud-trace-id")), 32)
        with Endpoint("--profile", "openrouter", "--model", "mock-model") as endpoint:
            response, text = endpoint.chat(model="unknown")
            self.assertEqual((response.status, json.loads(text)["error"]["code"]), (404, 404))
            response, text = endpoint.chat()
            self.assertEqual(json.loads(text)["id"], response.getheader("x-generation-id"))

    def test_strict_accepts_an_agents_documented_requests(self):
        call = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
        messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None, "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": "call_1", "content": "noon"}]
        for flags in ["--strict", "--profile", "openai"], ["--profile=openai", "--acceptance=strict"]:
            with Endpoint(*flags) as endpoint:
                self.assertEqual(endpoint.status(messages=messages, stop="x"), 200)
                self.assertEqual(endpoint.status(messages=messages, top_k=5), 400)
        with Endpoint("--strict") as endpoint:
            response, text = endpoint.chat(messages=messages)
            self.assertEqual(response.status, 400)
            self.assertIn("messages[1].tool_calls: not a documented field; the acceptance switch "
                          "tool_calls_in_messages accepts it, and so does the profile openai",
                          json.loads(text)["error"]["message"])

    def test_the_acceptance_flag_overrides_the_profile(self):
        developer = {"messages": [{"role": "developer", "content": "Hi"}]}
        robot = {"messages": [{"role": "robot", "content": "Hi"}]}
        for flags, statuses in [
                ([], [200, 400]), (["--acceptance", "default"], [400, 400]), (["--acceptance", "lenient"], [200, 200]),
                (["--profile", "openai"], [200, 400]), (["--profile", "openai", "--acceptance", "default"], [400, 400]),
                (["--profile", "openai", "--strict"], [200, 400]),
                (["--profile", "documented", "--strict"], [400, 400]),
                (["--profile", "openai", "--acceptance", "lenient"], [200, 200])]:
            with Endpoint(*flags) as endpoint:
                self.assertEqual([endpoint.status(**developer), endpoint.status(**robot)], statuses, flags)

    def test_an_enforced_service_refuses_what_it_refuses(self):
        with Endpoint("--enforce", "openai") as endpoint:
            self.assertIn("system_fingerprint", json.loads(endpoint.chat()[1]))  # also the profile
            response, text = endpoint.chat(tools=[])
            self.assertEqual(response.status, 400)
            self.assertEqual(json.loads(text)["error"], {
                "message": "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
                "type": "invalid_request_error", "param": "tools", "code": "empty_array"})
        for flags in ["--strict"], ["--acceptance", "lenient"], ["--profile", "documented"]:
            with Endpoint("--enforce", "openai", *flags) as endpoint:
                self.assertEqual([endpoint.status(), endpoint.status(tools=[])], [200, 400], flags)
        with Endpoint("--profile", "openai") as endpoint:
            self.assertEqual(endpoint.status(tools=[]), 200)

    def test_the_seed_decides_the_default_reply(self):
        replies = []
        for seed in "1", "1", "2":
            with Endpoint("--seed", seed) as endpoint:
                replies.append(json.loads(endpoint.chat()[1])["choices"][0]["message"]["content"])
        self.assertEqual(replies[0], replies[1])
        self.assertNotEqual(replies[0], replies[2])

    def test_a_fixed_reply_keeps_its_pace(self):
        with Endpoint("--reply", "one two three", "--first-token-ms", "60", "--gap-ms", "20") as endpoint:
            began = time.monotonic()
            _, text = endpoint.chat()
            self.assertGreaterEqual(time.monotonic() - began, 0.1)
            self.assertEqual(json.loads(text)["choices"][0]["message"]["content"], "one two three")
            _, events = endpoint.chat(stream=True)
            self.assertTrue(events.endswith("data: [DONE]\n\n"))

    def test_a_pace_may_consist_of_gaps_only(self):
        with Endpoint("--reply", "one two three", "--gap-ms", "40") as endpoint:
            began = time.monotonic()
            self.assertEqual(endpoint.status(), 200)
            self.assertGreaterEqual(time.monotonic() - began, 0.08)

    def test_the_connection_limit_is_the_systems(self):
        def with_few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (200, most))

        most = min(1000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        with subprocess.Popen([PROGRAM, "--port", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              preexec_fn=with_few) as process:
            try:
                while process.stdout.readline() not in ("ready\n", ""):
                    pass
                self.assertEqual(resource.prlimit(process.pid, resource.RLIMIT_NOFILE), (most, most))
            finally:
                process.kill()

    def test_a_scenario_answers_every_request(self):
        with Endpoint("--scenario", "usage-chunk-without-choices") as endpoint:
            for _ in range(3):
                response, events = endpoint.chat(stream=True)
                self.assertEqual(response.status, 200)
                chunks = [json.loads(event[len("data: "):]) for event in events.split("\n\n")[:-2]]
                self.assertEqual(events.split("\n\n")[-2:], ["data: [DONE]", ""])
                self.assertNotIn("choices", chunks[-1])
                self.assertIn("usage", chunks[-1])
                self.assertIn("choices", chunks[-2])
                self.assertIn("choices", json.loads(endpoint.chat()[1]))

    def test_a_scenario_of_failing_first_attempts_fails_every_other_request(self):
        with Endpoint("--scenario", "server-error-then-answer") as endpoint:
            self.assertEqual([endpoint.status() for _ in range(4)], [500, 200, 500, 200])

    def test_a_connection_scenario_affects_each_connection(self):
        with Endpoint("--scenario", "garbage-on-accept") as endpoint:
            for _ in range(3):
                with socket.create_connection(("127.0.0.1", endpoint.port), timeout=TIMEOUT) as connection:
                    self.assertEqual(connection.makefile("rb").read(), b"SSH-2.0-OpenSSH_9.2p1\r\n")
        with Endpoint("--scenario", "connection-refused") as endpoint:
            for _ in range(3):
                with self.assertRaises(ConnectionRefusedError):
                    endpoint.chat()

    def test_a_scenario_can_be_combined_with_keys_and_models(self):
        with Endpoint("--scenario", "finish-chunk-twice", "--key", "sk-mine", "--model", "fast") as endpoint:
            self.assertEqual(endpoint.key, "sk-mine")
            self.assertEqual(endpoint.status(model="fast"), 200)
            self.assertEqual(endpoint.status("sk-other", model="fast"), 401)

    def test_a_public_host_is_reachable_and_prints_a_warning(self):
        with Endpoint("--host", "0.0.0.0") as endpoint:
            self.assertEqual(endpoint.status(), 200)
            warnings = [line for line in endpoint.wait_for_log(2) if "warning" in line]
            self.assertEqual(len(warnings), 1)
            self.assertIn("0.0.0.0", warnings[0])
            self.assertIn("reachable from the network", warnings[0])

    def test_a_local_address_prints_no_warning(self):
        flags = ["--port", "0", "--quiet", "--until-eof", "--control", "0"]
        for host, warned in ("127.0.0.1", False), ("127.0.0.2", False), ("localhost", False), ("0.0.0.0", True):
            with self.subTest(host):
                ended = run(*flags, "--host", host, "--control-host", host)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertEqual([line.startswith("mock-gateway: warning: ") for line in ended.stderr.splitlines()],
                                 [True, True] if warned else [])


class WhatItLogs(unittest.TestCase):
    def test_one_line_per_request_without_any_key(self):
        with Endpoint("--key", "sk-first-secret", "--key", "sk-off-secret=disabled") as endpoint:
            self.assertEqual(endpoint.status(), 200)
            self.assertEqual(endpoint.status("sk-off-secret"), 403)
            self.assertEqual(endpoint.status("sk-unknown-secret"), 401)
            endpoint.request("GET", "/v1/models?key=sk-first-secret")
            log = endpoint.wait_for_requests(4)
            self.assertEqual(endpoint.end(signal.SIGTERM)[0], 0)
            endpoint.reader.join()
            self.assertEqual(len(endpoint.log), 4)
        moment = datetime.datetime.strptime(log[0].split()[0], "%Y-%m-%dT%H:%M:%S.%f%z")
        self.assertLess(abs((datetime.datetime.now(datetime.timezone.utc) - moment).total_seconds()), TIMEOUT)
        for line, said in zip(log, ["POST /v1/chat/completions 200", "POST /v1/chat/completions 403",
                                    "POST /v1/chat/completions 401", "GET /v1/models"]):
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ")
            self.assertIn(said, line)
        for secret in "first-secret", "off-secret", "unknown-secret":
            self.assertNotIn(secret, "\n".join(log))

    def test_the_scripts_objects_are_printed_at_the_start(self):
        script = {"mock_gateway": 1, "keys": [{"name": "on", "secret": "sk-on"},
                                              {"name": "off", "secret": "sk-off", "state": "disabled"}],
                  "stubs": [{"name": f"s{number}", "when": {"user_says": str(number)}, "reply": "x"} for number in range(12)],
                  "operations": [{"method": "GET", "path": "/v1/x", "reply": {"json": 1}}],
                  "failures": [{"failure": 503, "always": True}, {"failure": 500}], "chaos": [{"failure": 503, "nth": 9}],
                  "connections": [{"fault": "close_when_reused"}]}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "demo.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(script, file)
            with Endpoint("--script", path) as endpoint:
                endpoint.end(signal.SIGTERM)
                endpoint.reader.join()
        stubs = ", ".join(f'"s{number}" (demo.json:1)' for number in range(10))
        self.assertEqual(endpoint.log[0], f"mock-gateway: serves 1 script: {path}; 3 keys: default key, on, off (disabled); "
                                          f"12 stubs: {stubs}, …; 1 operation: GET /v1/x; 2 failures; 1 chaos rule; "
                                          "1 connection fault")

    def test_ten_names_are_printed_completely(self):
        secret = "sk-local-0123456789"
        stubs = [{"name": f"s{number}", "when": {"user_says": str(number)}, "reply": "x"} for number in range(9)]
        stubs.append({"when": {"user_says": secret}, "reply": "x"})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "demo.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"mock_gateway": 1, "keys": [{"name": "a", "secret": secret}], "stubs": stubs}, file)
            said = run("--port", "0", "--until-eof", "--script", path).stderr
            self.assertTrue(said.endswith('the stub at demo.json:1 (user text contains "sk-***")\n'), said)
            self.assertEqual(run("--port", "0", "--until-eof", "--quiet", "--script", path).stderr, "")

    def test_a_terminal_shows_failures_in_colour(self):
        statuses = [400, 499, 500, 599]
        screen, terminal = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        words = [PROGRAM, "--port", "0", *(flag for status in statuses for flag in ("--fail", str(status)))]
        with subprocess.Popen(words, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=terminal,
                              env={**environment, "TERM": "xterm"}) as process:
            try:
                os.close(terminal)
                printed = ""
                while not printed.endswith("ready\n"):
                    printed += process.stdout.readline() or "ready\n"
                port, key = int(re.search(r":(\d+)/v1\n", printed)[1]), re.search(r"API key +(\S+)\n", printed)[1]
                seen = b""
                for line in range(1, len(statuses) + 2):
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
                    connection.request("GET", "/v1/models", headers={"Authorization": "Bearer " + key})
                    connection.getresponse().read()
                    connection.close()
                    while seen.count(b"\n") < line:
                        self.assertTrue(select.select([screen], [], [], TIMEOUT)[0], seen)
                        seen += os.read(screen, 4096)
            finally:
                process.kill()
                os.close(screen)
        shown = [re.search(r"Z (\x1b\[\d+m)?#\d+ GET /v1/models (\d+) .*?(\x1b\[0m)?\r", line + "\r").groups()
                 for line in seen.decode().splitlines()]
        yellow, red, end = "\x1b[33m", "\x1b[31m", "\x1b[0m"
        self.assertEqual(shown, [(yellow, "400", end), (yellow, "499", end), (red, "500", end), (red, "599", end),
                                 (None, "200", None)])

    def test_responses_do_not_wait_for_a_reader_of_the_log(self):
        with Endpoint(read_log=False) as endpoint:
            endpoint.list_models(MORE_THAN_A_PIPE_HOLDS)
            endpoint.reader.start()
            self.assertEqual(endpoint.end(signal.SIGTERM)[0], 0)
            endpoint.reader.join()
            self.assertEqual(len(endpoint.log), MORE_THAN_A_PIPE_HOLDS)

    def test_ready_does_not_wait_for_a_reader_of_script_warnings(self):
        hidden = 800  # warnings, of three lines each
        stubs = [{"name": f"stub {number}", "reply": "x" * 60} for number in range(hidden + 1)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "demo.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"mock_gateway": 1, "stubs": stubs}, file, indent=1)
            with Endpoint("--script", path, read_log=False) as endpoint:
                self.assertEqual(endpoint.status(), 200)
                endpoint.reader.start()
                self.assertEqual(endpoint.end(signal.SIGTERM)[0], 0)
                endpoint.reader.join()
                log = endpoint.log
        self.assertEqual([line for line in log if "left out" in line], [])
        warned = [re.search(r"/stubs/(\d+)", line)[1] for line in log if "warning: /stubs/" in line]
        self.assertEqual(warned, [str(number) for number in range(1, hidden + 1)])
        order = [next(number for number, line in enumerate(log) if part in line)
                 for part in ("warning: /stubs/1:", "serves 1 script", "POST /v1/chat/completions 200")]
        self.assertEqual(order, sorted(order), log[-5:])

    def test_a_failed_start_does_not_wait_for_a_reader_of_script_warnings(self):
        stubs = [{"name": f"stub {number}", "reply": "x" * 60} for number in range(800)]
        with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as other:
            path = os.path.join(folder, "demo.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"mock_gateway": 1, "stubs": stubs}, file)
            words = [PROGRAM, "--script", path, "--port", str(other.getsockname()[1])]
            with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
                try:
                    self.assertEqual(process.wait(TIMEOUT / 2), 2)
                finally:
                    process.kill()

    def test_neither_the_end_nor_a_file_waits_for_a_reader(self):
        with tempfile.TemporaryDirectory() as folder:
            journal, report = os.path.join(folder, "journal.jsonl"), os.path.join(folder, "report.json")
            with Endpoint("--journal", journal, "--report", "json:" + report, read_log=False) as endpoint:
                endpoint.list_models(MORE_THAN_A_PIPE_HOLDS)
                deadline = time.monotonic() + TIMEOUT / 2
                lines = 0
                while lines < MORE_THAN_A_PIPE_HOLDS:
                    self.assertLess(time.monotonic(), deadline, f"{lines} exchanges are in the journal")
                    with open(journal, "rb") as file:
                        lines = sum(line.endswith(b"\n") for line in file)
                code, seconds = endpoint.end(signal.SIGTERM)
                self.assertEqual(code, 0)
                self.assertLess(seconds, 5)
            with open(report, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["review"]["judged"], MORE_THAN_A_PIPE_HOLDS)

    def test_no_line_contains_a_key_of_another_account(self):
        with Endpoint() as endpoint:
            for path in "/v1/sk-proj-0123456789abcdefghij", "/v1/models?key=sk-proj-0123456789abcdefghij":
                endpoint.request("GET", path, key=endpoint.key)
            log = "\n".join(endpoint.wait_for_log(2))
        self.assertIn("sk-***", log)
        self.assertNotIn("0123456789", log)

    def test_the_reason_of_a_refusal_is_logged_without_any_key(self):
        with Endpoint("--key", "sk-first-secret-of-some-length") as endpoint:
            self.assertEqual(endpoint.status(temperature="hot"), 400)
            self.assertEqual(endpoint.status(temperature="sk-first-secret-of-some-length"), 400)
            log = endpoint.wait_for_requests(2)
        self.assertIn(" 400 rejected (400 invalid_type: temperature: expected a number, got a string (\"hot\")) ", log[0])
        self.assertIn("temperature: expected a number", log[1])
        self.assertNotIn("first-secret", log[1])

    def test_text_from_a_client_cannot_control_the_terminal_or_reverse_the_line(self):
        sent = [b"\x9b31m", "\u009b31m".encode(), "\u202e".encode(), "\u2028".encode(), b"\x7f", b"\x1b[2J", "\ufeff".encode()]
        with Endpoint() as endpoint:
            for part in sent:
                with socket.create_connection(("127.0.0.1", endpoint.port), timeout=TIMEOUT) as connection:
                    connection.sendall(b"GET /v1/" + part + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    self.assertTrue(connection.makefile("rb").read().startswith(b"HTTP/1.1 40"))
            body = json.dumps({"model": "mock-model", "messages": [{"role": "\u009b\u202e", "content": "Hi"}]})
            self.assertEqual(endpoint.request("POST", "/v1/chat/completions", json.loads(body))[0].status, 400)
            log = endpoint.wait_for_log(len(sent) + 1)
        for line in log:
            self.assertNotRegex(line, "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
        self.assertIn("/v1/\\u202e ", "\n".join(log))

    def test_connections_affected_by_a_scenario(self):
        with Endpoint("--scenario", "garbage-on-accept") as endpoint:
            for _ in range(2):
                with socket.create_connection(("127.0.0.1", endpoint.port), timeout=TIMEOUT) as connection:
                    connection.makefile("rb").read()
            log = endpoint.wait_for_log(2)
            self.assertEqual(endpoint.end(signal.SIGTERM)[0], 0)
            endpoint.reader.join()
            self.assertEqual(len(endpoint.log), 2, "it struck")
        for number, line in enumerate(sorted(log), start=1):
            self.assertRegex(line, rf"^\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z connection {number} struck: garbage on accept$")

    def test_a_scenario_without_any_effect(self):
        def end_of(name, *requests):
            with Endpoint("--scenario", name, "--model", "mock-model") as endpoint:
                for fields in requests:
                    endpoint.chat(**fields)
                self.assertEqual(endpoint.end(signal.SIGTERM)[0], 0)
                endpoint.reader.join()
                self.assertGreaterEqual(len(endpoint.log), len(requests))
                return [line.split("Z ", 1)[1] for line in endpoint.log[len(requests):]]

        name = "usage-chunk-without-choices"
        self.assertEqual(end_of(name), [f"scenario {name} never struck, in 0 requests; it appears in stream requests only"])
        self.assertEqual(end_of(name, {}, {"stream": True, "model": "unknown"}),
                         [f"scenario {name} never struck, in 2 requests; it appears in stream requests only"])
        self.assertEqual(end_of(name, {}),
                         [f"scenario {name} never struck, in 1 request; it appears in stream requests only"])
        self.assertEqual(end_of(name, {"stream": True}), [])
        self.assertEqual(end_of("closed-when-reused", {}),
                         ["scenario closed-when-reused never struck, in 1 request; it needs a reused connection"])
        self.assertEqual(end_of("server-error-then-answer", {}), [])
        self.assertEqual(end_of("reset-on-accept"), ["scenario reset-on-accept never struck, in 0 requests"])
        self.assertEqual(end_of("connection-refused"), [], "the gateway cannot notice a refused connection")


class HowItEnds(unittest.TestCase):
    def test_signals_end_it_at_once_with_exit_code_0(self):
        for how in signal.SIGTERM, signal.SIGINT:
            with self.subTest(how), Endpoint("--reply", "one two", "--first-token-ms", "60000") as endpoint:
                idle = socket.create_connection(("127.0.0.1", endpoint.port))
                waiting = socket.create_connection(("127.0.0.1", endpoint.port))
                body = json.dumps({"model": "mock-model", "messages": [{"role": "user", "content": "Hi"}],
                                   "stream": True})
                waiting.sendall((f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {endpoint.key}"
                                 f"\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
                self.assertTrue(waiting.recv(1))  # the stream has started
                code, seconds = endpoint.end(how)
                self.assertEqual(code, 0)
                self.assertLess(seconds, 5, "the stream would wait for a minute")
                idle.close()
                waiting.close()

    def test_sighup_ends_it_if_there_is_no_script_to_reload(self):
        with Endpoint() as endpoint:
            self.assertEqual(endpoint.end(signal.SIGHUP)[0], -signal.SIGHUP)

    def test_the_limits_of_flag_values(self):
        for flags in [["--limit", "1/1000000ms"], ["--limit", "1/800000h"], ["--gap-ms", "3600000"], ["--gap-ms", "0"],
                      ["--first-token-ms", "3600000"], ["--first-token-ms", "0"], ["--seed", "0"],
                      ["--seed", str(2**63 - 1)], ["--fail", "400"], ["--fail", "599:*"], ["--fail", "400:1"]]:
            with self.subTest(flags):
                ended = run("--port", "0", "--until-eof", "--quiet", *flags)
                self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def assert_refused(self, *flags, naming=""):
        with self.subTest(flags):
            result = run(*flags)
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(result.stdout, "")
            self.assertRegex(result.stderr, r"\Amock-gateway: [^\n]+\n\Z")
            self.assertIn(naming, result.stderr)
            return result.stderr

    def test_a_taken_port_is_an_error(self):
        with Endpoint() as endpoint:
            self.assert_refused("--port", str(endpoint.port), naming=str(endpoint.port))

    def test_an_invalid_flag_is_an_error(self):
        for flags in [
                ["--port", "65536"], ["--port", "-1"], ["--port", "http"], ["--port"],
                ["--model", ""], ["--model", "=owner"], ["--model", "id="],
                ["--context-window", "fast"], ["--context-window", "fast=0"], ["--context-window", "=9"],
                ["--context-window", "fast=8k"], ["--key", "sk-"], ["--key", ""], ["--key", "=disabled"], ["--key"],
                ["--fail", ""], ["--fail", "abc"], ["--fail", "200"], ["--fail", "600"], ["--fail", "429:"],
                ["--fail", "429:0"], ["--fail", "429:x"], ["--fail", "429:-1"], ["--fail", "429:2:3"], ["--fail", "+429"],
                ["--fail", "429@"], ["--fail", "399"], ["--limit", "60s/60s"],
                ["--limit", "1/ms"], ["--first-token-ms", "3600001"], ["--first-token-ms", "-1"],
                ["--limit", "60"], ["--limit", "0/60s"], ["--limit", "60/0s"], ["--limit", "60/"], ["--limit", "/60s"],
                ["--limit-tokens", "60"], ["--limit-tokens", "0/60s"], ["--limit-tokens", "x/60s"],
                ["--limit-concurrent", "0"], ["--limit-concurrent", "-1"], ["--limit-concurrent", "x"], ["--limit-concurrent", "1.5"],
                ["--key", "sk-a=deleted_after:0"], ["--key", "sk-a=deleted_after:0s"], ["--key", "sk-a=deleted_after:soon"],
                ["--limit", "60/1d"], ["--limit", "60/99999999999s"], ["--limit", "1/900000h"], ["--limit", "x/60s"],
                ["--seed", "x"], ["--seed", "-1"], ["--profile", "unknown"], ["--enforce", "unknown"],
                ["--first-token-ms", "x"], ["--gap-ms", "-5"], ["--gap-ms", "3600001"],
                ["--scenario", "early-hints", "--reply", "x"], ["--scenario", ""], ["--scenario"], ["--json"],
                ["--strict=maybe"], ["--unknown"], ["stray"], ["--acceptance", "open-ai"], ["--acceptance"],
                ["--acceptance", "strict", "--strict"], ["--acceptance", "lenient", "--strict"]]:
            self.assert_refused("--port", "0", *flags, naming=flags[0].split("=")[0])

    def test_an_invalid_header_or_path_is_an_error(self):
        for flag, values in ("--key-header", ["", "api key", "Host"]), ("--base-path", ["", "v1", "/v1/"]):
            for value in values:
                self.assert_refused("--port", "0", flag, value, naming=f'{flag[2:].replace("-", "_")} takes')

    def test_only_a_service_with_rules_can_be_enforced(self):
        self.assert_refused("--port", "0", "--enforce", "documented",
                            naming="documented not in {openai,dashscope,deepseek}")

    def test_an_unknown_scenario_is_an_error(self):
        problem = self.assert_refused("--port", "0", "--scenario", "usage-chunk-without-choice",
                                      naming='--scenario: there is no scenario "usage-chunk-without-choice"')
        self.assertIn("did you mean usage-chunk-without-choices?", problem)

    def test_an_invalid_name_is_an_error(self):
        self.assert_refused("--port", "0", "--model", "twice", "--model", "twice", naming="twice")
        self.assert_refused("--port", "0", "--host", "256.256.256.256", naming="256.256.256.256")
        self.assert_refused("--port", "0", "--port-file", "/no/such/folder/port", naming="/no/such/folder/port")

    def test_an_unknown_flag_or_subcommand_is_named_with_the_probable_one(self):
        for words, text in [(["--scrpt", "x"], 'there is no flag --scrpt; did you mean "--script"?'),
                            (["serve", "--scrpt=x"], 'there is no flag --scrpt; did you mean "--script"?'),
                            (["run", "--quite", "--", "true"], 'there is no flag --quite; did you mean "--quiet"?'),
                            (["check", "--reprot", "text", "--", "true"], 'there is no flag --reprot; did you mean "--report"?'),
                            (["srve"], 'there is no subcommand srve; did you mean "serve"?'),
                            (["run", "pytest", "-q"], "unexpected argument pytest; put CMD after --"),
                            (["serve", "--port", "0", "x"], "unexpected argument x")]:
            with self.subTest(words):
                done = run(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr.split("\n")[0][:len(text) + 14], "mock-gateway: " + text)

    def test_an_invalid_key_is_explained(self):
        for key in "", "sk-", "=disabled", "sk-=disabled", "=deleted_after:5", "sk-=deleted_after:1m":
            self.assert_refused("--port", "0", "--key", key, naming="--key: a key must not be empty or just sk-")
        for key in " a", "a ", "tab\t", "ké":
            self.assert_refused("--port", "0", "--key", key, naming="printable ASCII without a space at its beginning or end")

    def test_the_error_about_a_key_does_not_repeat_it(self):
        for flags in [["--key", "my-secret with a blank "], ["--key", "sk-my-secret with a blank "],
                      ["--key", "sk-my-secret=deleted_after:x"], ["--key", "sk-my-secret", "--key", "sk-my-secret"]]:
            self.assertNotIn("my-secret", self.assert_refused("--port", "0", *flags) or "")


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = sys.argv.pop(1)
    unittest.main()
