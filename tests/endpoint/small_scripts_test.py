"""Tests of scripts of a few lines, each for one behaviour of gateways. The received bytes are compared.

Usage: small_scripts_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN.
"""

import json
import re
import socket
import unittest

import program
from control import Program

SECRETS = {name: f"sk-{name}-0123456789" for name in ("one", "two")}


class Wire:
    """A connection for several requests, one after the other."""

    def __init__(self, gateway, key=None):
        self.key = key or gateway.info["api_key"]
        self.socket = socket.create_connection((gateway.data.hostname, gateway.data.port), program.TIMEOUT)
        self.received = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, method, path, body=b"", fields=()):
        lines = [f"{method} {path} HTTP/1.1", "Host: a", *fields]
        lines += [f"Authorization: Bearer {self.key}"] if self.key else []
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def until(self, end):
        while end not in self.received:
            more = self.socket.recv(65536)
            if not more:
                raise AssertionError(f"the connection ended before {end!r}: {self.received!r}")
            self.received += more
        place = self.received.index(end) + len(end)
        answer, self.received = self.received[:place], self.received[place:]
        return answer

    def answer(self):
        """Returns the bytes of a complete response."""
        head = self.until(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)\r\n", head)
        if length:
            size = int(length[1])
            while len(self.received) < size:
                self.received += self.socket.recv(65536)
            body, self.received = self.received[:size], self.received[size:]
            return head + body
        return head + (self.until(b"\r\n\r\n") if b"0\r\n\r\n" in self.received else self.until(b"\r\n0\r\n\r\n")) \
            if b"chunked" in head else head

    def ask(self, text="Hi", **fields):
        body = {"model": "mock-model", "messages": [{"role": "user", "content": text}], **fields}
        self.send("POST", "/v1/chat/completions", json.dumps(body).encode())
        return self.answer()

    def status(self, *arguments, **fields):
        return int(self.ask(*arguments, **fields).split(b" ", 2)[1])


def data(answer):
    """Returns the data of each event of a stream, unparsed."""
    return re.findall(rb"^data: (.*)$", answer, re.MULTILINE)


def chunk(delta, index=0, **fields):
    return {"json": {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                     "choices": [{"index": index, "delta": delta, "finish_reason": None}], **fields}}


