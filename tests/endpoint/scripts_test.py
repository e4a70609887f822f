"""Tests of the scripts of examples/scripts: each is served, and the received bytes are compared.

Usage: scripts_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
"""

import json
import re
import select
import socket
import sys
import time
import unittest
from pathlib import Path

import serve_test
from serve_test import TIMEOUT, Endpoint

SCRIPTS = Path(__file__).resolve().parents[2] / "examples/scripts"
QUIET = 0.2  # the seconds in which nothing more may arrive


class Answer:
    """The responses on a connection, with heads without Date and a body without HTTP chunk framing."""

    def __init__(self):
        self.heads = []
        self.body = ""

    @property
    def head(self):
        return self.heads[-1]


class Connection:
    """A connection for handwritten HTTP."""

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
        """Receives more bytes. Returns False at the end of the connection."""
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
        """Reads a response. `until` is the content of the last HTTP chunk to read."""
        answer = Answer()
        while not answer.heads or answer.head[0].startswith("HTTP/1.1 1"):
            lines = self.take_until(b"\r\n\r\n").decode("latin-1").split("\r\n")
            answer.heads.append([line for line in lines if not line.startswith("Date: ")])
        length = next((int(line[16:]) for line in answer.head if line.startswith("Content-Length: ")), None)
        if length is not None:
            body = self.take(length)
        else:
            assert "Transfer-Encoding: chunked" in answer.head, answer.head
            body = b""
            while True:
                data = self.take(int(self.take_until(b"\r\n"), 16))
                assert self.take(2) == b"\r\n"
                if not data:
                    break
                body += data
                if data == until:
                    break
        answer.body = without_time(body)
        return answer

    def is_quiet(self):
        return not self.pending and not select.select([self.socket], [], [], QUIET)[0]


def stream_head(content_type="text/event-stream; charset=utf-8"):
    return [["HTTP/1.1 200 OK", "Content-Type: " + content_type, "Transfer-Encoding: chunked"]]


