"""Tests of `mock-gateway import`, which converts a recording to a script. The script must serve the recorded bytes.

Usage: import_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library. The
recordings are in recordings/.
"""

import base64
import gzip
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import program
import serve_test
from serve_test import TIMEOUT, Endpoint

PROGRAM = serve_test.PROGRAM
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recordings")
KEY = b"sk-proj-Abcdefghij_0123456789-Klmnopqrst"
TOKEN = b"azure0123456789abcdef0123456789"
DONE = b"data: [DONE]\n\n"
SSE = "text/event-stream; charset=utf-8"

STREAMS = ["openai_stream.txt", "crlf_comments.txt", "cut.txt", "invalid_utf8.txt", "done_in_the_middle.txt",
           "no_done.txt", "done_without_blank_line.txt", "odd_lines.txt"]
# The number of replies in each file of curl's output, and the status of the last reply.
CURL = {"error_event.txt": (1, 200), "rate_limited.txt": (1, 429), "unavailable.txt": (1, 503),
        "early_hints.txt": (3, 200), "redirected.txt": (3, 401), "broken_off.txt": (1, 200)}


def recording(name):
    with open(os.path.join(FOLDER, name), "rb") as file:
        return file.read()


def masked(data):
    """Replaces the recordings' keys by asterisks."""
    for secret in KEY, TOKEN, b"sk-proj-abcdefghij0123456789":
        kept = 3 if secret.startswith(b"sk-") else 0
        data = data.replace(secret, secret[:kept] + b"*" * (len(secret) - kept))
    return data


def recorded_body(name):
    """Returns the bytes that must be served. Extracts them from the recording independently of the program."""
    data = masked(recording(name))
    if name not in CURL:
        return data
    body = data.split(b"\r\n\r\n", CURL[name][0])[-1]
    return re.sub(rb"(X-Checksum: 9f\r\n|curl: \(18\)[^\n]*\n)\Z", b"", body)


