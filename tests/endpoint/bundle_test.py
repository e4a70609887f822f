"""Tests of bundles: files made from one exchange, with which another gateway repeats the reply, byte for byte and at
the same pace.

Usage: bundle_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN.

A normal run makes bundles of every fourth scenario of the catalogue. MOCK_GATEWAY_TEST_ALL=1 makes bundles of all of
them.
"""

import base64
import concurrent.futures
import contextlib
import http.client
import json
import re
import select
import socket
import tempfile
import threading
import time
import unittest

import control
import program
from control import API, Program, Refused, eventually

QUIET = 0.5  # seconds without a byte after which a client gives up
TURNS = 10  # calls that the gateway must have answered in that time
CHAT = "/v1/chat/completions"


class Reply:
    """A reply as a client received it: the bytes with their times, and how the connection ended."""

    def __init__(self):
        self.pieces, self.ending = [], None

    @property
    def raw(self):
        return b"".join(piece for _, piece in self.pieces)

    @property
    def comparable(self):
        """Returns the lines of each head without the date, sorted because a script reorders them, and the body."""
        heads, rest = [], self.raw
        while True:
            head, mark, rest = rest.partition(b"\r\n\r\n")
            lines = head.split(b"\r\n")
            fields = sorted(line for line in lines[1:] if not line.lower().startswith(b"date:"))
            heads.append((lines[0], fields))
            if not mark or not re.match(rb"HTTP/1.1 1\d\d", head):
                return heads, rest, self.ending

    @property
    def seconds(self):
        """Returns the seconds until the last byte arrived."""
        return self.pieces[-1][0] if self.pieces else 0.0

    def is_whole(self):
        rest = self.raw
        while True:
            head, mark, rest = rest.partition(b"\r\n\r\n")
            if not mark:
                return False
            if not re.match(rb"HTTP/1.1 1\d\d", head):
                break
        if re.search(rb"(?i)\r\ntransfer-encoding: chunked", head):
            while rest:
                size, mark, rest = rest.partition(b"\r\n")
                length = int(size, 16) if mark and re.fullmatch(rb"[0-9a-fA-F]+", size) else -1
                if length == 0:
                    return rest == b"\r\n"
                if length < 0 or len(rest) < length + 2:
                    return False
                rest = rest[length + 2:]
            return False
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        return len(rest) >= (int(length[1]) if length else 0)


def converse(gateway, request, quiet=QUIET):
    """Sends these bytes and reads the response to its end, or until nothing has arrived for a while.

    That time may pass on a busy machine before the gateway runs. So the gateway must also have answered some other
    calls since the last byte.
    """
    reply = Reply()
    whole, patience = False, quiet  # the end of the connection may still follow a complete response
    other = http.client.HTTPConnection(gateway.control.hostname, gateway.control.port, timeout=program.TIMEOUT)
    token = {"Authorization": "Bearer " + gateway.info["control_token"]}
    with (contextlib.closing(other),
          socket.create_connection((gateway.data.hostname, gateway.data.port), timeout=program.TIMEOUT) as client):
        begin = last = time.monotonic()
        client.sendall(request)
        turns = 0
        while reply.ending is None:
            if select.select([client], [], [], patience / TURNS)[0]:
                try:
                    received = client.recv(1 << 20)
                except ConnectionResetError:
                    reply.ending = "reset"
                    break
                last, turns = time.monotonic(), 0
                if received:
                    reply.pieces.append((last - begin, received))
                    whole = reply.is_whole()
                    patience = 0.05 if whole else quiet
                else:
                    reply.ending = "closed"
                continue
            if turns >= TURNS and time.monotonic() - last >= patience:
                reply.ending = "whole" if whole else "quiet"
                break
            other.request("GET", API, headers=token)
            other.getresponse().read()
            turns += 1
    return reply


def request_of(gateway, body, path=CHAT, method="POST", key=None, fields=""):
    content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    return (f"{method} {path} HTTP/1.1\r\nHost: {gateway.data.netloc}\r\n"
            f"Authorization: Bearer {key or gateway.info['api_key']}\r\nContent-Type: application/json\r\n{fields}"
            f"Content-Length: {len(content)}\r\n\r\n").encode() + content


def chat(text="Hi", **fields):
    return {"model": "mock-model", "messages": [{"role": "user", "content": text}], **fields}


def stream(text="Hi", **fields):
    return chat(text, stream=True, **fields)


@program.once
def script_schema():
    return control.jsonschema.Draft202012Validator(json.loads(program.execute("schema").stdout))


