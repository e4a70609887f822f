"""Several replicas behind HAProxy as in docs/load.md, and their metrics as Prometheus reads them.

Usage: load_test.py PROGRAM. Needs Python's standard library, and Debian's haproxy and prometheus.
"""

import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
TIMEOUT = 30  # seconds; a timeout for tests that hang
KEY, TOKEN = "sk-load", "a-token-of-the-test"


def block(page, language):
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def get(address, path, token=None):
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def eventually(what, condition):
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, f"timed out waiting for {what}"
        time.sleep(0.01)


class Replicas:
    """Three programs with the same flags behind HAProxy."""

    def __init__(self, case, *flags, balance="roundrobin"):
        folder = tempfile.TemporaryDirectory()
        case.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.about = [self.start(case, flags) for _ in range(3)]
        self.port = free_port()
        settings = block("load.md", "haproxy").replace("balance roundrobin", f"balance {balance}")
        ports = {"8080": self.port, **{str(9001 + i): urllib.parse.urlsplit(about["base_url"]).port
                                       for i, about in enumerate(self.about)}}
        for name, port in ports.items():
            assert f"127.0.0.1:{name}" in settings
            settings = settings.replace(f"127.0.0.1:{name}", f"127.0.0.1:{port}")
        (self.folder / "haproxy.cfg").write_text(settings, encoding="utf-8")
        with (self.folder / "haproxy.log").open("w") as log:
            proxy = subprocess.Popen(["haproxy", "-f", self.folder / "haproxy.cfg"], stdin=subprocess.DEVNULL,
                                     stdout=log, stderr=log)
        case.addCleanup(self.end, proxy)
        eventually("HAProxy", lambda: self.models() == 200)

    def start(self, case, flags):
        environment = {**os.environ, "MOCK_GATEWAY_CONTROL_TOKEN": TOKEN}
        process = subprocess.Popen([PROGRAM, "serve", "--port", "0", "--control", "0", "--print", "json", "--quiet",
                                    "--key", KEY, *flags], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment)
        case.addCleanup(self.end, process)
        return json.loads(process.stdout.readline())

    @staticmethod
    def end(process):
        process.send_signal(signal.SIGTERM)
        process.wait(TIMEOUT)
        if process.stdout:
            process.stdout.close()

    def models(self):
        try:
            return get(f"http://127.0.0.1:{self.port}", "/v1/models", KEY)[0]
        except OSError:
            return None

    def ask(self, text, **fields):
        """Returns the status and the body of a request on a new connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        body = {"model": "any", "messages": [{"role": "user", "content": text}], **fields}
        connection.request("POST", "/v1/chat/completions", json.dumps(body),
                           {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        said = answer.read().decode()
        connection.close()
        return answer.status, said

    def chats(self):
        """The number of chat requests at each replica."""
        return [sum(int(line.rpartition(" ")[2]) for line in get(about["control_url"], "/control/v1/metrics", TOKEN)[1].splitlines()
                    if line.startswith("mock_gateway_requests_total") and 'decision="models"' not in line)
                for about in self.about]


def text_of(body):
    return json.loads(body)["choices"][0]["message"]["content"]


class Load(unittest.TestCase):
    def with_script(self, **document):
        """Returns the flags that serve this script."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "load.json")
        path.write_text(json.dumps({"mock_gateway": 1, **document}), encoding="utf-8")
        return ["--script", str(path)]

    def test_replicas_answer_alike_whatever_they_answered_before(self):
        replicas = Replicas(self)
        for question in "one", "two", "three":
            answers = [replicas.ask(question) for _ in range(7)]
            self.assertEqual({status for status, _ in answers}, {200})
            self.assertEqual(len({text_of(body) for _, body in answers}), 1, answers)
        self.assertEqual(sum(replicas.chats()), 21)
        self.assertEqual(min(replicas.chats()), 7)

    def test_the_proxy_forwards_each_token_of_a_stream_at_once(self):
        replicas = Replicas(self, *self.with_script(stubs=[{"reply": {"text": "one two three", "every": "150ms"}}]))

        def stream(_):
            connection = http.client.HTTPConnection("127.0.0.1", replicas.port, timeout=TIMEOUT)
            body = {"model": "any", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
            connection.request("POST", "/v1/chat/completions", json.dumps(body),
                               {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"})
            answer, came, text = connection.getresponse(), [], ""
            for line in answer:
                if line.startswith(b"data: {"):
                    delta = json.loads(line[6:])["choices"][0]["delta"].get("content")
                    if delta:
                        came.append(time.monotonic())
                        text += delta
            connection.close()
            return text, came

        with concurrent.futures.ThreadPoolExecutor(9) as pool:
            streams = list(pool.map(stream, range(9)))
        self.assertEqual([(text, len(came)) for text, came in streams], [("one two three", 3)] * 9)
        # On a busy machine a first token may be late, but hardly every token.
        self.assertGreater(max(came[-1] - came[0] for _, came in streams), 0.2, "the tokens came together")
        self.assertEqual(sum(replicas.chats()), 9)

    def test_chaos_by_request_is_the_same_in_each_replica(self):
        chaos = [{"failure": "overloaded", "probability": 0.5, "by_request": True}]
        replicas = Replicas(self, *self.with_script(chaos=chaos))
        statuses = [{replicas.ask(f"question {number}")[0] for _ in range(4)} for number in range(20)]
        self.assertEqual({len(each) for each in statuses}, {1}, statuses)
        self.assertEqual(set.union(*statuses), {200, 529})

    def test_limits_are_per_replica_unless_a_key_stays_on_one(self):
        for balance, answered in ("roundrobin", 6), ("hdr(Authorization)", 2):
            with self.subTest(balance):
                replicas = Replicas(self, "--limit", "2/1h", balance=balance)
                # The request that waited for HAProxy's start counts too.
                limited = sum(replicas.ask("Hi")[0] == 429 for _ in range(9))
                self.assertEqual(limited, 9 - answered + 1)

    def test_prometheus_reads_the_metrics_of_all_replicas(self):
        replicas = Replicas(self, "--gap-ms", "1")
        for number in range(6):
            replicas.ask(str(number))
        (replicas.folder / "token.txt").write_text(TOKEN, encoding="utf-8")
        targets = [urllib.parse.urlsplit(about["control_url"]).netloc for about in replicas.about]
        settings = block("control.md", "yaml")
        self.assertIn('["127.0.0.1:8081"]', settings)
        settings = "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n" + settings.replace('["127.0.0.1:8081"]', json.dumps(targets))
        (replicas.folder / "prometheus.yml").write_text(settings, encoding="utf-8")
        port = free_port()
        with (replicas.folder / "prometheus.log").open("w") as log:
            prometheus = subprocess.Popen(
                ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                 f"--web.listen-address=127.0.0.1:{port}"], cwd=replicas.folder, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)
        self.addCleanup(replicas.end, prometheus)

        def value(query):
            try:
                found = json.loads(get(f"http://127.0.0.1:{port}", "/api/v1/query?" + urllib.parse.urlencode({"query": query}))[1])
            except (OSError, ValueError):
                return None
            rows = found["data"]["result"] if found["status"] == "success" else []
            return float(rows[0]["value"][1]) if rows else None

        eventually("a scrape of each replica", lambda: value('count(up{job="mock-gateway"} == 1)') == 3)
        eventually("the requests of all replicas", lambda: value('sum(mock_gateway_requests_total{decision!="models"})') == 6)
        eventually("the lateness of each request", lambda: value("sum(mock_gateway_lateness_seconds_count)") == 6)
        eventually("a histogram", lambda: value(
            "histogram_quantile(1, sum by (le) (mock_gateway_lateness_seconds_bucket))") is not None)

    def test_the_flags_in_the_manifest_exist(self):
        arguments = json.loads(re.search(r"args: (\[.*\])", block("load.md", "yaml"))[1])
        with tempfile.TemporaryDirectory() as scripts:
            pathlib.Path(scripts, "load.json").write_text('{"mock_gateway": 1}', encoding="utf-8")
            arguments[arguments.index("/scripts")] = scripts
            arguments[arguments.index("8080")] = "0"
            process = subprocess.Popen([PROGRAM, *arguments, "--print", "json"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.assertEqual(json.loads(process.stdout.readline())["api_key"], KEY)
            Replicas.end(process)


for tool in "haproxy", "prometheus":
    if not shutil.which(tool):
        sys.exit(f"load_test.py: {tool} is missing (Debian: {tool})")

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
