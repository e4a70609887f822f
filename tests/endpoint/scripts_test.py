"""The scripts of examples/scripts as clients meet them: each is served, and what comes over a socket is compared byte by
byte.

Usage: scripts_test.py [PROGRAM], else the program that MOCK_GATEWAY_BIN names. Python's standard library only.
"""

import json
import re
import select
import socket
import sys
import unittest
from pathlib import Path

import serve_test
from serve_test import TIMEOUT, Endpoint

SCRIPTS = Path(__file__).resolve().parents[2] / "examples/scripts"
QUIET = 0.2  # seconds in which nothing more may come


class Answer:
    """What a connection brought: heads without Date, and the body without HTTP's chunks."""

    def __init__(self):
        self.heads = []
        self.events = []  # of a chunked body: what each HTTP chunk held
        self.body = ""
        self.ended = False

    @property
    def head(self):
        return self.heads[-1]


class Connection:
    """A connection that HTTP is spoken on by hand."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.socket = socket.create_connection(("127.0.0.1", endpoint.port), TIMEOUT)
        self.pending = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, said="Hi", **fields):
        messages = said if isinstance(said, list) else [{"role": "user", "content": said}]
        body = json.dumps({"model": "mock-model", "messages": messages, **fields}).encode()
        head = (f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.endpoint.key}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
        self.socket.sendall(head.encode() + body)

    def receive(self):
        """Whether something more came; not so at the end of the connection."""
        data = self.socket.recv(65536)
        self.pending += data
        return bool(data)

    def take_until(self, end):
        while end not in self.pending:
            assert self.receive(), f"the connection ended after {self.pending!r}"
        taken, self.pending = self.pending.split(end, 1)
        return taken

    def take(self, size):
        while len(self.pending) < size:
            assert self.receive(), f"the connection ended after {self.pending!r}"
        taken, self.pending = self.pending[:size], self.pending[size:]
        return taken

    def read(self, until=None):
        """The answer; `until` is an event after which no more is read."""
        answer = Answer()
        while not answer.heads or answer.head[0].startswith("HTTP/1.1 1"):
            lines = self.take_until(b"\r\n\r\n").decode("latin-1").split("\r\n")
            answer.heads.append([line for line in lines if not line.startswith("Date: ")])
        length = next((int(line[16:]) for line in answer.head if line.startswith("Content-Length: ")), None)
        if length is not None:
            body = self.take(length)
            answer.ended = True
        else:
            assert "Transfer-Encoding: chunked" in answer.head, answer.head
            body = b""
            while True:
                data = self.take(int(self.take_until(b"\r\n"), 16))
                assert self.take(2) == b"\r\n"
                if not data:
                    answer.ended = True
                    break
                body += data
                answer.events.append(without_time(data))
                if answer.events[-1] == until:
                    break
        answer.body = without_time(body)
        return answer

    def is_quiet(self):
        return not self.pending and not select.select([self.socket], [], [], QUIET)[0]


def without_time(data):
    """As text, with 0 for the moment at which a completion was made."""
    return re.sub(r'"created":\d{10},', '"created":0,', data.decode("utf-8"))


class Scripts(unittest.TestCase):
    maxDiff = None

    def serve(self, name):
        endpoint = Endpoint("--script", str(SCRIPTS / name))
        self.addCleanup(endpoint.__exit__)
        return endpoint

    def connect(self, endpoint):
        connection = Connection(endpoint)
        self.addCleanup(connection.__exit__)
        return connection

    def ask(self, endpoint, said="Hi", **fields):
        connection = self.connect(endpoint)
        connection.send(said, **fields)
        answer = connection.read()
        self.assertTrue(answer.ended)
        return answer

    def test_each_script_has_a_test(self):
        with open(__file__, encoding="utf-8") as this:
            text = this.read()
        names = sorted(path.name for path in SCRIPTS.iterdir())
        self.assertGreater(len(names), 0)
        self.assertEqual([name for name in names if f'self.serve("{name}")' not in text], [])

    def test_meta_only_event(self):
        endpoint = self.serve("meta-only-event.jsonc")
        answer = self.ask(endpoint, stream=True)
        self.show(answer)

    def test_comment_as_data(self):
        self.show(self.ask(self.serve("comment-as-data.jsonc"), stream=True))

    def test_error(self):
        self.show(self.ask(self.serve("error-with-choices.jsonc"), stream=True))

    def test_finish(self):
        self.show(self.ask(self.serve("finish-reason-with-content.jsonc"), stream=True))

    def test_index(self):
        self.show(self.ask(self.serve("growing-choice-index.jsonc"), stream=True))

    def test_toolname(self):
        self.show(self.ask(self.serve("tool-name-after-arguments.jsonc"), stream=True))

    def test_usage(self):
        e = self.serve("empty-usage.jsonc")
        self.show(self.ask(e))
        self.show(self.ask(e, stream=True, stream_options={"include_usage": True}))

    def test_nulldelta(self):
        self.show(self.ask(self.serve("null-delta.jsonc"), stream=True))

    def test_nextline(self):
        self.show(self.ask(self.serve("next-line-without-charset.jsonc"), stream=True))

    def test_open(self):
        e = self.serve("open-after-done.jsonc")
        c = self.connect(e); c.send(stream=True); a = c.read(until="data: [DONE]\n\n"); self.show(a); print(a.ended, c.is_quiet())

    def test_closed(self):
        e = self.serve("closed-when-reused.jsonc")
        c = self.connect(e); c.send(); self.show(c.read()); c.send(); print(c.receive(), c.pending)
        c = self.connect(e); c.send(); self.show(c.read()); c.send(); self.show(c.read())

    def test_hints(self):
        self.show(self.ask(self.serve("early-hints.jsonc")))

    def test_retry(self):
        e = self.serve("odd-retry-after.jsonc")
        for s in "fraction", "negative", "garbage":
            self.show(self.ask(e, s)); self.show(self.ask(e, s))

    def test_agent(self):
        e = self.serve("agent.jsonc")
        tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("find_city", "get_weather")]
        messages = [{"role": "user", "content": "How is the weather in the capital of France?"}]
        for result in "Paris", "21", None:
            a = self.ask(e, messages, tools=tools)
            self.show(a)
            m = json.loads(a.body)["choices"][0]["message"]
            messages.append(m)
            if result: messages.append({"role": "tool", "tool_call_id": m["tool_calls"][0]["id"], "content": result})

    def show(self, answer):
        print(self.id().split(".")[-1]); print(answer.heads); print(answer.body)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        serve_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
