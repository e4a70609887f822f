"""Tests of the local endpoint where threads have little stack, as with musl: no body and no schema ends it.

Usage: stacks_test.py [PROGRAM], else the program that MOCK_GATEWAY_BIN names. Python's standard library only.
"""

import http.client
import json
import resource
import subprocess
import unittest

import program

DEPTH = 500  # of 512 that are read
LEVELS = 240  # of subschemas, each of which is an object in a list


def nested(opening, core, closing, depth=DEPTH):
    return opening * depth + core + closing * depth


def body(**fields):
    """The fields are JSON already."""
    return "".join(
        ['{"model":"mock-model","messages":[{"role":"user","content":"Hi"}]', *(f',"{k}":{v}' for k, v in fields.items()), "}"]
    )


def with_schema(schema):
    return body(response_format=f'{{"type":"json_schema","json_schema":{{"name":"n","schema":{schema}}}}}')


def tool(parameters):
    return body(tools=f'[{{"type":"function","function":{{"name":"f","parameters":{parameters}}}}}]', tool_choice='"required"')


LIST = nested("[", "", "]")
OBJECT = nested('{"a":', "1", "}")
TEXT = '{"type":"string"}'
# What each gets: 200, or the code of its 400.
BODIES = {
    "a list in metadata": (body(metadata=LIST), 200),
    "an object in metadata": (body(metadata=OBJECT), 200),
    "an unknown field": (body(unknown=OBJECT), 200),
    "messages": (f'{{"model":"mock-model","messages":{LIST}}}', "invalid_type"),
    "content": (f'{{"model":"mock-model","messages":[{{"role":"user","content":{LIST}}}]}}', "invalid_type"),
    "parameters of a tool": (tool(OBJECT), 200),
    "properties": (
        with_schema(nested('{"type":"object","required":["a"],"properties":{"a":', TEXT, "}}", 150)),
        "unsupported_schema",
    ),
    "properties that an instance can have": (
        with_schema(nested('{"type":"object","required":["a"],"properties":{"a":', TEXT, "}}", 60)),
        200,
    ),
    "allOf": (with_schema(nested('{"allOf":[', TEXT, "]}", LEVELS)), 200),
    "anyOf": (with_schema(nested('{"anyOf":[', TEXT, "]}", LEVELS)), "unsupported_schema"),
    "not": (with_schema(nested('{"not":', TEXT, "}", 480)), "unsupported_schema"),
    "const": (with_schema(f'{{"const":{nested("[", "", "]", 490)}}}'), 200),
    "enum": (with_schema(f'{{"enum":[{nested("[", "", "]", 490)}]}}'), 200),
    "uniqueItems": (
        with_schema(f'{{"type":"array","uniqueItems":true,"minItems":1,"items":{{"const":{nested("[", "", "]", 490)}}}}}'),
        200,
    ),
    "groups of a pattern": (with_schema(f'{{"type":"string","pattern":"{nested("(", "a", ")", 480)}"}}'), "unsupported_schema"),
    "ways of a pattern": (with_schema(f'{{"type":"string","pattern":"{nested("(a|", "a", ")*", 400)}"}}'), "unsupported_schema"),
    "more than is read": (body(metadata=nested("[", "", "]", 5000)), "invalid_json"),
    "arguments of a call": (
        '{"model":"mock-model","messages":[{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[{"id":"c",'
        f'"type":"function","function":{{"name":"f","arguments":"{LIST}"}}}}]}},'
        '{"role":"tool","tool_call_id":"c","content":"x"}]}',
        200,
    ),
}


class Stacks(unittest.TestCase):
    def ask_all(self, kibibytes):
        """Asks everything of one process with stacks of this size, which lives on."""
        limit = kibibytes * 1024
        command = [program.PROGRAM, "--port", "0", "--key", "sk-of-the-test"]
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (limit, limit)),
        ) as process:
            try:
                for line in process.stdout:
                    if "/v1" in line:
                        break
                port = int(line.split("127.0.0.1:")[1].split("/")[0])
                for name, (text, expected) in BODIES.items():
                    with self.subTest(name, kibibytes=kibibytes):
                        self.assertEqual(self.ask(port, text), expected)
                        self.assertIsNone(process.poll())
            finally:
                process.terminate()
                process.stdout.read()

    def ask(self, port, text):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=program.TIMEOUT)
        headers = {"Authorization": "Bearer sk-of-the-test", "Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", text, headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        return 200 if response.status == 200 else answer["error"]["code"]

    def test_no_body_ends_a_gateway_whose_system_gives_threads_little_stack(self):
        for kibibytes in (128, 160):
            self.ask_all(kibibytes)


if __name__ == "__main__":
    program.main()