class SmallScripts(unittest.TestCase):
    def test_a_key_is_disabled_for_two_requests_and_works_again_while_its_403_is_retried(self):
        script = {"keys": [{"name": "one", "secret": SECRETS["one"], "state_for": [{"state": "disabled", "requests": 2}]}],
                  "stubs": [{"reply": "Hello."}]}
        with Program(script) as gateway, Wire(gateway, SECRETS["one"]) as wire:
            self.assertEqual([wire.status() for _ in range(4)], [403, 403, 200, 200])

    def test_two_keys_share_a_limit(self):
        keys = [{"name": name, "secret": secret, "limit": "2/1h", "limit_group": "team"} for name, secret in SECRETS.items()]
        with Program({"keys": keys}) as gateway, Wire(gateway, SECRETS["one"]) as one, Wire(gateway, SECRETS["two"]) as two:
            self.assertEqual([wire.status() for wire in (one, two, one, two)], [200, 200, 429, 429])

    def test_the_limit_of_all_keys_is_set(self):
        with Program() as gateway, Wire(gateway) as wire:
            gateway.put("/limit", {"limit": "1/1h"})
            self.assertEqual([wire.status() for _ in range(2)], [200, 429])
            gateway.put("/limit", {"limit": None})
            self.assertEqual(wire.status(), 200)

    def test_a_past_date(self):
        date = "Sun, 06 Nov 1994 08:49:37 GMT"
        with Program({"stubs": [{"reply": {"failure": 429, "retry_after_text": date}}]}) as gateway, Wire(gateway) as wire:
            self.assertIn(f"\r\nRetry-After: {date}\r\n".encode(), wire.ask())

    def test_a_429_has_retry_after_in_every_way_to_request_it(self):
        slow = {"status": 429, "code": "slow", "message": "m"}
        ways = [  # script, flags, path and body of a request to the control API
            (None, ["--fail", "429"], None, None),
            ({"failures": [{"failure": 429}]}, [], None, None),
            ({"stubs": [{"reply": {"failure": slow}}]}, [], None, None),
            (None, [], "/failures", {"failure": "rate_limited"}),
            (None, [], "/stubs", {"reply": {"failure": 429}}),
            (None, [], "/chaos", {"failure": slow, "first": 1}),
            (None, [], "/connections", {"fault": {"reply_before_body": slow}}),
        ]
        for script, flags, path, document in ways:
            with self.subTest(script=script, flags=flags, document=document):
                with Program(script, *flags) as gateway:
                    if path:
                        gateway.post(path, document)
                    with Wire(gateway) as wire:
                        answer = wire.ask()
                self.assertTrue(answer.startswith(b"HTTP/1.1 429 "), answer)
                self.assertEqual(re.findall(rb"(?i)\r\nretry-after: (.*)\r\n", answer), [b"1"])

    def test_a_429_without_retry_after(self):
        script = {"failures": [{"failure": 429, "without_retry_after": True}]}
        with Program(script) as gateway, Wire(gateway) as wire:
            answer = wire.ask()
        self.assertTrue(answer.startswith(b"HTTP/1.1 429 "), answer)
        self.assertNotIn(b"\r\nretry-after", answer.lower())

    def test_trailer_fields_follow_the_last_chunk_and_the_connection_is_kept(self):
        script = {"stubs": [{"reply": {"text": "one two", "sse": {"trailer": "x-checksum: 7f\nx-took: 12"}}}]}
        with Program(script) as gateway, Wire(gateway) as wire:
            for _ in range(2):
                body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]})
                wire.send("POST", "/v1/chat/completions", body.encode())
                answer = wire.until(b"x-took: 12\r\n\r\n")
                self.assertTrue(answer.endswith(b"data: [DONE]\n\n\r\n0\r\nx-checksum: 7f\r\nx-took: 12\r\n\r\n"), answer)

    def test_a_reply_comes_before_the_body_and_the_connection_is_kept(self):
        script = {"connections": [{"fault": {"reply_then_read_body": {"status": 413, "code": "large", "message": "too large"}}}]}
        with Program(script) as gateway, Wire(gateway) as wire:
            body = b'{"model": "mock-model", "messages": [{"role": "user", "content": "Hi"}]}'
            wire.send("POST", "/v1/chat/completions", fields=(f"Content-Length: {len(body)}",))
            early = wire.answer()
            self.assertTrue(early.startswith(b"HTTP/1.1 413 Content Too Large\r\n"), early)
            self.assertNotIn(b"\r\nConnection: ", early)
            wire.socket.sendall(body)
            self.assertEqual(wire.status(), 200)

    def test_the_list_of_models_is_a_sequence(self):
        def listed(*ids):
            return {"json": {"object": "list", "data": [{"id": name, "object": "model", "created": 1, "owned_by": "a"} for name in ids]}}

        script = {"operations": [{"method": "GET", "path": "/v1/models",
                                  "replies": [listed("a"), {"failure": "overloaded"}, listed("a", "b")]}]}
        with Program(script) as gateway, Wire(gateway) as wire:
            answers = []
            for _ in range(4):
                wire.send("GET", "/v1/models")
                answer = wire.answer()
                answers.append([each["id"] for each in json.loads(answer.split(b"\r\n\r\n", 1)[1])["data"]]
                               if answer.startswith(b"HTTP/1.1 200 ") else int(answer.split()[1]))
            self.assertEqual(answers, [["a"], 529, ["a", "b"], ["a", "b"]])
            wire.key = "sk-nobody"
            wire.send("GET", "/v1/models")
            self.assertTrue(wire.answer().startswith(b"HTTP/1.1 401 "))

    def test_a_page_of_an_allowed_origin_may_call(self):
        with Program({"gateway": {"cors": ["http://a.example"]}}) as gateway, Wire(gateway, key="") as wire:
            wire.key = None
            wire.send("OPTIONS", "/v1/models", fields=("Origin: http://a.example", "Access-Control-Request-Method: GET",
                                                       "Access-Control-Request-Headers: authorization"))
            answer = wire.until(b"\r\n\r\n")
            self.assertTrue(answer.startswith(b"HTTP/1.1 204 "), answer)
            self.assertIn(b"\r\nAccess-Control-Allow-Origin: http://a.example\r\n", answer)
            self.assertIn(b"\r\nAccess-Control-Allow-Headers: authorization\r\n", answer)
            wire.send("OPTIONS", "/v1/models", fields=("Origin: http://b.example", "Access-Control-Request-Method: GET"))
            self.assertTrue(wire.answer().startswith(b"HTTP/1.1 401 "))

    def test_usage_comes_before_the_finish_chunk(self):
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        elements = [chunk({"content": "Hi"}), {"json": {"choices": [], "usage": usage}},
                    {"json": {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}}]
        with Program({"stubs": [{"reply": {"chunks": elements}}]}) as gateway, Wire(gateway) as wire:
            events = data(wire.ask(stream=True))
            self.assertEqual(["usage" in json.loads(one) for one in events[:3]], [False, True, False])
            self.assertEqual((json.loads(events[2])["choices"][0]["finish_reason"], events[3].strip()), ("stop", b"[DONE]"))

    def test_a_surrogate_pair_is_split_over_two_events(self):
        halves = ["\\ud83d", "\\ude00"]
        elements = [{"raw_bytes": 'data: {"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}\n\n' % half}
                    for half in halves]
        with Program({"stubs": [{"reply": {"chunks": elements}}]}) as gateway, Wire(gateway) as wire:
            answer = wire.ask(stream=True)
            self.assertEqual([half.encode() in event for half, event in zip(halves, data(answer))], [True, True])
            self.assertEqual("".join(json.loads(one)["choices"][0]["delta"]["content"] for one in data(answer)[:2])
                             .encode("utf-16", "surrogatepass").decode("utf-16"), "\U0001f600")

    def test_the_index_of_a_choice_grows(self):
        with Program({"stubs": [{"reply": {"chunks": [chunk({"content": "a"}, index) for index in range(3)]}}]}) as gateway:
            with Wire(gateway) as wire:
                events = data(wire.ask(stream=True))
                self.assertEqual([json.loads(one)["choices"][0]["index"] for one in events[:3]], [0, 1, 2])

    def test_a_reply_quotes_its_request(self):
        reply = {"tool_call": {"name": "f", "arguments": {"said": "{{request.last_user_text}}"}}, "template": True}
        with Program({"stubs": [{"reply": reply}]}) as gateway, Wire(gateway) as wire:
            call = json.loads(wire.ask('a "b"').split(b"\r\n\r\n", 1)[1])["choices"][0]["message"]["tool_calls"][0]
            self.assertEqual(json.loads(call["function"]["arguments"]), {"said": 'a "b"'})

    def test_chaos_affects_only_the_key_of_one_test(self):
        with Program() as gateway:
            one = gateway.post("/scopes", {"name": "one"})
            gateway.post("/chaos", {"failure": 503}, scope=one["id"])
            with Wire(gateway, one["api_key"]) as mine, Wire(gateway) as other:
                self.assertEqual([mine.status(), other.status()], [503, 200])

    def test_embeddings_break_in_the_middle(self):
        operation = {"method": "POST", "path": "/v1/embeddings",
                     "reply": {"json": {"data": [1, 2, 3]}, "faults": [{"after_bytes": 5, "effect": "close_connection"}]}}
        with Program({"operations": [operation]}) as gateway, Wire(gateway) as wire:
            wire.send("POST", "/v1/embeddings", b'{"model": "m", "input": "a"}')
            head = wire.until(b"\r\n\r\n")
            self.assertIn(b"Content-Length: 16\r\n", head)
            self.assertEqual(wire.until(b'{"dat'), b'{"dat')
            self.assertEqual(wire.socket.recv(10), b"")


if __name__ == "__main__":
    program.main()