def table(name):
    """Returns the words of a table in the source of the program."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "../../endpoint/recorded_keys.cpp"), encoding="utf-8") as source:
        return re.findall(r'"([^"]*)"', re.search(name + r"\[\] = \{(.*?)\};", source.read(), re.DOTALL)[1])


def run_import(argument, data=None, *flags):
    return subprocess.run([PROGRAM, "import", argument, *flags], input=data, capture_output=True, timeout=TIMEOUT)


def imported(name):
    result = run_import(os.path.join(FOLDER, name))
    assert result.returncode == 0, result.stderr.decode()
    assert result.stderr == b"", result.stderr
    return json.loads(result.stdout)


def imported_bytes(data):
    result = run_import("-", data)
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout)


def reply_of(script):
    """Returns the reply of a script. Checks that the script has one stub, which matches everything."""
    assert [list(stub) for stub in script["stubs"]] == [["reply"]], script
    return script["stubs"][0]["reply"]


def replies_of(script):
    return [reply for stub in script["stubs"] for reply in stub.get("replies", [stub.get("reply")])]


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def whole_body(reply):
    if "json" in reply:
        return compact(reply["json"])
    return reply["body"].encode() if "body" in reply else base64.b64decode(reply["base64"], validate=True)


def body_of(reply):
    """Returns the body that the gateway sends for a reply."""
    if "raw_reply" in reply:
        return whole_body(reply["raw_reply"])
    dialect = reply.get("sse", {})
    body = b"\xef\xbb\xbf" if dialect.get("byte_order_mark") else b""
    for element in reply["chunks"]:
        [(kind, value)] = element.items()
        if kind == "json":
            body += b"data: " + compact(value) + b"\n\n"
        else:
            body += value.encode() if kind == "raw_bytes" else base64.b64decode(value, validate=True)
    return body + (DONE if dialect.get("done", True) else b"")


def har_entry(answer="Hi", status=200, url="http://x/v1/chat/completions", method="POST", asked=None, headers=(),
              **more):
    """Returns an entry of a HAR file. `headers` are the headers of the response."""
    request = {"method": method, "url": url, "postData": {"text": json.dumps(asked or {})}, **more.pop("request", {})}
    response = {"status": status, "headers": [{"name": name, "value": value} for name, value in headers],
                "content": {"text": answer} if isinstance(answer, str) else answer, **more.pop("response", {})}
    return {"request": request, "response": response, **more}


def har(*entries):
    return json.dumps({"log": {"entries": entries}}).encode()


class WhatItPrints(unittest.TestCase):
    maxDiff = None

    def test_the_beginning_of_a_stream_is_recognized(self):
        for data in (b": a comment\n\n", b":\n", b"data: 1\n\n", b"data:1\n\n", b"event: a\n\n", b"id: 1\n\n",
                     b"retry: 1\n\n",
                     b"\n\r\ndata: 1\n\n", b"\xef\xbb\xbfdata: 1\n\n", b"data: 1", b"data: 1\r\r"):
            with self.subTest(data):
                script = imported_bytes(data)
                self.assertIn("standard input: the body of a stream; ", script["comment"])
                self.assertEqual(body_of(reply_of(script)), data)
        for data in (b"data\n\n", b"dat: 1\n\n", b"Data: 1\n\n", b"note: 1\n\n", b"one\ndata: 1\n\n", b"data 1: 2\n\n"):
            with self.subTest(data):
                self.assertIn(b"unknown kind of file", run_import("-", data).stderr)

    def test_json_that_is_too_deep_for_a_script_is_kept_as_text(self):
        def nested(depth):
            return '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"

        for text, kind in ((nested(256), "json"), (nested(257), "raw_bytes"), ('{"a":"' + "[{" * 300 + '"}', "json"),
                           ('{"a":"' + '\\"[' * 300 + '"}', "json"),
                           ('{"a":[' + ",".join(["[]", "{}"] * 300) + "]}", "json"),
                           ('{"a":"\\\\","b":' + "[" * 256 + "]" * 256 + "}", "raw_bytes")):
            with self.subTest(text[:20], kind=kind):
                data = f"data: {text}\n\n".encode() + DONE
                reply = reply_of(imported_bytes(data))
                self.assertEqual([list(element) for element in reply["chunks"]], [[kind]])
                self.assertEqual(body_of(reply), data)

    def test_repeated_fields_become_a_list_and_invalid_ones_are_dropped(self):
        head = (b"HTTP/1.1 200 OK\nContent-Type: text/plain\nX-A: 1\nx-a:2\nX-a:\t 3 \t\nX-Bad: \xff\nX-Null: a\0b\n"
                b"Not a name: 4\n: 5\nX-Empty:\n\tfolded\n\nHi")
        script = imported_bytes(head)
        self.assertEqual(reply_of(script), {"raw_reply": {"status": 200, "body": "Hi", "content_type": "text/plain"},
                                            "headers": {"X-A": ["1", "2", "3"], "X-Empty": " folded"}})
        for value in b"text/\0plain", b"text/\xffplain":
            reply = reply_of(imported_bytes(b"HTTP/1.1 200 OK\r\nContent-Type: " + value + b"\r\n\r\nHi"))
            self.assertEqual(reply["raw_reply"]["content_type"], "")
        for name in "X-Bad", "X-Null":
            self.assertIn(f"header {name} is left out, since its value is not UTF-8 or has a control",
                          script["comment"])

    def test_a_content_length_that_is_not_one_to_nine_digits_is_ignored(self):
        for length, body in [("000000002", "Hi"), ("0000000002", "Hi there"), ("2x", "Hi there"),
                             ("", "Hi there")]:
            head = f"HTTP/1.1 500 No\r\nContent-Length: {length}\r\n\r\nHi there".encode()
            self.assertEqual(reply_of(imported_bytes(head))["raw_reply"]["body"], body, length)

    def test_a_coding_that_curl_has_decoded_is_dropped(self):
        for coding, body in (("br", b"Hi"), ("identity", b"\xff"), ("gzip", b"\xff"), ("X-GZIP", b"\xff"),
                             ("deflate", b"\xc3\xa9")):
            reply = reply_of(imported_bytes(f"HTTP/1.1 500 No\r\nContent-Encoding: {coding}\r\n\r\n".encode() + body))
            self.assertEqual((whole_body(reply["raw_reply"]), reply.get("headers")), (body, None), coding)

    def test_notes_beyond_twenty_and_masked_keys_are_counted(self):
        for count, told, more in [(20, 20, ""), (21, 20, " And 1 more note of this kind."),
                                  (23, 20, " And 3 more notes of this kind.")]:
            entries = [har_entry("[]", method="GET", url=f"http://x/v1/{number}",
                                 headers=[("Content-Type", "a/json"), ("X-A", "a\0b")]) for number in range(count)]
            comment = imported_bytes(har(har_entry(asked={"messages": []}), *entries))["comment"]
            self.assertEqual(comment.count(" Note: "), told, count)
            self.assertTrue(comment.endswith("is not UTF-8 or has a control character." + more), comment[-200:])
            self.assertIn(f"a HAR file of {count + 1} entries.", comment)
        comment = imported_bytes(har(har_entry(KEY.decode() + " " + KEY.decode(),
                                               headers=[("x-key", KEY.decode())])))["comment"]
        self.assertIn("a HAR file of 1 entry.", comment)
        self.assertTrue(comment.endswith("Keys became asterisks in 3 places."), comment)

    def test_a_file_whose_name_is_not_utf_8_is_unnamed(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, shown in (b"\xff.txt", "a file"), ("é.txt".encode(), "é.txt"):
                path = os.path.join(os.fsencode(folder), name)
                with open(path, "wb") as file:
                    file.write(DONE)
                script = json.loads(run_import(path).stdout)
                self.assertTrue(script["comment"].startswith(f"Imported from {shown}: "), script["comment"])

    def test_a_script_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([PROGRAM, "import", os.path.join(FOLDER, "body.json")], stdout=full,
                                    stderr=subprocess.PIPE, timeout=TIMEOUT)
        self.assertEqual((result.returncode, result.stderr),
                         (2, b"mock-gateway: import: the script could not be written\n"))

    def test_a_stream_becomes_chunks(self):
        def event(delta, finish=None):
            return {"json": {"id": "chatcmpl-B9", "object": "chat.completion.chunk", "created": 1741569952,
                             "model": "gpt-4o-mini",
                             "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}}

        self.assertEqual(imported("openai_stream.txt"), {
            "mock_gateway": 1,
            "comment": "Imported from openai_stream.txt: the body of a stream; neither status nor headers are in the "
                       "file, so it is served with 200.",
            "stubs": [{"reply": {"chunks": [event({"role": "assistant", "content": ""}), event({"content": "Grüße"}),
                                            event({"content": " 世界 🌍"}), event({}, "stop")]}}]})

    def test_the_output_of_curl_becomes_a_raw_reply(self):
        self.assertEqual(imported("rate_limited.txt"), {
            "mock_gateway": 1,
            "comment": "Imported from rate_limited.txt: the output of curl -i, status 429.",
            "stubs": [{"reply": {
                "raw_reply": {"status": 429, "body": recorded_body("rate_limited.txt").decode(),
                              "content_type": "application/json; charset=utf-8"},
                "headers": {"retry-after": "20", "retry-after-ms": "19973", "x-should-retry": "true",
                            "x-ratelimit-limit-requests": "3", "x-ratelimit-remaining-requests": "0",
                            "x-ratelimit-reset-requests": "20s", "x-request-id": "req_4f2",
                            "vary": ["Accept-Encoding", "Origin"]}}}]})

    def test_the_last_reply_counts_and_early_hints_belong_to_it(self):
        self.assertEqual(reply_of(imported("early_hints.txt")), {
            "raw_reply": {"status": 200, "json": json.loads(recorded_body("early_hints.txt"))},
            "early_hints": {"Link": ["</a.css>; rel=preload", "</b.css>; rel=preload"]}})
        script = imported("redirected.txt")
        self.assertEqual(reply_of(script)["headers"], {"WWW-Authenticate": "Bearer"})
        self.assertEqual(reply_of(script)["raw_reply"]["status"], 401)
        self.assertIn("the last of 3 replies", script["comment"])

    def test_a_stream_without_plain_events_is_raw(self):
        reply = reply_of(imported("crlf_comments.txt"))
        self.assertEqual([list(element) for element in reply["chunks"]], [["raw_bytes"]] * 5)
        self.assertEqual(reply["chunks"][2], {"raw_bytes": ": keep-alive\r\n\r\n"})
        self.assertEqual(reply["sse"], {"done": False})
        reply = reply_of(imported("odd_lines.txt"))
        self.assertEqual(reply, {"chunks": [
            {"json": {"a": 1}}, {"raw_bytes": "\n\n"}, {"raw_bytes": "data:{\"a\":2}\n\n"},
            {"raw_bytes": "data: { \"a\": 3 }\n\n"}, {"raw_bytes": "data: {\"a\":4}\rdata: more\r\r"},
            {"raw_bytes": "retry: 10\nid\ndata: [DONE]\n\n"}], "sse": {"byte_order_mark": True, "done": False}})
        kinds = [list(element)[0] for element in reply_of(imported("invalid_utf8.txt"))["chunks"]]
        self.assertEqual(kinds, ["json", "raw_base64", "json"])

    def test_the_end_of_a_stream_is_kept(self):
        def end(name):
            reply = reply_of(imported(name))
            return reply["chunks"][-1], reply.get("sse")

        self.assertEqual(end("done_in_the_middle.txt"),
                         ({"raw_bytes": "data: {\"usage\": {\"total_tokens\": 3}}\n\n"}, {"done": False}))
        self.assertEqual(end("done_without_blank_line.txt"), ({"raw_bytes": "data: [DONE]\n"}, {"done": False}))
        self.assertEqual(end("no_done.txt")[1], {"done": False})
        self.assertEqual(end("cut.txt"), ({"raw_bytes": 'data: {"id":"chatcmpl-B9","choices":[{"delta":{"cont'},
                                          {"done": False}))
        self.assertEqual(reply_of(imported_bytes(DONE)), {"chunks": [{"raw_bytes": DONE.decode()}],
                                                          "sse": {"done": False}})

    def test_a_broken_connection_breaks_again(self):
        script = imported("broken_off.txt")
        self.assertEqual(reply_of(script)["faults"], [{"at_end": True, "effect": "close_connection"}])
        self.assertIn("curl: (18) transfer closed", script["comment"])

    def test_each_recording_keeps_its_bytes(self):
        for name in [*STREAMS, *CURL, "body.json", "key_in_deltas.txt"]:
            with self.subTest(name):
                body = body_of(reply_of(imported(name)))
                if name == "key_in_deltas.txt":
                    self.assertEqual(len(body), len(recording(name)))
                else:
                    self.assertEqual(body, recorded_body(name))

    def test_every_byte_and_every_line_end_is_kept(self):
        events = [b"data: {\"a\":1}", b"data: \xff\x00\x1b", b"data: {\"a\":1.50}", b"data: {\"a\":1,\"a\":2}", b": ping",
                  b"data: {\"a\":\"\\u00e9\"}", b"data: " + bytes(range(128, 256)), b"data: {\"a\":-0}",
                  b"data: {\"a\":18446744073709551616}", "data: {\"a\":\"\u202e\u009b\ufeff\"}".encode(),
                  b"data: " + b"[" * 100_000, b'data: {"a":' + b"[" * 400 + b"]" * 400 + b"}", b"data: null", b"data: {}"]
        for line_end in b"\n", b"\r\n", b"\r":
            for end in b"", line_end, line_end * 2, line_end * 3 + DONE, DONE, DONE[:-1], DONE * 2:
                data = (line_end * 2).join(events) + end
                with self.subTest(line_end=line_end, end=end):
                    self.assertEqual(body_of(reply_of(imported_bytes(data))), data)
                    self.assertEqual(body_of(reply_of(imported_bytes(
                        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + data))), data)

    def test_a_recording_cannot_control_the_terminal(self):
        result = run_import("-", "data: {\"a\":\"\u202e\u009b\u2028\ufeff\x7f é\"}\n\n".encode())
        self.assertNotRegex(result.stdout.decode(), "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\ufeff]")
        self.assertIn("é", result.stdout.decode())

    def test_the_head_decides_the_headers_of_the_reply(self):
        def reply(head, body=b"data: 1\n\n"):
            return reply_of(imported_bytes(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body))

        self.assertEqual(reply("HTTP/1.1 200 OK")["sse"], {"done": False, "content_type": ""})
        self.assertEqual(reply(f"HTTP/1.1 200 OK\nContent-Type: {SSE}")["sse"], {"done": False})
        self.assertEqual(reply("HTTP/2 429 \ncontent-type: text/event-stream"),
                         {"raw_reply": {"status": 429, "body": "data: 1\n\n", "content_type": "text/event-stream"}})
        self.assertEqual(reply("HTTP/1.1 200 OK\nContent-Type: text/event-stream", b"{}")["chunks"], [{"raw_bytes": "{}"}])
        self.assertEqual(reply("HTTP/1.1 200 OK\nContent-Type: text/event-stream", b"")["raw_reply"]["body"], "")
        self.assertEqual(reply("HTTP/1.1 500 No\nX-Folded: a\n b\nDate: x\nAge: 1", b"")["headers"],
                         {"X-Folded": "a b", "Age": "1"})
        # curl --compressed keeps the field but decompresses the body.
        self.assertNotIn("headers", reply("HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: 5"))

    def test_trailers_that_curl_prints_after_the_body_are_noted(self):
        head = b"HTTP/1.1 500 No\r\n"
        with_trailer = imported_bytes(head + b"Trailer: X-Sum\r\n\r\nHi\r\nX-Sum: 1\r\n")
        self.assertIn("curl prints them after the body; delete them there", with_trailer["comment"])
        self.assertNotIn("trailer", imported_bytes(head + b"\r\nHi\r\nX-Sum: 1\r\n")["comment"])

    def test_the_length_decides_the_end_of_the_body(self):
        head = b"HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\n"
        script = imported_bytes(head + b"oops\ntotal 0.3s")
        self.assertEqual(reply_of(script)["raw_reply"]["body"], "oops")
        self.assertIn("11 bytes after the body", script["comment"])
        self.assertIn("2 of 4 bytes", imported_bytes(head + b"oo")["comment"])
        script = imported_bytes(head + b"oops" + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        self.assertEqual(reply_of(script)["raw_reply"], {"status": 200, "body": "ok", "content_type": ""})
        self.assertIn("Note: the last of 2 replies in the file is the one that counts.", script["comment"])

    def test_a_json_body_is_a_reply_and_another_status_is_noted(self):
        self.assertEqual(reply_of(imported("body.json")),
                         {"raw_reply": {"status": 200, "json": json.loads(recording("body.json"))}})
        script = imported_bytes(b'{"error": {"message": "no"}}')
        self.assertEqual(reply_of(script)["raw_reply"], {"status": 200, "body": '{"error": {"message": "no"}}'})
        self.assertIn("record it with curl -i", script["comment"])
        for plain in b'{"choices": []}', b'["error"]':
            self.assertNotIn("is an error", imported_bytes(plain)["comment"])

    def test_the_first_and_the_last_final_status_are_served(self):
        for status in 200, 599:
            script = imported_bytes(b"HTTP/1.1 %d Odd\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno" % status)
            self.assertEqual(reply_of(script)["raw_reply"]["status"], status)


class HarFiles(unittest.TestCase):
    maxDiff = None

    def test_an_error_and_then_a_success_are_replies_of_one_stub(self):
        script = imported("retried.har")
        # A message contains an image, which the default acceptance rejects.
        self.assertEqual(script["gateway"], {"models": ["gpt-4o-mini", "gpt-4o"], "acceptance": "lenient"})
        self.assertEqual(list(script), ["mock_gateway", "comment", "gateway", "stubs"])
        first, second = script["stubs"]
        self.assertEqual(first["when"], {"user_says": {"equals": "Say hello."}, "model_is": "gpt-4o-mini",
                                         "stream_is": False})
        failure, answer = first["replies"]
        self.assertEqual(failure, {
            "raw_reply": {"status": 429, "body": recorded_body("rate_limited.txt").decode()},
            "headers": {"retry-after": "20"}, "first_token_after": "32ms"})
        self.assertEqual(answer, {
            "raw_reply": {"status": 200, "json": json.loads(recorded_body("early_hints.txt"))},
            "headers": {"x-request-id": "req_5", "vary": ["Origin", "Accept-Encoding"]}, "first_token_after": "812ms"})
        self.assertEqual(second["when"], {"user_says": {"equals": "And in German?"}, "model_is": "gpt-4o",
                                          "stream_is": True})
        self.assertEqual(body_of(second["reply"]), recording("openai_stream.txt"))
        self.assertEqual(second["reply"]["first_token_after"], "400ms")
        self.assertNotIn("sse", second["reply"])

    def test_base64_other_operations_and_skipped_entries(self):
        script = imported("base64.har")
        stream, denied = script["stubs"]
        self.assertEqual(stream["when"], {"user_says": {"starts_with": "My key is sk-"}, "stream_is": True})
        body = recording("openai_stream.txt")[:-len(DONE)] + b'data: {"choices":[{"delta":{"content":"\xff"}}]}\n\n'
        self.assertEqual(body_of(stream["reply"]), body)
        self.assertEqual(denied["when"], {"user_says": {"equals": "Again."}})
        self.assertEqual(script["operations"], [{
            "method": "POST", "path": "/v1/images/generations",
            "reply": {"status": 200, "json": {"created": 1, "data": [{"b64_json": "iVBORw0KGgo="}]},
                      "headers": {"x-ms-region": "Sweden Central"}}}])
        for said in ["entry 1 (OPTIONS /openai/deployments/fast/chat/completions) is skipped: only GET and POST",
                     "entry 2 (GET /v1/models) is skipped: it went to another host",
                     "entry 6 (POST /openai/deployments/fast/chat/completions) is skipped: no answer came"]:
            self.assertIn(said, script["comment"])

    def test_more_specific_stubs_come_first_and_a_repeated_request_is_the_next_reply(self):
        def entry(answer, **request):
            return {"request": {"method": "POST", "url": "http://x/v1/chat/completions",
                                "postData": {"text": json.dumps(request)}},
                    "response": {"status": 200, "headers": [], "content": {"text": answer}}}

        hi = [{"role": "user", "content": "Hi"}]
        script = imported_bytes(json.dumps({"log": {"entries": [
            entry("1", messages=[]), entry("2", model="m", messages=hi), entry("3", model="m", messages=hi, stream=True),
            entry("4", messages=[]), entry("5", model="m", messages=hi)]}}).encode())
        self.assertEqual([[reply["raw_reply"]["body"] for reply in stub.get("replies", [stub.get("reply")])]
                          for stub in script["stubs"]], [["3"], ["2", "5"], ["1", "4"]])
        self.assertNotIn("when", script["stubs"][2])
        self.assertEqual(script["gateway"], {"models": ["m"]})


    def test_refusals_of_the_recorded_service_make_the_acceptance_lenient(self):
        hi = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        for status, lenient in [(200, False), (401, False), (429, False), (500, False), (400, True), (422, True)]:
            entry = {"request": {"method": "POST", "url": "http://x/v1/chat/completions",
                                 "postData": {"text": json.dumps(hi)}},
                     "response": {"status": status, "headers": [], "content": {"text": '{"error": {"message": "no"}}'}}}
            with self.subTest(status):
                script = imported_bytes(json.dumps({"log": {"entries": [entry]}}).encode())
                self.assertEqual(script["gateway"], {"models": ["m"], **({"acceptance": "lenient"} if lenient else {})})
                self.assertEqual("the acceptance is lenient" in script["comment"], lenient)


    def skipped(self, *entries):
        """Imports a chat completion and these entries. Returns the reasons for skipped entries, and the operations in
        the script."""
        script = imported_bytes(har(har_entry(url="http://X:80/base/v1/chat/completions?a=/b#c"), *entries))
        said = re.findall(r"Note: entry (\d+) \([^)]*\) is skipped: (.*?)\.(?= Note:|$)", script["comment"])
        operations = [(one["method"], one["path"]) for one in script.get("operations", [])]
        return {int(number): why for number, why in said}, operations

    def test_only_get_and_post_requests_to_other_paths_become_operations(self):
        def get(url, answer="[1]", method="GET", headers=(("Content-Type", "Application/JSON; a=b"),)):
            return har_entry(answer, url=url, method=method, headers=headers)

        own = "the gateway answers this itself"
        for entry, why, path in [
                (get("HTTP://x:80/base/v1/files?b#c"), None, "/v1/files"),
                (get("x:80/base/v1/files#c"), None, "/v1/files"),
                (get("http://x:80/base/v1/"), None, "/v1/"), (get("http://x:80/base/v1/models"), own, None),
                (get("http://x:80/base/v1/models/a"), own, None),
                (get("http://x:80/base/v1/models/a/b"), None, "/v1/models/a/b"),
                (get("http://x:80/base/v1/models/"), None, "/v1/models/"),
                (get("http://x:80/base/v1/modelsx"), None, "/v1/modelsx"),
                (get("http://x:80/base/v1/models/", method="POST"), None, "/v1/models/"),
                (get("http://x:80/base/v2/files"), "it is not under the base URL of the chat completions", None),
                (get("http://x:80/base/v1"), "it is not under the base URL of the chat completions", None),
                (get("http://x:80/base/v1x/files"), "it is not under the base URL of the chat completions", None),
                (get("http://x/base/v1/files"), "it went to another host than the chat completions", None),
                (get("http://x:80/base/v1/files", method="PUT"), "only GET and POST become operations", None),
                (get("http://x:80/base/v1/files", headers=()), "its answer is not JSON", None)]:
            with self.subTest(entry["request"]):
                self.assertEqual(self.skipped(entry),
                                 ({2: why} if why else {}, [(entry["request"]["method"], path)] if path else []))
        here = "http://x:80/base/v1/files"
        several = get(here), get(here, method="POST"), get(here, "[2]"), get(here, "[3]"), get(here + "/a")
        self.assertEqual(self.skipped(*several),
                         ({}, [("GET", "/v1/files"), ("POST", "/v1/files"), ("GET", "/v1/files/a")]))
        script = imported_bytes(har(har_entry(url="http://X:80/base/v1/chat/completions"), *several))
        self.assertEqual([[reply["json"] for reply in one.get("replies", [one.get("reply")])] for one in script["operations"]],
                         [[[1], [2], [3]], [[1]], [[1]]])
        script = imported_bytes(har(har_entry(url="http://x/chat/completions"),
                                    get("http://x/embeddings", method="POST")))
        self.assertEqual(script["operations"][0]["path"], "/v1/embeddings")

    def test_a_note_says_why_a_reply_is_not_in_the_file(self):
        unknown = {"Content-Type": "application/json"}.items()
        cases = [(dict(status=0), "no answer came"), (dict(status=-1), "no answer came"),
                 (dict(status=1000), "no answer came"),
                 (dict(status="200"), "no answer came"), (dict(status=999), "its status 999 is not a final HTTP status"),
                 (dict(status=0, response={"_error": "net::ERR_FAILED"}), "no answer came (net::ERR_FAILED)"),
                 (dict(answer={"text": "x", "encoding": "base65"}),
                  'its content says that its encoding is "base65", and it'),
                 (dict(answer={"text": "x", "encoding": "base64"}),
                  'its content says that its encoding is "base64", and it')]
        for answer, said in cases:
            with self.subTest(answer):
                entry = har_entry(**answer, url="http://X:80/base/v1/files", method="GET", headers=unknown)
                why, operations = self.skipped(entry)
                self.assertEqual((why[2][:len(said)], operations), (said, []))
        for answer, status in [({"size": 0}, 401), ({"size": -1}, 204), ({}, 304), ({"size": 5, "text": ""}, 200)]:
            self.assertEqual(reply_of(imported_bytes(har(har_entry(answer, status))))["raw_reply"]["body"], "", answer)
        bodiless = har_entry({"size": -1}, 401, response={"bodySize": 0})
        self.assertEqual(reply_of(imported_bytes(har(bodiless)))["raw_reply"]["body"], "")
        result = run_import("-", har(har_entry(status=0)))
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"none of the entries of this HAR file can be served: entry 1 (POST /v1/chat/completions) is "
                      b"skipped: no answer came\n", result.stderr)

    def test_missing_bodies_are_an_error_unless_they_are_skipped(self):
        def asks(text):
            return {"messages": [{"role": "user", "content": text}]}

        served = har_entry("one", asked=asks("one"))
        for content in ({"size": -1, "mimeType": "text/event-stream", "_file": "a.txt"}, {"size": 9}, {"size": 0}, {}):
            missing = [har_entry(content, asked=asks("two")), har_entry(content, asked=asks("three"))]
            data = har(missing[0], served, missing[1])
            result = run_import("-", data)
            self.assertEqual((result.returncode, result.stdout), (2, b""), content)
            names = "entries 1 (POST /v1/chat/completions), 3 (POST /v1/chat/completions)"
            self.assertIn(f"the bodies of the answers are not in the file for {names}; save them", result.stderr.decode())
            self.assertIn(b"--skip-missing-bodies", result.stderr)
            result = run_import("-", data, "--skip-missing-bodies")
            script = json.loads(result.stdout)
            self.assertEqual([reply["raw_reply"]["body"] for reply in replies_of(script)], ["one"])
            self.assertIn(f"Note: {names} are skipped: the body of its answer is not in the file.", script["comment"])
        # Other requests of a page are no reason to refuse its HAR file.
        page = har_entry({"size": 3, "mimeType": "text/html"}, method="GET", url="http://x/v1/")
        self.assertEqual(len(imported_bytes(har(served, page))["stubs"]), 1)

    def test_every_entry_is_served_or_named(self):
        entries = [har_entry(f"{number}", method="PUT" if number % 2 else "POST",
                             asked={"messages": [{"role": "user", "content": f"{number}"}]}) for number in range(200)]
        script = imported_bytes(har(*entries))
        [named] = re.findall(r"Note: entries ([^.]*) are skipped: only GET and POST", script["comment"])
        self.assertEqual([int(re.match(r"\d+", name)[0]) - 1 for name in named.split(", ")], list(range(1, 200, 2)))
        self.assertEqual([reply["raw_reply"]["json" if "json" in reply["raw_reply"] else "body"]
                          for reply in replies_of(script)], [str(number) for number in range(0, 200, 2)])

    def test_requests_that_differ_in_system_prompt_or_model_are_separate_stubs(self):
        def entry(answer, system, role="system", **more):
            messages = [{"role": role, "content": system}] if system else []
            return har_entry(answer, asked={"messages": [*messages, {"role": "user", "content": "Hi"}], **more})

        script = imported_bytes(har(entry("1", "Be brief."), entry("2", "Be long.", "developer"), entry("3", None),
                                    entry("4", "Be brief."), entry("5", "Be brief.", model="m"),
                                    entry("6", "My key is " + KEY.decode())))
        self.assertEqual([(stub["when"].get("system_says"), stub["when"].get("model_is"),
                           [reply["raw_reply"]["body"] for reply in stub.get("replies", [stub.get("reply")])])
                          for stub in script["stubs"]],
                         [({"equals": "Be brief."}, None, ["1", "4"]), ({"equals": "Be long."}, None, ["2"]),
                          (None, "m", ["5"]), ({"starts_with": "My key is sk-"}, None, ["6"]), (None, None, ["3"])])

    def test_bodies_that_playwright_saves_beside_the_file(self):
        with tempfile.TemporaryDirectory() as outside:
            folder = os.path.join(outside, "har")
            os.mkdir(folder)
            asked = json.dumps({"messages": [{"role": "user", "content": "Hi"}]}).encode()
            for path, data in [("har/a.txt", recording("openai_stream.txt")), ("har/b.json", asked), ("c.txt", b"secret")]:
                with open(os.path.join(outside, path), "wb") as file:
                    file.write(data)
            os.symlink("../c.txt", os.path.join(folder, "link.txt"))
            path = os.path.join(folder, "a.har")

            def run(name, where=path):
                entry = har_entry({"size": -1, "mimeType": "text/event-stream", "_file": name},
                                  request={"postData": {"text": "", "_file": "b.json"}})
                with open(path, "wb") as file:
                    file.write(har(entry))
                return subprocess.run([PROGRAM, "import", where], capture_output=True, timeout=TIMEOUT, cwd=folder)

            for where in path, "a.har", "./a.har":
                [stub] = json.loads(run("a.txt", where).stdout)["stubs"]
                self.assertEqual(stub["when"], {"user_says": {"equals": "Hi"}})
                self.assertEqual(body_of(stub["reply"]), recording("openai_stream.txt"))
            for name in "../c.txt", os.path.join(outside, "c.txt"), "link.txt", "/dev/zero":
                result = run(name)
                self.assertEqual((result.returncode, result.stdout), (2, b""), name)
                self.assertNotIn(b"secret", result.stderr)
            self.assertIn(b"outside the folder of the HAR file", run("link.txt").stderr)
            self.assertIn(b"the bodies of the answers are not in the file for entry 1 (POST", run("none.txt").stderr)

    def test_the_parts_of_a_body_that_polly_saves(self):
        parts = [base64.b64encode(part).decode() for part in (b"data: 1\n\nda", b"ta: 2\n\n", b"")]
        for text in json.dumps(parts), base64.b64encode(b"data: 1\n\ndata: 2\n\n").decode():
            entry = har_entry({"text": text, "encoding": "base64", "mimeType": "text/event-stream"})
            self.assertEqual(body_of(reply_of(imported_bytes(har(entry)))), b"data: 1\n\ndata: 2\n\n")
        zipped = base64.b64encode(b"\x1f\x8b\x08\x00").decode()
        result = run_import("-", har(har_entry({"text": json.dumps([zipped]), "encoding": "base64"})))
        self.assertIn(b"entry 1 (POST /v1/chat/completions) is skipped: its body is compressed", result.stderr)

    def test_a_large_file_takes_time_in_proportion_to_its_size(self):
        def seconds(count):
            entries = [har_entry(str(number), asked={"model": f"m{number}", "messages": [
                {"role": "user", "content": f"question {number}"}]}) for number in range(count)]
            for number, entry in enumerate(entries):
                entry["request"]["headers"] = [{"name": "Authorization", "value": f"Signed signature-{number:020}"}]
            data = har(*entries)
            before = os.times()
            self.assertEqual(run_import("-", data).returncode, 0)
            after = os.times()
            return after.children_user - before.children_user

        few = min(seconds(1000) for _ in range(3))
        self.assertLess(seconds(8000), max(few, 0.02) * 24)

    def test_without_content_type_the_media_type_recorded_by_the_browser_is_used(self):
        for kind, headers, shown in [("text/html", (), "text/html"), ("x-unknown", (), ""), ("", (), ""),
                                     ("text/html", [("content-type", "text/css")], "text/css")]:
            entry = har_entry({"text": "Hi", "mimeType": kind}, headers=headers)
            self.assertEqual(reply_of(imported_bytes(har(entry)))["raw_reply"]["content_type"], shown)

    def test_bodies_in_base64_are_decoded(self):
        def body(text):
            return imported_bytes(har(har_entry({"text": text, "encoding": "BASE64"})))

        for data in (b"", b"a", b"ab", b"abc", b"abcd", bytes(range(256)), bytes(reversed(range(256)))):
            text = base64.b64encode(data).decode()
            for form in text, text.rstrip("="), "\r\n".join(text):
                self.assertEqual(whole_body(reply_of(body(form))["raw_reply"]), data, form)
        for text in ["Q", "QQ=", "QQ===", "Q=Q=", "QUJD=", "====", "=", "QUJDR", "QQ-_", "Q Q=", "QQ=Q", "@@@@", "[[[[",
                     "``==", "{{==", "//::"]:
            with self.subTest(text):
                self.assertIn(b'encoding is "base64", and it is not base64',
                              run_import("-", har(har_entry({"text": text, "encoding": "base64"}))).stderr)

    def test_a_request_that_the_default_acceptance_may_refuse_makes_it_lenient(self):
        def says(role, content="Hi"):
            return {"messages": [{"role": role, "content": content}]}

        text, picture = {"type": "text", "text": "a"}, {"type": "image_url"}
        function = {"type": "function", "function": {"name": "f"}}
        for asked, lenient in [(says("system"), False), (says("user"), False), (says("assistant"), False),
                               (says("tool"), False),
                               (says("developer"), True), (says("function"), True), (says("user", [text]), False),
                               (says("user", [text, picture]), True), (says("user", None), False),
                               ({**says("user"), "tools": [function]}, False),
                               ({**says("user"), "tools": [function, {"type": "custom"}]}, True)]:
            script = imported_bytes(har(har_entry(asked=asked)))
            self.assertEqual(script.get("gateway"), {"acceptance": "lenient"} if lenient else None, asked)

    def test_the_conditions_of_a_stub_for_its_request(self):
        def when(**asked):
            return imported_bytes(har(har_entry(asked=asked)))["stubs"][0].get("when")

        def user(content):
            return {"role": "user", "content": content}

        parts = [{"type": "text", "text": "c"}, {"type": "image_url", "text": "x"}, {"type": "text", "text": "d"}]
        self.assertEqual(when(messages=[user("a"), user(parts), {"role": "assistant", "content": "b"}]),
                         {"user_says": {"equals": "cd"}})
        self.assertIsNone(when(messages=[{"role": "system", "content": "a"}], model="", stream=1))
        self.assertIsNone(when(messages="a"))
        self.assertEqual(when(messages=[user(f"is {KEY.decode()} mine")]), {"user_says": {"starts_with": "is sk-"}})
        self.assertEqual(when(messages=[user("gsk_0123456789abcdefghij")]), {"user_says": {"starts_with": "gsk_"}})
        asked = {"request": {"headers": [{"name": "x-api-key", "value": TOKEN.decode()}]}}
        script = imported_bytes(har(har_entry(asked={"model": "m", "messages": [user(TOKEN.decode())]}, **asked)))
        self.assertEqual(script["stubs"][0]["when"], {"model_is": "m"}, "all of the text is a key")
        script = imported_bytes(har(har_entry(request={"postData": {"text": "no JSON"}})))
        self.assertNotIn("when", script["stubs"][0])
        self.assertIn("entry 1 (POST /v1/chat/completions) has no JSON as its request, so that its stub",
                      script["comment"])

    def test_credentials_of_requests_are_masked_in_answers(self):
        secret = "abcdefghijklmnop"
        for where, value, hidden in [
                ("headers/Authorization", "Bearer " + secret, True), ("headers/Authorization", secret, True),
                ("headers/api-key", secret, True), ("headers/api-key", secret[1:], False),
                ("headers/X-Other", secret, False),
                ("headers/Cookie", secret, False), ("queryString/key", secret, True),
                ("queryString/api_key", secret, True),
                ("queryString/API-Key", secret, True), ("queryString/access_token", secret, True),
                ("queryString/token", secret, True),
                ("queryString/other", secret, False), ("queryString/key", secret[1:], False)]:
            with self.subTest(where, value=value):
                kind, name = where.split("/")
                entry = har_entry(f"You are {secret}.", request={kind: [{"name": name, "value": value}]})
                shown = reply_of(imported_bytes(har(entry)))["raw_reply"]["body"]
                self.assertEqual(shown, f"You are {'*' * 16 if hidden else secret}.")
        entry = har_entry("task-12 sk-123 sk-12_ sk-12. sk-12",
                          request={"headers": [{"name": "Authorization", "value": "Bearer sk-12"}]})
        self.assertEqual(reply_of(imported_bytes(har(entry)))["raw_reply"]["body"],
                         "task-12 sk-123 sk-12_ sk-**. sk-**")

    def test_the_recorded_delay_becomes_the_time_to_the_first_token(self):
        for wait, shown in [(0.5, "1ms"), (0.6, "1ms"), (1.4, "1ms"), (1.6, "2ms"), (1000, "1000ms"),
                            (86_399_999, "86399999ms"), (86_400_000, None), (0.49, None), (0, None), (-1, None), ("7", None)]:
            entry = {"request": {"method": "POST", "url": "http://x/v1/chat/completions", "postData": {"text": "{}"}},
                     "response": {"status": 200, "headers": [], "content": {"text": "Hi"}}, "timings": {"wait": wait}}
            with self.subTest(wait):
                script = imported_bytes(json.dumps({"log": {"entries": [entry]}}).encode())
                self.assertEqual(reply_of({"stubs": script["stubs"]}).get("first_token_after"), shown)


class WhatCurlSays(unittest.TestCase):
    def test_messages_of_curl_tell_how_the_connection_ended(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        data = b'data: {"choices":[]}\n\n'
        reset, closed = "reset_connection", "close_connection"
        for message, effect in [("(56) Recv failure: Connection reset by peer", reset), ("(56) Recv failure", closed),
                                ("(18) transfer closed with outstanding read data remaining", closed),
                                ("(92) HTTP/2 stream 1 was not closed cleanly", closed),
                                ("(28) Operation timed out", None), ("(23) reset of an output file", None)]:
            with self.subTest(message):
                script = imported_bytes(head + data + f"curl: {message}\n".encode())
                reply = reply_of(script)
                self.assertEqual([fault["effect"] for fault in reply.get("faults", [])], [effect] if effect else [])
                self.assertEqual(body_of(reply).removesuffix(DONE), data)
                self.assertIn("curl said", script["comment"])

    def test_lines_that_are_no_message_of_curl_belong_to_the_body(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
        for text in ["curl: (56) no line end", "curl: (x) reset\n", "curl: (56)\n", "curl: (56) a\nb\n",
                     "curl: (56) " + "x" * 289 + "\n", "curl: 56 reset\n"]:
            with self.subTest(text):
                script = imported_bytes(head + text.encode())
                self.assertNotIn("curl said", script["comment"])
                self.assertEqual(whole_body(reply_of(script)["raw_reply"]).decode(), text)
        script = imported_bytes(head + b"curl: (56) \xff\n")
        self.assertEqual(whole_body(reply_of(script)["raw_reply"]), b"curl: (56) \xff\n")

    def test_a_message_after_a_complete_reply_is_only_noted(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
        for message in "(18) transfer closed", "(56) " + "x" * 288:
            script = imported_bytes(head + f"Hi\ncurl: {message}\n".encode())
            self.assertEqual(reply_of(script),
                             {"raw_reply": {"status": 200, "body": "Hi\n", "content_type": "text/plain"}})
            self.assertIn(f'Note: curl said "curl: {message}", which is no part of the body.', script["comment"])


class Layout(unittest.TestCase):
    def test_short_values_are_on_one_line_and_long_ones_indented(self):
        long = {f"x-{number}": "v" * 40 for number in range(3)}
        head = "".join(f"{name}: {value}\r\n" for name, value in long.items())
        result = run_import("-", f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{head}\r\nHi".encode())
        lines = result.stdout.decode().splitlines()
        fields = [f'          "{name}": "{value}"' for name, value in long.items()]
        self.assertEqual(lines[0], "{")
        self.assertEqual(lines[1], '  "mock_gateway": 1,')
        self.assertEqual(lines[3:], [
            '  "stubs": [', "    {", '      "reply": {',
            '        "raw_reply": {"status": 200, "body": "Hi", "content_type": "text/plain"},',
            '        "headers": {', *(field + "," for field in fields[:-1]), fields[-1], "        }", "      }", "    }",
            "  ]", "}"])

    def test_a_line_has_at_most_110_characters(self):
        for width, fits in (110, True), (111, False):
            value = "v" * (width - len('        {"X-A": ""}'))
            result = run_import("-", f"HTTP/1.1 200 OK\r\nX-A: {value}\r\n\r\nHi".encode())
            self.assertEqual(f'        "headers": {{"X-A": "{value}"}}\n' in result.stdout.decode(), fits)
            long = f'        "headers": {{\n          "X-A": "{value}"\n        }}\n'
            self.assertEqual(long in result.stdout.decode(), not fits)

    def test_each_chunk_is_a_line(self):
        result = run_import("-", b'data: {"a": 1}\n\ndata: {"a":' + b" " * 200 + b"2}\n\n" + DONE)
        lines = result.stdout.decode().splitlines()
        start = next(number for number, line in enumerate(lines) if line.strip().startswith('"chunks"'))
        self.assertEqual(lines[start], '        "chunks": [')
        self.assertEqual(len(json.loads("[" + lines[start + 1].strip() + lines[start + 2].strip() + "]")), 2)
        self.assertRegex(lines[start + 1], r"\A {10}\{")
        self.assertEqual(lines[start + 3], "        ]")


class Keys(unittest.TestCase):
    def test_no_script_contains_a_key_and_lengths_stay(self):
        for name in os.listdir(FOLDER):
            with self.subTest(name):
                result = run_import(os.path.join(FOLDER, name))
                for secret in KEY, TOKEN, b"abcdefghij0123456789", b"0123456789-Klm", b"secret-cookie", b"cfuvid":
                    self.assertNotIn(secret, result.stdout)
                for reply in replies_of(json.loads(result.stdout)):
                    self.assertNotIn(KEY, body_of(reply))
                    self.assertNotIn(TOKEN, body_of(reply))
        self.assertIn(b"Access denied for " + b"*" * len(TOKEN), body_of(replies_of(imported("base64.har"))[1]))
        self.assertIn("Keys became asterisks in 1 place.", imported("redirected.txt")["comment"])

    def test_a_key_split_by_a_stream_is_found(self):
        deltas = [element["json"]["choices"][0]["delta"]["content"]
                  for element in reply_of(imported("key_in_deltas.txt"))["chunks"]]
        self.assertEqual(deltas, ["Your key is sk", "-" + "*" * 11, "*" * 13, "*" * 13, ". Keep it."])

    def test_a_key_split_by_a_stream_is_found_in_each_streamed_field(self):
        def event(delta):
            return b"data: " + compact({"choices": [{"index": 0, "delta": delta}]}) + b"\n\n"

        def of_a_tool(name):
            return lambda piece: {"tool_calls": [{"index": 0, "function": {name: piece}}]}

        fields = {name: lambda piece, name=name: {name: piece}
                  for name in ("content", "reasoning_content", "reasoning", "refusal", "text")}
        fields.update({name: of_a_tool(name) for name in ("arguments", "input")})
        self.assertEqual(sorted(fields), sorted(table("delta_fields")))
        pieces = ["It is sk", "-proj-Abcdef", "ghij_01234567", "89-Klmnopqrst", ". Keep it."]
        for name, delta in fields.items():
            with self.subTest(name):
                script = imported_bytes(b"".join(map(event, map(delta, pieces))) + DONE)
                shown = [element["json"]["choices"][0]["delta"] for element in reply_of(script)["chunks"]]
                masked_pieces = ["It is sk", "-" + "*" * 11, "*" * 13, "*" * 13, ". Keep it."]
                self.assertEqual(shown, [delta(piece) for piece in masked_pieces])

    def test_keys_of_other_issuers_and_words_that_are_not_keys(self):
        def text(body):
            return reply_of(imported_bytes(b"data: " + body.encode() + b"\n\n"))["chunks"][0]["raw_bytes"][6:-2]

        for key, kept in [("sk-ant-api03-0123456789abcdef", "sk-"), ("gsk_0123456789abcdefghij", "gsk_"),
                          ("hf_0123456789abcdefghijklmn", "hf_"), ("AIzaSy0123456789abcdefghijklmno", "AIza")]:
            shown = kept + "*" * (len(key) - len(kept))
            for around in "%s", "key=%s.", "[\"%s\"]", "line\\n%s", "%%20%s&a", "Bearer %s":
                self.assertEqual(text(around % key), around % shown)
        for word in ["sk-learn", "task-force-of-many-people-1", "hf_hub_download_with_progress", "sk-", "sk-fading-circle"]:
            self.assertEqual(text(word), word)

    def test_each_issuer_s_keys_have_at_least_twenty_characters_and_a_digit(self):
        def field(value):
            script = imported_bytes(b"HTTP/1.1 200 OK\r\nX-Said: " + value.encode() + b"\r\n\r\nHi")
            return reply_of(script)["headers"]["X-Said"]

        issuers = ["sk-", "gsk_", "xai-", "pplx-", "hf_", "nvapi-", "AIza", "ghp_", "github_pat_", "AKIA"]
        self.assertEqual(sorted(issuers), sorted(table("beginnings")))
        for kept in issuers:
            rest = "a" * (19 - len(kept)) + "1"
            shown = kept + "*" * len(rest)
            around = ["{}", "a {} b", "%20{}", "\\n{}", "\\u000a{}", "={}", "({})"]
            for form in around:
                self.assertEqual(field(form.format(kept + rest)), form.format(shown))
            for form in "a{}", "9{}", "%2{}", "u000a{}", "\\u00a{}", "%200{}", "\\nn{}":
                self.assertEqual(field(form.format(kept + rest)), form.format(kept + rest))
            self.assertEqual(field(kept + rest[1:]), kept + rest[1:], "19 characters")
            letters = kept + "a" * 40
            self.assertEqual(field(letters), "sk-" + "*" * 40 if kept == "sk-" else letters)
            for mark in "+/-_":
                expected = shown if kept == "sk-" else kept + rest
                self.assertEqual(field(f"a{mark}{kept}{rest}"), f"a{mark}{expected}")
            self.assertEqual(field(f"{kept}{rest} {kept}{rest}"), f"{shown} {shown}")

    def test_a_key_split_by_a_stream_is_found_between_escapes_and_spaces(self):
        data = (b'data: {"content" \t: "a\\u00e9 \\n sk-proj-Ab"}\n\ndata: {"content": "cdefghij0123"}\n\n'
                b'data: {"content":"456789\\" b"}\n\ndata: {"content": 1}\n\ndata: {"content"}\n\n')
        shown = data.replace(b"proj-Ab", b"*" * 7).replace(b"cdefghij0123", b"*" * 12).replace(b"456789", b"*" * 6)
        self.assertEqual(body_of(reply_of(imported_bytes(data))), shown)
        # An escape is not part of a key.
        for escape in b"\\n", b"\\u00e9", b'\\"':
            data = b'data: {"content": "sk-abcdefgh' + escape + b'"}\n\ndata: {"content": "ijklmnopqrstuvw"}\n\n'
            self.assertEqual(body_of(reply_of(imported_bytes(data))), data)

    def test_messages_contain_no_key(self):
        for data in [b'{"a": "' + KEY, KEY, b"HTTP/1.1 200 OK\r\n" + KEY + b"\r\n\r\n"]:
            result = run_import("-", data)
            self.assertEqual(result.returncode, 2)
            self.assertNotIn(b"Abcdefghij", result.stderr)


class Cassettes(unittest.TestCase):
    """Tests of examples/cassette_to_har.py."""

    CONVERTER = os.path.join(FOLDER, "../../../examples/cassette_to_har.py")
    STREAM = b'data: {"choices":[]}\n\n' + DONE
    ASKED = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}'
    VCRPY = f"""interactions:
- request:
    body: '{ASKED}'
    headers: {{authorization: [Bearer {KEY.decode()}]}}
    method: POST
    uri: https://api.example.com/v1/chat/completions
  response:
    body:
      string: !!binary {base64.b64encode(gzip.compress(STREAM, mtime=0)).decode()}
    headers: {{Content-Type: [text/event-stream], Content-Encoding: [gzip]}}
    status: {{code: 200, message: OK}}
version: 1
"""
    GO_VCR = f"""---
version: 2
interactions:
- id: 0
  request:
    body: '{ASKED}'
    headers: {{Authorization: [Bearer {KEY.decode()}]}}
    url: https://api.example.com/v1/chat/completions
    method: POST
  response:
    body: "data: {{\\"choices\\":[]}}\\n\\ndata: [DONE]\\n\\n"
    headers: {{Content-Type: [text/event-stream]}}
    status: 200 OK
    code: 200
"""

    def converted(self, cassette):
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.write(cassette)
            file.flush()
            result = subprocess.run([sys.executable, self.CONVERTER, file.name], capture_output=True, timeout=TIMEOUT)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout

    def test_a_converted_cassette_has_each_byte_and_no_key(self):
        request = {"method": "POST", "uri": "http://x/v1/chat/completions", "body": self.ASKED}
        headers = {"Content-Type": "text/event-stream"}
        answers = [{"status": {"code": 200}, "headers": headers, "body": {"string": self.STREAM.decode()}},
                   {"status_code": 200, "headers": headers, "content": self.STREAM.decode()},
                   {"code": 200, "headers": headers, "body": {"base64_string": base64.b64encode(self.STREAM).decode()}}]
        cassettes = [json.dumps({"interactions": [{"request": request, "response": one}]}) for one in answers]
        if importlib.util.find_spec("yaml"):
            cassettes += [self.VCRPY, self.GO_VCR]
        for cassette in cassettes:
            with self.subTest(cassette[:30]):
                [stub] = imported_bytes(self.converted(cassette))["stubs"]
                self.assertEqual(stub["when"], {"user_says": {"equals": "Hi"}, "model_is": "m"})
                self.assertEqual(body_of(stub["reply"]), self.STREAM)

    def test_an_answer_without_a_body_is_missing(self):
        interaction = {"request": {"method": "POST", "url": "http://x/v1/chat/completions"}, "response": {"code": 200}}
        result = run_import("-", self.converted(json.dumps({"interactions": [interaction]})))
        self.assertIn(b"the bodies of the answers are not in the file for entry 1", result.stderr)


class LinesOfJson(unittest.TestCase):
    def test_chunks_as_lines_are_a_stream(self):
        chunks = ['{"id": "a", "choices": [{"delta": {"content": "é"}}]}', '{"choices":[],"usage":{}}',
                  '{"error": {"message": "overloaded"}}']
        for end, separator in [("", "\n"), ("\n", "\r\n"), ("\n\n", "\n\n")]:
            script = imported_bytes((separator.join(chunks) + end).encode())
            self.assertEqual(body_of(reply_of(script)), "".join(f"data: {one}\n\n" for one in chunks).encode() + DONE)
            self.assertIn("the chunks of a stream as lines of JSON", script["comment"])
        one = b'{"object":"chat.completion.chunk","choices":[]}'
        self.assertEqual(body_of(reply_of(imported_bytes(one + b"\n"))), b"data: " + one + b"\n\n" + DONE)

    def test_a_line_that_is_no_chunk_is_named(self):
        chunk = b'{"choices": []}'
        for lines, number in [([chunk, b'{"choices": ['], 2), ([chunk, b"", b"[1]"], 3), ([b'{"run": "a"}', chunk], 1),
                              ([b'{"object": "chat.completion", "choices": []}'] * 2, 1)]:
            result = run_import("-", b"\n".join(lines))
            self.assertEqual((result.returncode, result.stdout), (2, b""))
            self.assertIn(f"line {number} is not a chunk of a stream", result.stderr.decode())


class WhatIsRefused(unittest.TestCase):
    def test_the_file_of_another_tool_is_named(self):
        for file, said in [
                ({"fixtures": [{"match": {"userMessage": "x"}, "response": {}}]}, "an aimock fixture file"),
                ({"mappings": []}, "a WireMock mapping"), ({"openapi": "3.1.0", "paths": {}}, "an OpenAPI document"),
                ({"info": {"name": "a", "schema": "https://schema.getpostman.com/x"}, "item": []}, "a Postman collection"),
                ([{"object": "chat.completion.chunk", "choices": []}], "this is a list of chunks; write one chunk per line")]:
            for data in json.dumps(file).encode(), json.dumps(file, indent=2).encode():
                result = run_import("-", data)
                self.assertEqual((result.returncode, result.stdout), (2, b""), file)
                self.assertIn(said, result.stderr.decode())
        for cassette in b"interactions:\n- request:\n", b"---\nversion: 2\ninteractions:\n":
            self.assertIn(b"cassette_to_har.py", run_import("-", cassette).stderr)

    def test_a_file_larger_than_scripts_may_be(self):
        result = run_import("/dev/zero")
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertIn(b"/dev/zero is larger than 64 MiB", result.stderr)
        if not os.environ.get("MOCK_GATEWAY_TEST_ALL"):
            return
        grows = har_entry({"text": base64.b64encode(b"\1" * 12_000_000).decode(), "encoding": "base64"})
        self.assertIn(b"its script would be larger than 64 MiB", run_import("-", har(grows)).stderr)

    def test_the_message_explains_the_error(self):
        def har_of(count):
            return har(*(har_entry(method="GET", url=f"http://x/{number}") for number in range(1, count + 1)))

        listed = {"log": {"entries": [{"request": {"method": "GET", "url": "https://x/v1/models"}}]}}
        for data, said in [
                (b"", "the file is empty; import understands"),
                (b"\n \n", "the file is empty"),
                (b"Once upon a time", "unknown kind of file; import understands"),
                (b"* Trying 127.0.0.1\nHTTP/1.1 200 OK\r\n\r\n", "without -v"),
                (b"<html></html>", "unknown kind of file"),
                (b'{"a": 1,\n "b" 2}', "not JSON at line 2, column 6: "),
                (b'{"log": {"entries": [', "was it cut off"),
                (b'{"a": 1e999}', "column 7: a number beyond the range of double"),
                *((b"HTTP" + line + b"\r\n\r\n", "unknown kind of file") for line in (
                    b"/ 200 OK", b"/a 200 OK", b"/1.1 20 OK", b"/1.1 2000 OK", b"/1.1 2x0 OK", b"/1.1", b"S/1.1 200 OK",
                    b"/1.1 ")),
                (b"HTTP/1.1 099 No\r\n\r\n", "its status 99 is not a final HTTP status"),
                (b"HTTP/1.1 199 No\r\n\r\n", "the interim reply 199 is not followed by another"),
                (b"HTTP/1.1 600 No\r\n\r\n", "its status 600 is not a final HTTP status"),
                (b"HTTP/1.1 304 No\r\n\r\nbody", "a reply of status 304 has no body"),
                (b"HTTP/1.1 200 OK\r\n a: b\r\n\r\n", "line 2 is in the head of a reply"),
                (b"HTTP/1.1 302 No\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n",
                 "the head that begins in line 4 has no end"),
                (har_of(6), "among its 6 entries: " + ", ".join(f"entry {n} (GET /{n})" for n in range(1, 6)) + "; re"),
                (har_of(0), "among its 0 entries; record"),
                (b"[" * 1000 + b"]" * 1000, "more than 256 levels"),
                (b'{"mock_gateway": 1, "stubs": []}', "a script already"),
                (b'{"model": "m", "messages": []}', "the body of a request"),
                (json.dumps(listed).encode(),
                 "no POST to …/chat/completions among its 1 entry: entry 1 (GET /v1/models)"),
                (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n", "the head that begins in line 1 has no end"),
                (b"HTTP/1.1 200 OK\r\n> GET /\r\n\r\n", "line 2 is in the head of a reply"),
                (b"HTTP/1.1 100 Continue\r\n\r\n", "the interim reply 100 is not followed by another"),
                (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "its status 101 is not a final HTTP status"),
                (b"HTTP/1.1 204 No Content\r\n\r\nbody", "a reply of status 204 has no body"),
                (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00", "curl --compressed"),
                (b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n\xff\x8b", "curl --compressed")]:
            with self.subTest(data[:40]):
                result = run_import("-", data)
                self.assertEqual((result.returncode, result.stdout), (2, b""))
                self.assertRegex(result.stderr.decode(), r"\Amock-gateway: import: standard input: [^\n]+\n\Z")
                self.assertIn(said, result.stderr.decode())

    def test_an_unreadable_file(self):
        for path, said in [("/no/such/file", "No such file or directory"), (FOLDER, "Is a directory")]:
            result = run_import(path)
            self.assertEqual((result.returncode, result.stdout), (2, b""))
            self.assertIn(f"cannot read {path}: {said}", result.stderr.decode())


class Answer:
    """Returns a complete response, read from a plain socket until the connection ends."""

    def __init__(self, endpoint, body, path="/v1/chat/completions"):
        data = json.dumps(body).encode()
        head = (f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {endpoint.key}\r\nConnection: close\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n")
        with socket.create_connection(("127.0.0.1", endpoint.port), timeout=TIMEOUT) as connection:
            connection.sendall(head.encode() + data)
            rest = connection.makefile("rb").read()
        self.interim = []
        while True:
            head, rest = rest.split(b"\r\n\r\n", 1)
            lines = head.decode("latin-1").split("\r\n")
            self.status = int(lines[0].split(" ")[1])
            self.headers = [tuple(line.split(": ", 1)) for line in lines[1:]]
            if self.status >= 200:
                break
            self.interim.append((self.status, self.headers))
        self.ended = True
        self.body = rest
        if ("Transfer-Encoding", "chunked") in self.headers:
            self._join_chunks(rest)

    def _join_chunks(self, rest):
        self.body = b""
        while rest:
            size, rest = rest.split(b"\r\n", 1)
            length = int(size, 16)
            self.body += rest[:length]
            assert rest[length:length + 2] == b"\r\n", rest[:80]
            rest = rest[length + 2:]
            if length == 0:
                assert rest == b"", rest[:80]
                return
        self.ended = False

    def values(self, name):
        return [value for field, value in self.headers if field.lower() == name.lower()]


CHAT = {"model": "mock-model", "messages": [{"role": "user", "content": "Hi"}]}


class WhatIsServed(unittest.TestCase):
    """Tests that imported scripts, served with --script, send the bytes of the recording."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def serve(self, result):
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        path = os.path.join(self.folder.name, "imported.json")
        with open(path, "wb") as file:
            file.write(result.stdout)
        return Endpoint("--script", path)

    def test_each_recording(self):
        for name in [*STREAMS, *CURL, "body.json"]:
            with self.subTest(name), self.serve(run_import(os.path.join(FOLDER, name))) as endpoint:
                for body in CHAT, {**CHAT, "stream": True}:
                    answer = Answer(endpoint, body)
                    self.assertEqual(answer.body, recorded_body(name))
                    self.assertEqual(answer.status, CURL.get(name, (1, 200))[1])
                    self.assertEqual(answer.ended, name != "broken_off.txt")
                    if name in STREAMS:
                        self.assertEqual(answer.values("content-type"), [SSE])

    def test_relevant_headers(self):
        with self.serve(run_import(os.path.join(FOLDER, "rate_limited.txt"))) as endpoint:
            answer = Answer(endpoint, CHAT)
            for name, values in [("content-type", ["application/json; charset=utf-8"]), ("retry-after", ["20"]),
                                 ("x-ratelimit-reset-requests", ["20s"]), ("x-request-id", ["req_4f2"]),
                                 ("vary", ["Accept-Encoding", "Origin"]), ("set-cookie", [])]:
                self.assertEqual(answer.values(name), values)
            self.assertEqual(len(answer.values("date")), 1)
            self.assertEqual(answer.values("content-length"), [str(len(answer.body))])
        with self.serve(run_import(os.path.join(FOLDER, "unavailable.txt"))) as endpoint:
            answer = Answer(endpoint, CHAT)
            self.assertEqual(answer.values("content-type"), ["text/html"])
            self.assertEqual(answer.values("retry-after"), ["Fri, 07 Mar 2025 18:01:00 GMT"])
        with self.serve(run_import(os.path.join(FOLDER, "error_event.txt"))) as endpoint:
            self.assertEqual(Answer(endpoint, CHAT).values("content-type"), ["text/event-stream"])

    def test_early_hints_come_before_the_reply(self):
        with self.serve(run_import(os.path.join(FOLDER, "early_hints.txt"))) as endpoint:
            self.assertEqual(Answer(endpoint, CHAT).interim, [(103, [("Link", "</a.css>; rel=preload"),
                                                                     ("Link", "</b.css>; rel=preload")])])

    def test_a_har_file_answers_its_own_requests_in_their_order(self):
        for name in "retried.har", "base64.har":
            with self.subTest(name), self.serve(run_import(os.path.join(FOLDER, name))) as endpoint:
                asked = 0
                for entry in json.loads(recording(name))["log"]["entries"]:
                    request, response = entry["request"], entry["response"]
                    if request["method"] != "POST" or response["status"] == 0:
                        continue
                    content = response["content"]
                    body = content["text"].encode()
                    body = base64.b64decode(body) if content.get("encoding") else body
                    sent = {"model": "mock-model", **json.loads(request["postData"]["text"])}
                    answer = Answer(endpoint, sent, re.sub(r".*?/(chat|images)/", r"/v1/\1/", request["url"]).split("?")[0])
                    self.assertEqual((answer.status, answer.body), (response["status"], masked(body)))
                    asked += 1
                self.assertEqual(asked, 3)

    @unittest.skipUnless(shutil.which("curl"), "without curl")
    def test_output_of_curl_from_a_running_gateway(self):
        for flags in [], ["--fail", "429"], ["--scenario", "usage-chunk-without-choices"]:
            with self.subTest(flags), Endpoint(*flags) as endpoint:
                shown = subprocess.run(
                    ["curl", "-siN", "--noproxy", "*", endpoint.base_url + "/chat/completions",
                     "-H", "Authorization: Bearer " + endpoint.key, "-H", "Content-Type: application/json",
                     "-d", json.dumps({**CHAT, "stream": True})], capture_output=True, timeout=TIMEOUT)
                self.assertEqual(shown.returncode, 0)
            with self.serve(run_import("-", shown.stdout)) as endpoint:
                answer = Answer(endpoint, {**CHAT, "stream": True})
                head, body = shown.stdout.split(b"\r\n\r\n", 1)
                self.assertEqual((answer.status, answer.body), (int(head.split(b" ")[1]), body))


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = serve_test.PROGRAM = sys.argv[1]
    program.main(threads=4)