def without_time(data):
    """Returns the text with each creation time replaced by 0."""
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
        return connection.read()

    def test_each_script_has_a_test(self):
        with open(__file__, encoding="utf-8") as this:
            text = this.read()
        names = sorted(path.name for path in SCRIPTS.glob("*.jsonc"))
        self.assertGreater(len(names), 0)
        self.assertEqual([name for name in names if f'self.serve("{name}")' not in text], [])

    def test_an_event_with_only_metadata(self):
        self.assert_stream(self.serve("meta-only-event.jsonc"), r"""
data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}

id: 7
retry: 3000

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":0,"delta":{"content":"lo."},"finish_reason":"stop"}]}

data: [DONE]

""")

    def test_a_comment_sent_as_data(self):
        self.assert_stream(self.serve("comment-as-data.jsonc"), r"""
data: : PROCESSING

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}

data: [DONE]

""")

    def test_an_error_and_choices_in_one_chunk(self):
        self.assert_stream(self.serve("error-with-choices.jsonc"), r"""
data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}

data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"content":" there."},"finish_reason":null}],"error":{"code":502,"message":"the provider is gone"}}

data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

""")

    def test_a_finish_reason_on_the_last_chunk_with_content(self):
        self.assert_stream(self.serve("finish-reason-with-content.jsonc"), r"""
data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}

data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"content":" there."},"finish_reason":"stop"}]}

data: [DONE]

""")

    def test_a_choice_index_that_grows(self):
        self.assert_stream(self.serve("growing-choice-index.jsonc"), r"""
data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":"one"},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":1,"delta":{"content":" two"},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":2,"delta":{"content":" three"},"finish_reason":"stop"}]}

data: [DONE]

""")

    def test_a_tool_name_after_its_arguments(self):
        self.assert_stream(self.serve("tool-name-after-arguments.jsonc"), r"""
data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"arguments":"{\"city\":"}}]},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"Paris\"}"}}]},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"get_weather"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

""")

    def test_a_usage_without_numbers(self):
        endpoint = self.serve("empty-usage.jsonc")
        self.assert_plain(self.ask(endpoint), r"""{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":0,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":{}}""")
        self.assert_stream(endpoint, r"""
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}

data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[],"usage":{}}

data: [DONE]

""", stream_options={"include_usage": True})

    def test_a_delta_that_is_null(self):
        self.assert_stream(self.serve("null-delta.jsonc"), r"""
data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello."},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"mock-model","choices":[{"index":0,"delta":null,"finish_reason":"stop"}]}

data: [DONE]

""")

    def test_a_next_line_character_without_a_charset(self):
        self.assert_stream(self.serve("next-line-without-charset.jsonc"), r"""
data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"content":"one<U+0085>two"},"finish_reason":null}]}

data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

""".replace("<U+0085>", "\x85"), content_type="text/event-stream")

    def test_a_connection_closed_as_it_is_reused(self):
        endpoint = self.serve("closed-when-reused.jsonc")
        connection = self.connect(endpoint)
        connection.send()
        self.assert_plain(connection.read(), r"""{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":0,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":1,"total_tokens":5}}""")
        self.assertTrue(connection.is_quiet(), "it stays open until it is used again")
        connection.send()
        self.assertFalse(connection.receive(), "FIN, and not a byte")
        other = self.connect(endpoint)
        for identifier in "k2YDISi5571Dq3W8Tmd8XBMO", "Iyo46HP3R43F0mduVMo1dX6M":  # the fault closes only one connection
            other.send()
            self.assert_plain(other.read(), r"""{"id":"chatcmpl-<ID>","object":"chat.completion","created":0,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":1,"total_tokens":5}}""".replace("<ID>", identifier))

    def test_a_connection_left_open_after_done(self):
        endpoint = self.serve("open-after-done.jsonc")
        connection = self.connect(endpoint)
        connection.send(stream=True)
        answer = connection.read(until=b"data: [DONE]\n\n")
        self.assertEqual(answer.heads, stream_head())
        self.assertEqual("\n" + answer.body, r"""
data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":null}]}

data: {"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion.chunk","created":0,"model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

""")
        self.assertEqual(self.ask(endpoint).head[0], "HTTP/1.1 200 OK", "others are served meanwhile")
        self.assertTrue(connection.is_quiet(), "neither the last chunk nor FIN")

    def test_103_before_the_reply(self):
        answer = self.ask(self.serve("early-hints.jsonc"))
        self.assertEqual(answer.heads, [["HTTP/1.1 103 Early Hints", "Link: </style.css>; rel=preload; as=style"],
                                        ["HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: 275"]])
        self.assertEqual(answer.body, r"""{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":0,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":1,"total_tokens":5}}""")

    def test_a_retry_after_with_a_fraction_a_negative_number_and_garbage(self):
        endpoint = self.serve("odd-retry-after.jsonc")
        for said, value in ("fraction", "1.5"), ("negative", "-1"), ("garbage", "soon"):
            answer = self.ask(endpoint, said)
            self.assertEqual(answer.heads, [["HTTP/1.1 429 Too Many Requests", "Content-Type: application/json",
                                             "Content-Length: 136", f"Retry-After: {value}"]])
            self.assertEqual(answer.body, r"""{"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again after the time in Retry-After.","type":"error"}}""")
            retried = self.ask(endpoint, said)
            self.assertEqual(retried.head[0], "HTTP/1.1 200 OK")
            self.assertEqual(json.loads(retried.body)["choices"][0]["message"]["content"], "Hello.")

    def content(self, answer):
        """Returns the texts of a stream's deltas, and its choices."""
        events = [line[6:] for line in re.split(r"\n\n", answer.body) if line]
        self.assertEqual(events[-1], "[DONE]")
        choices = [json.loads(event)["choices"][0] for event in events[:-1]]
        return [choice["delta"]["content"] for choice in choices if choice["delta"].get("content")], choices

    def test_a_broken_stream_and_the_complete_reply_to_the_retry(self):
        endpoint = self.serve("stream-broken-then-answer.jsonc")
        connection = self.connect(endpoint)
        connection.send(stream=True)
        while connection.receive():
            pass
        self.assertIn(b'"content":"Hello"', connection.pending)
        for absent in b"there", b"finish_reason\":\"stop", b"[DONE]", b"\r\n0\r\n":
            self.assertNotIn(absent, connection.pending)
        for _ in range(2):
            self.assertEqual(self.content(self.ask(endpoint, stream=True))[0], ["Hello", " there."])

    def test_a_text_truncated_at_its_limit(self):
        endpoint = self.serve("finish-reason-length.jsonc")
        choice = json.loads(self.ask(endpoint).body)["choices"][0]
        self.assertEqual((choice["message"]["content"], choice["finish_reason"]), ("Hello there, and", "length"))
        pieces, choices = self.content(self.ask(endpoint, stream=True))
        self.assertEqual(("".join(pieces), choices[-1]["finish_reason"]), ("Hello there, and", "length"))

    def test_done_inside_the_text(self):
        endpoint = self.serve("done-inside-text.jsonc")
        pieces = ["A stream ends with\n", "data: [DONE]\n\n", "[DONE]", " is no JSON."]
        self.assertEqual(self.content(self.ask(endpoint, stream=True))[0], pieces)
        self.assertEqual(json.loads(self.ask(endpoint).body)["choices"][0]["message"]["content"], "".join(pieces))

    def test_header_names_in_lower_case(self):
        endpoint = self.serve("header-names-in-lower-case.jsonc")
        for stream, fields, body in (
                (False, "content-type: application/json\r\ncontent-length: 98",
                 '{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}'),
                (True, "content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked",
                 '55\r\ndata: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\n\r\n'
                 "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")):
            connection = self.connect(endpoint)
            connection.send(stream=stream)
            while connection.receive():
                pass
            self.assertEqual(connection.pending.decode(),
                             f"HTTP/1.1 200 OK\r\n{fields}\r\nconnection: close\r\n\r\n{body}")

    def test_connections_that_close_after_each_reply(self):
        endpoint = self.serve("connection-close.jsonc")
        for _ in range(2):
            connection = self.connect(endpoint)
            connection.send()
            self.assertIn("Connection: close", connection.read().head)
            self.assertFalse(connection.receive(), "FIN, and not a byte")

    def test_a_live_stream_of_two_seconds(self):
        endpoint = self.serve("live-stream.jsonc")
        began = time.monotonic()
        pieces, _ = self.content(self.ask(endpoint, stream=True))
        self.assertGreaterEqual(time.monotonic() - began, 2)
        self.assertEqual(len(pieces), 40)

    def test_an_agent_s_loop_of_three_turns_with_two_tools(self):
        endpoint = self.serve("agent.jsonc")
        tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
                 for name in ("find_city", "get_weather")]
        messages = [{"role": "user", "content": "How is the weather in the capital of France?"}]

        def turn(expected, result=None):
            answer = self.ask(endpoint, messages, tools=tools)
            self.assert_plain(answer, expected)
            message = json.loads(answer.body)["choices"][0]["message"]
            messages.append(message)
            if result:
                messages.append({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": result})

        turn(r"""{"id":"chatcmpl-eHaw7JHlwilFiR1MRc4APuHm","object":"chat.completion","created":0,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"find_city","arguments":"{\"query\":\"capital of France\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":13,"completion_tokens":7,"total_tokens":20}}""", "Paris")
        turn(r"""{"id":"chatcmpl-F1CW2EnEfxjBwfBw1xHViZhJ","object":"chat.completion","created":0,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":24,"completion_tokens":5,"total_tokens":29}}""", "21")
        turn(r"""{"id":"chatcmpl-6N79VvWvsYN1TasLEq0OLy3o","object":"chat.completion","created":0,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"It is 21 degrees in Paris."},"finish_reason":"stop"}],"usage":{"prompt_tokens":33,"completion_tokens":6,"total_tokens":39}}""")

    def assert_stream(self, endpoint, expected, content_type="text/event-stream; charset=utf-8", **fields):
        answer = self.ask(endpoint, stream=True, **fields)
        self.assertEqual(answer.heads, stream_head(content_type))
        self.assertEqual("\n" + answer.body, expected)

    def assert_plain(self, answer, expected):
        length = len(expected.replace('"created":0,', '"created":1704067200,'))
        self.assertEqual(answer.heads, [["HTTP/1.1 200 OK", "Content-Type: application/json", f"Content-Length: {length}"]])
        self.assertEqual(answer.body, expected)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        serve_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
