"""Tests that no body and no schema crashes the program with small thread stacks, such as those of musl.

Usage: stacks_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
"""

import json
import os
import resource
import socket
import tempfile
import unittest

import control
import program

DEPTH = 500  # the limit is 512
LEVELS = 240  # the levels of subschemas, each of which adds an object and a list


def nested(opening, core, closing, depth=DEPTH):
    return opening * depth + core + closing * depth


def body(**fields):
    """Returns a request body. The values of `fields` are JSON texts."""
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
# The bodies, each with the expected response: 200, or the error code of a 400.
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


def limits(kibibytes, descriptors=None):
    """Limits the stack of new threads in a process."""
    def set_limits():
        resource.setrlimit(resource.RLIMIT_STACK, (kibibytes * 1024, kibibytes * 1024))
        if descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    return set_limits


class Stacks(unittest.TestCase):
    def start(self, *flags, **options):
        """Starts a gateway that writes each exchange to a file, with its body as JSON."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        gateway = control.Program(None, "--journal", os.path.join(folder.name, "journal"), *flags, **options)
        self.addCleanup(gateway.__exit__)
        return gateway.__enter__()

    def code_of(self, gateway, text):
        """Sends a body. Returns 200 or the error code."""
        status, answer = gateway.request("POST", "/v1/chat/completions", text)
        return status if status == 200 else json.loads(answer)["error"]["code"]

    def test_no_body_crashes_a_gateway_with_small_thread_stacks(self):
        for kibibytes in (128, 160):
            gateway = self.start(preexec_fn=limits(kibibytes))
            for name, (text, expected) in BODIES.items():
                with self.subTest(name, kibibytes=kibibytes):
                    self.assertEqual(self.code_of(gateway, text), expected)
                    self.assertIsNone(gateway.process.poll())
            gateway.process.terminate()
            self.assertEqual(gateway.end(), 0, gateway.log)

    def test_no_refused_body_crashes_it(self):
        gateway = self.start(preexec_fn=limits(128, descriptors=64))
        address = (gateway.data.hostname, gateway.data.port)
        users = []
        self.addCleanup(lambda: [user.close() for user in users])
        codes = []
        while codes[-5:] != ["connection_limit"] * 5:
            self.assertLess(len(users), 200, codes)
            users.append(socket.create_connection(address, program.TIMEOUT))
            codes.append(self.code_of(gateway, body()))
        for name, (text, _) in BODIES.items():
            with self.subTest(name):
                code = self.code_of(gateway, text)
                # If a descriptor has become free, it is used up and the request is sent again.
                while code != "connection_limit":
                    self.assertLess(len(users), 200, code)
                    users.append(socket.create_connection(address, program.TIMEOUT))
                    code = self.code_of(gateway, text)
                self.assertIsNone(gateway.process.poll())
        gateway.process.terminate()
        self.assertEqual(gateway.end(), 0, gateway.log)

    def test_no_reloaded_script_crashes_it(self):
        with control.Program({"stubs": [{"reply": "flat"}]}, preexec_fn=limits(128)) as gateway:
            gateway.write_script({"stubs": [{"reply": {"json_text": json.loads(LIST)}}]})
            control.eventually(self, lambda: gateway.ask() != "flat", "it is not read again")
            self.assertEqual(gateway.ask(), LIST)


if __name__ == "__main__":
    program.main()