class Bundles(unittest.TestCase):
    maxDiff = None

    def bundle(self, gateway, exchange=1):
        """Returns the text of a bundle. Checks that the program and the schema accept it, and that it contains no
        secret."""
        text = self.unserved_bundle(gateway, exchange)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            ended = program.execute("validate", file.name)
            self.assertEqual((ended.returncode, ended.stderr), (0, ""), text)
        return text

    def unserved_bundle(self, gateway, exchange=1):
        """Returns the text of a bundle without checking that the program accepts it. The caller serves the text."""
        eventually(self, lambda: gateway.get(f"/journal/{exchange}")["outcome"] != "pending", "the exchange did not end")
        status, headers, text = gateway.send("GET", f"{API}/journal/{exchange}/bundle")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"), text)
        text = text.decode()
        control.compare("GET", f"{API}/journal/{exchange}/bundle", 200, json.loads(text))
        document = json.loads(text)
        self.assertEqual(list(document)[:2], ["bundle", "mock_gateway"])
        self.assertEqual(list(document["bundle"])[0], "about")
        self.assertNotIn(gateway.info["api_key"], text)
        self.assertNotIn(gateway.info["control_token"], text)
        self.assertNotRegex(text, "sk-[A-Za-z0-9]")
        if control.jsonschema:
            script_schema().validate(document)
        return text

    def refused(self, gateway, exchange, word):
        eventually(self, lambda: gateway.get(f"/journal/{exchange}")["outcome"] != "pending", "the exchange did not end")
        with self.assertRaises(Refused) as caught:
            gateway.get(f"/journal/{exchange}/bundle")
        self.assertEqual((caught.exception.status, caught.exception.code), (404, "no_bundle"))
        self.assertIn(word, caught.exception.error["message"])

    def again(self, script, body, **request):
        """Sends a request to a gateway and to a gateway that serves the bundle. Returns both replies and the bundle."""
        with Program(script) as gateway:
            first = converse(gateway, request_of(gateway, body, **request))
            text = self.unserved_bundle(gateway)
        with Program(text) as gateway:
            # The second gateway also repeats delays of a busy machine.
            second = converse(gateway, request_of(gateway, body, **request), QUIET + first.seconds)
            self.assertEqual(second.comparable, first.comparable, text)
            self.assertTrue(gateway.get("/verify")["ok"], gateway.get("/verify")["message"])
        self.assertEqual(gateway.log, "", text)  # the script has no warnings
        return first, second, json.loads(text)

    def stub(self, reply, body=None, **rest):
        return self.again({"stubs": [{"reply": reply}], **rest}, body or stream())

    def test_a_plain_reply(self):
        first, _, bundle = self.again({}, chat("How are you?"))
        self.assertEqual(first.ending, "whole")
        self.assertEqual(bundle["stubs"][0]["when"],
                         {"user_says": {"equals": "How are you?"}, "model_is": "mock-model"})
        exchange = bundle["bundle"]["exchange"]
        self.assertEqual((exchange["id"], exchange["decision"]["kind"]), (1, "default reply"))
        self.assertEqual(exchange["request"]["body"]["json"], chat("How are you?"))

    def test_a_bundle_answers_only_its_own_request(self):
        with Program({}) as gateway:
            gateway.ask("one")
            text = self.bundle(gateway)
        with Program(text) as gateway:
            self.assertEqual(gateway.chat("two")[0], 422)
            self.assertEqual(gateway.chat("one")[0], 200)

    def test_a_stream_with_pace(self):
        reply = {"text": "one two three", "first_token_after": "120ms", "every": "60ms"}
        first, second, bundle = self.stub(reply)
        recorded = bundle["stubs"][0]["reply"]
        times, at = {}, "0us"
        for fault in recorded.get("faults", []):  # a busy machine may have delayed the head and events with it
            at = fault["effect"]["stall"] if "before_headers" in fault else at
        for event in recorded["chunks"]:
            at = event.get("at", at)  # an event without a time is sent with the previous event
            content = event.get("json", {"choices": [{"delta": {}}]})["choices"][0]["delta"].get("content")
            if content:
                number, unit = re.fullmatch(r"(\d+)(us|ms)", at).groups()
                times[content.strip()] = int(number) / (1_000_000 if unit == "us" else 1000)
        self.assertEqual(list(times), ["one", "two", "three"])
        # A piece never arrives before its events are due; a busy client may get several events in one piece.
        for reply in first, second:
            for (word, time_of), scripted in zip(times.items(), (0.12, 0.18, 0.24)):
                self.assertGreaterEqual(time_of, scripted)
                [came] = [moment for moment, piece in reply.pieces if b'"%b' % word.encode() in piece or
                          b'" %b' % word.encode() in piece]
                self.assertGreaterEqual(came, time_of if reply is second else scripted)

    def test_on_a_manual_clock_each_event_keeps_its_time(self):
        reply = {"text": "one two three four", "first_token_after": "120ms", "every": "7ms", "faults": [
            {"after_tokens": 2, "effect": {"stall": "1s"}}, {"before_done": True, "effect": {"stall": "3ms"}},
            {"at_end": True, "effect": {"stall": "2ms"}}, {"at_end": True, "effect": "reset_connection"}]}

        def driven(script):
            with Program({**script, "gateway": {"clock": "manual"}}) as gateway:
                replies = []
                client = threading.Thread(target=lambda: replies.append(converse(gateway, request_of(gateway, stream()), 9)))
                client.start()
                while client.is_alive():
                    if gateway.get("/clock")["waiting"]:
                        gateway.post("/clock/next")
                client.join()
                eventually(self, lambda: gateway.get("/journal/1")["ended"], "the exchange did not end")
                shown = gateway.get("/journal/1")
                times = [shown["first_byte_ms"], shown["ended_ms"], *(event["at_ms"] for event in shown["events"])]
                return times, [event["bytes"] for event in shown["events"]], replies[0].comparable, self.bundle(gateway)

        times, sizes, first, bundle = driven({"stubs": [{"reply": reply}]})
        self.assertEqual(times, [0, 1132, 0, 120, 127, 1127, 1127, 1127, 1130])
        self.assertEqual(driven(json.loads(bundle))[:3], (times, sizes, first))

    def test_a_delayed_plain_reply(self):
        first, second, bundle = self.stub({"text": "late", "first_token_after": "150ms"}, chat())
        self.assertIn("first_token_after", bundle["stubs"][0]["reply"])
        self.assertGreater(second.pieces[0][0], 0.13)

    def test_tool_calls_thinking_and_choices(self):
        call = {"name": "get_weather", "arguments": {"city": "Zürich", "days": [1, 2.5, 1e30]}}
        for reply in ({"tool_call": call}, {"tool_calls": [call, {"name": "get_time", "id": "call_7"}], "interleaved": True},
                      {"tool_call": {"name": "f", "malformed_arguments": "{\"a\": "}}, {"thinking": "hm", "text": "4"},
                      {"choices": ["yes", {"text": "no", "finish_reason": "length"}]}, {"refusal": "no"}):
            for body in (stream(), chat(), stream(stream_options={"include_usage": True})):
                with self.subTest(reply=reply, body=body):
                    self.stub(reply, body)

    def test_faults_that_end_a_stream(self):
        for fault, ending in [({"after_tokens": 2, "effect": "reset_connection"}, "reset"),
                              ({"after_tokens": 2, "effect": "close_connection"}, "closed"),
                              ({"after_tokens": 2, "effect": "stall"}, "quiet"),
                              ({"after_tokens": 2, "effect": {"stall": "50ms"}}, "whole"),
                              ({"after_tokens": 2, "effect": "half_close"}, "closed"),
                              ({"after_tokens": 2, "effect": {"garbage": "\u0001 no chunk"}}, "closed"),
                              ({"after_tokens": 1, "effect": {"garbage_base64": "/wD+"}}, "closed"),
                              ({"inside_event": [2, 10], "effect": "truncate"}, "closed"),
                              ({"inside_event": [2, 10], "effect": "reset_connection"}, "reset"),
                              ({"after_bytes": 100, "effect": "close_connection"}, "closed"),
                              ({"after_bytes": 100, "effect": {"stall": "30ms"}}, "whole"),
                              ({"inside_character": 2, "effect": "truncate"}, "closed"),
                              ({"before_done": True, "effect": "truncate"}, "closed"),
                              ({"before_done": True, "effect": {"stall": "30ms"}}, "whole"),
                              ({"at_end": True, "effect": "reset_connection"}, "reset"),
                              ({"at_end": True, "effect": {"stall": "30ms"}}, "whole"),
                              ({"after_headers": True, "effect": "reset_connection"}, "reset"),
                              ({"after_headers": True, "effect": "stall"}, "quiet"),
                              ({"after_headers": True, "effect": {"garbage": "zz\r\n"}}, "closed"),
                              ({"before_headers": True, "effect": "close_connection"}, "closed"),
                              ({"before_headers": True, "effect": "reset_connection"}, "reset"),
                              ({"before_headers": True, "effect": {"garbage": "no HTTP"}}, "closed"),
                              ({"before_headers": True, "effect": "stall"}, "quiet"),
                              ({"before_headers": True, "effect": {"stall": "40ms"}}, "whole"),
                              ({"after_events": 2, "effect": {"error_event": {"error": {"message": "overloaded"}}}}, "whole"),
                              ({"after_events": 2, "effect": "skip_event"}, "whole"),
                              ({"after_events": 2, "effect": "duplicate_event"}, "whole")]:
            with self.subTest(fault=fault):
                first, _, _ = self.stub({"text": "Zürich two three", "every": "0s", "faults": [fault]})
                self.assertEqual(first.ending, ending)

    def test_faults_of_a_plain_reply(self):
        for fault, ending in [({"after_bytes": 10, "effect": "close_connection"}, "closed"),
                              ({"after_bytes": 10, "effect": "reset_connection"}, "reset"),
                              ({"after_bytes": 10, "effect": "truncate"}, "closed"),
                              ({"after_bytes": 10, "effect": {"stall": "30ms"}}, "whole"),
                              ({"after_bytes": 10, "effect": "stall"}, "quiet"),
                              ({"after_bytes": 10, "effect": {"garbage": "!"}}, "closed"),
                              ({"after_headers": True, "effect": "reset_connection"}, "reset"),
                              ({"after_headers": True, "effect": {"stall": "30ms"}}, "whole"),
                              ({"before_headers": True, "effect": "reset_connection"}, "reset"),
                              ({"before_headers": True, "effect": {"wrong_content_length": 7}}, "quiet"),
                              ({"before_headers": True, "effect": {"wrong_content_length": -7}}, "whole"),
                              ({"at_end": True, "effect": "close_connection"}, "closed"),
                              ({"at_end": True, "effect": "half_close"}, "closed")]:
            with self.subTest(fault=fault):
                first, _, _ = self.stub({"text": "Zürich two three", "faults": [fault]}, chat())
                self.assertEqual(first.ending, ending)

    def test_a_stall_that_the_guard_ended(self):
        script = {"gateway": {"stall_guard": "100ms"},
                  "stubs": [{"reply": {"text": "one two", "faults": [{"after_tokens": 1, "effect": "stall"}]}}]}
        with Program(script) as gateway:
            first = converse(gateway, request_of(gateway, stream()))
            self.assertEqual(first.ending, "reset")
            text = self.bundle(gateway)
        self.assertNotIn("gateway", json.loads(text))
        with Program(text) as gateway:
            second = converse(gateway, request_of(gateway, stream()))
            self.assertEqual(second.comparable, first.comparable)

    def test_written_chunks_dialects_and_raw_bytes(self):
        chunks = [{"raw_bytes": ": PROCESSING\n\n"}, {"json": {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}},
                  {"event": "id: 7\nretry: 3000"}, {"raw_base64": "ZGF0YTog//4KCg=="}, {"raw_bytes": "\r\n"},
                  {"raw_bytes": "data: {\"a\":  1}\n\n", "at": "40ms"}, {"raw_bytes": "5\r\n"}]
        for reply in ({"chunks": chunks}, {"chunks": chunks, "sse": {"done": False}}, {"chunks": []},
                      {"chunks": [], "sse": {"done": False}}, {"text": "a b", "sse": {"line_end": "\r\n", "ids": True}},
                      {"text": "a b", "sse": {"byte_order_mark": True, "comment": "x", "content_type": "text/plain"}},
                      {"text": "a b", "sse": {"after_done": "{}"}}, {"text": "a b", "sse": {"final_blank_line": False}},
                      {"text": "a b", "sse": {"open_after_done": True}}, {"text": "a b", "sse": {"content_type": ""}},
                      {"text": "a b", "first_token_after": "90ms", "sse": {"ping_every": "40ms"}},
                      {"text": "a b", "slice_writes": 7}, {"text": "a b", "one_write": True}):
            with self.subTest(reply=reply):
                self.stub(reply)

    def test_a_compressed_stream_is_readable_and_compressed_again(self):
        first, _, bundle = self.stub({"text": "one two", "sse": {"gzip": True}})
        self.assertIn(b"\x1f\x8b", first.raw)
        self.assertTrue(bundle["stubs"][0]["reply"]["sse"]["gzip"])
        self.assertIn("json", bundle["stubs"][0]["reply"]["chunks"][0])
        self.assertIn("gzip", bundle["comment"])

    def test_raw_replies_and_their_header_fields(self):
        for reply in ({"raw_reply": {"status": 502, "body": "<h1>502</h1>", "content_type": "text/html"}},
                      {"raw_reply": {"status": 204}}, {"raw_reply": {"body": "\n\n{}", "content_type": ""}},
                      {"raw_reply": {"base64": "AP/+AQ==", "content_type": "image/png"}},
                      {"raw_reply": {"json": {"choices": []}}, "headers": {"x-a": ["1", "2"], "Connection": "close"}},
                      {"raw_reply": {"body": "abc"}, "headers": {"Content-Length": "2", "Keep-Alive": "timeout=5"}},
                      {"raw_reply": {"body": "abc"}, "headers": {"Content-Encoding": "br", "Alt-Svc": "clear"}},
                      {"failure": "rate_limited", "retry_after": "2s"},
                      {"failure": 503, "faults": [{"after_bytes": 10, "effect": "close_connection"}]}):
            with self.subTest(reply=reply):
                self.stub(reply, chat())

    def test_early_hints_and_other_interim_responses(self):
        hints = {"Link": ["</a.css>; rel=preload", "</b.css>; rel=preload"], "x-b": "1"}
        for rest in ({}, {"connections": [{"fault": "unsolicited_continue", "always": True}]},
                     {"connections": [{"fault": "early_hints", "always": True}]}):
            for reply in ({"text": "Hi", "early_hints": hints}, "Hi"):
                for body in (chat(), stream()):
                    with self.subTest(rest=rest, reply=reply):
                        self.stub(reply, body, **rest)
        with Program({"connections": [{"fault": "early_hints"}], "chaos": [{"interim": "early_hints"}],
                      "stubs": [{"reply": {"text": "Hi", "early_hints": hints}}]}) as gateway:
            converse(gateway, request_of(gateway, chat()))
            self.refused(gateway, 1, "interim")

    def test_refusals_because_of_keys_and_other_checks(self):
        keys = [{"name": "off", "secret": "sk-off", "state": "disabled"},
                {"name": "few", "secret": "sk-few", "models": ["other"]},
                {"name": "slow", "secret": "sk-slow", "limit": "1/1h"},
                {"name": "lists", "secret": "sk-lists", "operations": ["list_models"]}]
        cases = [("sk-nobody-has-it", chat(), CHAT, "POST", 401), ("sk-off", chat(), CHAT, "POST", 403),
                 ("sk-few", chat(), CHAT, "POST", 403), ("sk-lists", chat(), CHAT, "POST", 403),
                 (None, {"model": "mock-model"}, CHAT, "POST", 400), (None, b"{", CHAT, "POST", 400),
                 (None, chat(model="nobody"), CHAT, "POST", 404), (None, None, "/v1/nothing?a=b", "DELETE", 404),
                 (None, None, CHAT, "GET", 405), (None, None, CHAT, "HEAD", 405),
                 (None, None, "/v1/models", "GET", 200), (None, None, "/v1/models/mock-model", "GET", 200),
                 (None, None, "/v1/models/nobody", "GET", 404), (None, chat("a b c"), CHAT, "POST", 400),
                 (None, chat(max_tokens=2), CHAT, "POST", 400)]
        for key, body, path, method, status in cases:
            with self.subTest(key=key, path=path, method=method, body=body):
                models = [{"id": "mock-model", "context_window": 5}]
                with Program({"keys": keys, "gateway": {"models": models}}) as gateway:
                    first = converse(gateway, request_of(gateway, body, path, method, key))
                    self.assertIn(f" {status} ".encode(), first.raw[:14])
                    text = self.bundle(gateway)
                with Program(text) as gateway:
                    for other in (key, None):
                        second = converse(gateway, request_of(gateway, body, path, method, other))
                        self.assertEqual(second.comparable, first.comparable, text)
        with Program({"keys": keys}) as gateway:
            for _ in range(2):
                first = converse(gateway, request_of(gateway, chat(), key="sk-slow"))
            self.assertIn(b" 429 ", first.raw[:14])
            text = self.bundle(gateway, 2)
        with Program(text) as gateway:
            self.assertEqual(converse(gateway, request_of(gateway, chat())).comparable, first.comparable)

    def test_forced_failures_chaos_and_unmatched_requests(self):
        for script in ({"failures": [{"failure": 503, "retry_after": "1s", "always": True}]},
                       {"failures": [{"failure": "bad_gateway", "error_body": "<h1>\u00fc</h1>", "content_type": "text/html",
                                      "headers": {"x-a": ["1", "2"]}, "always": True}]},
                       {"failures": [{"failure": 429, "always": True}]},
                       {"failures": [{"failure": 429, "without_retry_after": True, "always": True}]},
                       {"chaos": [{"failure": "overloaded"}]},
                       {"connections": [{"fault": {"reply_before_body": {"status": 429, "code": "slow", "message": "m"}}}]},
                       {"chaos": [{"after_tokens": 1, "effect": "reset_connection"}], "stubs": [{"reply": "one two"}]},
                       {"connections": [{"fault": {"reply_before_body": {"status": 413, "code": "big", "message": "no"}}}]},
                       {"connections": [{"fault": {"reply_then_read_body": {"status": 413, "code": "big", "message": "no"}}}]},
                       {"connections": [{"fault": {"slow_body": {"bytes": 20, "gap": "1ms"}}}]}):
            with self.subTest(script=script):
                self.again(script, stream())
        with Program({"stubs": [{"when": {"user_says": "x"}, "reply": "y"}]}) as gateway:
            first = converse(gateway, request_of(gateway, chat()))
            text = self.bundle(gateway)
        with Program(text) as gateway:
            self.assertEqual(converse(gateway, request_of(gateway, chat())).comparable, first.comparable)

    def test_operations(self):
        picture = base64.b64encode(bytes(range(256))).decode()
        for reply in ({"json": {"data": []}}, {"base64": picture, "content_type": "image/png"}, {"status": 204},
                      {"body": "{ \"a\": 1 }", "content_type": "application/json"}, {"body": "text"},
                      {"failure": 503, "retry_after": "2s"}, {"json": [1], "headers": {"x-a": "b"}, "status": 418}):
            with self.subTest(reply=reply):
                self.again({"operations": [{"method": "POST", "path": "/v1/files/{id}", "reply": reply}]},
                           b"", path="/v1/files/a%20b?x=1")

    def test_embeddings(self):
        for fields in {"dimensions": 3}, {"encoding_format": "base64", "model": "text-embedding-3-small"}:
            with self.subTest(fields):
                body = {"model": "mock-model", "input": ["a b", "c"], **fields}
                first, _, bundle = self.again({}, body, path="/v1/embeddings")
                self.assertIn(b'"object":"embedding"', first.raw)
                self.assertEqual(bundle["operations"][0]["path"], "/v1/embeddings")

    def test_a_gateway_with_other_settings(self):
        options = {"models": ["fast", {"id": "deep", "owner": "lab", "context_window": 900}], "profile": "openai", "max_n": 200,
                   "acceptance": {"base": "openai", "text_parts": False}}
        body = chat(model="deep", n=150, frequency_penalty=1)
        first, _, bundle = self.again({"gateway": options, "stubs": [{"reply": "Hi"}]}, body)
        self.assertIn(b"x-request-id", first.raw)
        self.assertEqual({name: bundle["gateway"][name] for name in ("models", "profile", "max_n")},
                         {name: options[name] for name in ("models", "profile", "max_n")})
        self.assertFalse(bundle["gateway"]["acceptance"]["text_parts"])

    def test_a_refusal_by_a_rule_of_a_service(self):
        first, _, bundle = self.again({"gateway": {"enforce": "openai"}}, chat(tools=[]))
        self.assertIn(b'"code":"empty_array"', first.raw)
        self.assertEqual({name: bundle["gateway"][name] for name in ("profile", "enforce")},
                         {"profile": "openai", "enforce": "openai"})

    def test_other_models_than_the_default(self):
        for models, kept in [(["mock-model"], None), (["mock-model", "b"], ["mock-model", "b"]), (["b"], ["b"]),
                             ([{"id": "mock-model", "owner": "lab"}], [{"id": "mock-model", "owner": "lab"}]),
                             ([{"id": "mock-model", "context_window": 99}], [{"id": "mock-model", "context_window": 99}])]:
            with self.subTest(models), Program({"gateway": {"models": models}, "stubs": [{"reply": "Hi"}]}) as gateway:
                gateway.chat(model=models[-1]["id"] if isinstance(models[-1], dict) else models[-1])
                self.assertEqual(json.loads(self.bundle(gateway)).get("gateway", {}).get("models"), kept)

    def test_settings_that_differ_from_the_programs_defaults_are_in_the_bundle(self):
        picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]}
        for fields, kept in [({}, None), ({"model": "gpt-4o-mini"}, {"models": "any"}),
                             ({"messages": [picture]}, {"acceptance": "openai"}),
                             ({"model": "o4", "max_completion_tokens": 2}, {"models": "any"}),
                             ({"model": "o4", "messages": [picture]}, {"models": "any", "acceptance": "openai"})]:
            with self.subTest(fields):
                _, _, bundle = self.again({"stubs": [{"reply": "Hi"}]}, chat(**fields))
                self.assertEqual(bundle.get("gateway"), kept)

    def test_base_paths_and_how_keys_arrive(self):
        options = {"base_paths": ["/api/v4", "/"], "key_headers": ["api-key"], "key_required": False}
        health = {"method": "GET", "path": "/health", "open": True, "reply": {"json": {"up": 1}}}
        script = {"gateway": options, "operations": [health], "stubs": [{"reply": "Hi"}]}
        _, _, bundle = self.again(script, chat(), path="/api/v4/chat/completions", fields="api-key: \r\n")
        self.assertEqual(bundle["gateway"], options)
        _, _, bundle = self.again(script, None, path="/api/v4/responses", method="GET")
        self.assertEqual(bundle["failures"][0]["for"], {"operation": "GET /v1/responses"})
        _, _, bundle = self.again(script, None, path="/health", method="GET", key="sk-nobody")
        self.assertEqual(bundle["operations"][0], {**bundle["operations"][0], "path": "/health", "open": True})

    def test_a_close_by_the_client_is_not_part_of_the_reply(self):
        script = {"stubs": [{"when": {"user_says": "close"},
                             "reply": {"text": "a", "headers": {"Connection": "close"}}},
                            {"reply": "b"}]}
        with Program(script) as gateway:
            keep = request_of(gateway, chat())
            requests = [(request_of(gateway, chat(), fields="Connection: close\r\n"), None),
                        (keep.replace(b"HTTP/1.1\r\n", b"HTTP/1.0\r\n"), None), (keep, None),
                        (request_of(gateway, chat("close")), {"Connection": "close"})]
            for exchange, (request, headers) in enumerate(requests, 1):
                converse(gateway, request)
                [stub] = json.loads(self.bundle(gateway, exchange))["stubs"]
                self.assertEqual(stub["reply"].get("headers"), headers, exchange)

    def test_requests_that_no_matcher_can_name(self):
        for method, path, word in [("get", "/v1/x", "its method"), ("G3T", "/v1/x", "its method"),
                                   ("GET", "/v1/{id}", "its path"), ("GET", "/v1/a}", "its path"),
                                   ("OPTIONS", "*", "its path")]:
            with self.subTest(method=method, path=path), Program() as gateway:
                converse(gateway, request_of(gateway, None, path, method))
                self.refused(gateway, 1, "no script can name " + word)

    def test_strict_means_the_documented_fields_of_the_profile(self):
        taken = chat(user="u", stop="x")
        for acceptance, kept in (("strict", "strict"),
                                 ({"base": "strict", "logprobs": False}, {"base": "strict", "logprobs": False}),
                                 ({"base": "openai", "unknown_fields": False}, None)):
            with self.subTest(acceptance=acceptance):
                options = {"profile": "openai", "acceptance": acceptance}
                _, _, bundle = self.again({"gateway": options, "stubs": [{"reply": "Hi"}]}, taken)
                if kept:
                    self.assertEqual(bundle["gateway"]["acceptance"], kept)

    def test_a_reply_that_the_test_was_asked_for(self):
        with Program({"stubs": [{"reply": {"ask": True}}]}) as gateway:
            replies = []
            client = threading.Thread(target=lambda: replies.append(converse(gateway, request_of(gateway, stream()))))
            client.start()
            asked = gateway.get("/asked", wait="5s")["asked"]
            gateway.post(f"/asked/{asked[0]['exchange']}", {"reply": {"text": "the answer", "every": "1ms"}})
            client.join()
            text = self.bundle(gateway, asked[0]["exchange"])
        with Program(text) as gateway:
            self.assertEqual(converse(gateway, request_of(gateway, stream())).comparable, replies[0].comparable)

    def test_no_bundle_contains_a_secret(self):
        foreign = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
        other = "gsk_abcdefghijklmnopqrstuvwxyz0123456789"
        with Program({"keys": [{"name": "short", "secret": "sk-short"}], "stubs": [
                {"when": {"user_says": "own"}, "reply": "your key is sk-short, keep it"},
                {"reply": {"text": f"keys {foreign} and {other} end", "headers": {"x-key": foreign, "Set-Cookie": "a=b"}}}
        ]}) as gateway:
            fields = f"x-api-key: {foreign}\r\nCookie: session=abcdef\r\n"
            for key in (foreign, None, "sk-short"):
                for body in (stream("own"), chat("own"), stream(f"mine is {foreign} and {other}"), chat("x " + other)):
                    converse(gateway, request_of(gateway, body, key=key, fields=fields))
            for exchange in range(1, 13):
                text = self.bundle(gateway, exchange)
                for secret in (foreign, other, "sk-short", "a=b", "session=abcdef", "abcdefghij"):
                    self.assertNotIn(secret, text)
        with Program(text) as gateway:
            status, body = gateway.chat("x " + other)
            self.assertEqual(status, 200)
            self.assertIn("end", json.loads(body)["choices"][0]["message"]["content"])

    def test_a_prompt_with_a_key_is_matched_by_its_beginning(self):
        keys = [{"name": "own", "secret": "sk-short"}, {"name": "word", "secret": "abcdef0123456789"}]
        for prompt, when in [("my key is sk-short, keep it", {"user_says": {"starts_with": "my key is sk-"}}),
                             ("my key is abcdef0123456789", {"user_says": {"starts_with": "my key is "}}),
                             ("abcdef0123456789 is my key", {})]:
            with self.subTest(prompt):
                with Program({"keys": keys, "stubs": [{"reply": "kept"}]}) as gateway:
                    gateway.ask(prompt)
                    text = self.bundle(gateway)
                [stub] = json.loads(text)["stubs"]
                self.assertEqual(stub["when"], {**when, "model_is": "mock-model"})
                with Program(text) as gateway:
                    self.assertEqual(gateway.ask(prompt), "kept")

    def test_a_refusal_is_forced_on_the_whole_operation(self):
        keys = [{"name": "off", "secret": "sk-off", "state": "disabled"}]
        for method, path, operation in [("GET", "/v1/models", "list_models"), ("GET", "/v1/models/a", "list_models"),
                                        ("POST", CHAT, "chat_completions"), ("DELETE", "/v1/x", "DELETE /v1/x")]:
            with self.subTest(path), Program({"keys": keys}) as gateway:
                converse(gateway, request_of(gateway, None, path, method, "sk-off"))
                [failure] = json.loads(self.bundle(gateway))["failures"]
                self.assertEqual(failure["for"], {"operation": operation})

    def test_an_abandoned_reply_has_a_bundle_only_if_a_stub_gave_it(self):
        large = {"method": "POST", "path": "/v1/large", "reply": {"body": "x" * 12_000_000}}
        with Program({"operations": [large]}) as gateway:
            with socket.create_connection((gateway.data.hostname, gateway.data.port), timeout=program.TIMEOUT) as client:
                client.sendall(request_of(gateway, b"", "/v1/large"))
                client.recv(1)
            self.refused(gateway, 1, "its client left")

    def test_no_bundle_contains_the_control_token(self):
        with Program({"stubs": [{"reply": "Hi"}]}) as gateway:
            token = gateway.info["control_token"]
            gateway.post("/stubs", {"when": {"user_says": "back"}, "reply": f"You said {token}."})
            for exchange, text in (1, f"my token is {token}"), (2, f"say it back: {token}"):
                gateway.ask(text)
                self.assertNotIn(token[5:], self.bundle(gateway, exchange))

    def test_exchanges_without_a_bundle(self):
        with Program({"stubs": [{"reply": {"text": "a b", "faults": [{"after_tokens": 1, "effect": "stall"}]}}]}) as gateway:
            converse(gateway, b"what is this\r\n\r\n")
            self.refused(gateway, 1, "did not send HTTP")
            client = socket.create_connection((gateway.data.hostname, gateway.data.port), timeout=program.TIMEOUT)
            with client:
                client.sendall(request_of(gateway, stream()))
                client.recv(1)
                with self.assertRaises(Refused) as caught:
                    gateway.get("/journal/2/bundle")
                self.assertEqual(caught.exception.code, "no_bundle")
                self.assertIn("not ended", caught.exception.error["message"])
            with self.assertRaises(Refused) as caught:
                gateway.get("/journal/77/bundle")
            self.assertEqual((caught.exception.status, caught.exception.code), (404, "no_such_exchange"))
        with Program({"gateway": {"max_body": 2000}, "stubs": [{"reply": "x" * 5000}]}) as gateway:
            gateway.ask()
            self.refused(gateway, 1, "max_body")
        gzipped = base64.b64encode(b"\x1f\x8b\x08\x00rest").decode()
        with Program({"stubs": [{"reply": {"raw_reply": {"base64": gzipped}}}]}) as gateway:
            gateway.chat()
            self.refused(gateway, 1, "compressed")

    def test_each_scenario_of_the_catalogue(self):
        # These scenarios affect a connection without an exchange, never end, compress bodies, which could hide keys, or
        # differ in HTTP chunks, which a bundle does not keep.
        without = {"reset-on-accept", "closed-on-accept", "garbage-on-accept", "connection-refused",
                   "reset-on-first-accept", "pings-defeat-idle-timeout", "brotli-unasked",
                   "compressed-frame-per-event", "zstd-frame-per-event", "http-chunks-cut-events"}
        names = [line.split()[0] for line in program.execute("scenarios").stdout.splitlines() if line.strip()]
        self.assertGreater(len(names), 100)

        def play(name):
            with Program(None, "--scenario", name) as gateway:
                first = converse(gateway, request_of(gateway, stream()))
                eventually(self, lambda: gateway.get("/journal/1")["ended"], "the exchange did not end")
                _, _, text = gateway.send("GET", f"{API}/journal/1/bundle")
            with Program(text.decode()) as gateway:
                second = converse(gateway, request_of(gateway, stream()), QUIET + first.seconds)
            return first, second, text

        names = [name for name in names if name not in without]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:  # most of them mostly wait
            played = {name: pool.submit(play, name) for name in (names if program.IS_EXHAUSTIVE else names[::4])}
        for name, pair in played.items():
            with self.subTest(scenario=name):
                first, second, text = pair.result()
                self.assertEqual(second.comparable, first.comparable, text)

    def test_a_bundle_contains_the_findings(self):
        with Program({"stubs": [{"reply": "Hi"}]}) as gateway:
            gateway.chat(unheard_of=1)
            bundle = json.loads(self.bundle(gateway))
            self.assertEqual([finding["code"] for finding in bundle["bundle"]["findings"]], ["unknown_field"])


if __name__ == "__main__":
    program.main(threads=4)
