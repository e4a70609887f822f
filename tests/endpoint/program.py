"""What the tests of the program share: how it is started, and what a client under test does.

Python's standard library only.
"""

import json
import os
import subprocess
import sys
import unittest

PROGRAM = os.environ.get("MOCK_GATEWAY_BIN", "mock-gateway")
TIMEOUT = 30  # seconds: a net for what hangs, never a pace

# What a client under test begins with: `request` and `chat` give the status, whatever it is.
CLIENT = """
import http.client, json, os, signal, socket, sys, urllib.parse
base = os.environ["OPENAI_BASE_URL"]
address = urllib.parse.urlsplit(base)
def request(method, path, body=None, **headers):
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json", **headers}
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status
def chat(**fields):
    body = {"model": "mock-model", "messages": [{"role": "user", "content": "Hi"}], **fields}
    return request("POST", address.path + "/chat/completions", json.dumps(body).encode())
"""


def python(code):
    """A command that runs the code as a client under test."""
    return [sys.executable, "-c", CLIENT + code]


def execute(*words, **options):
    """Runs the program to its end."""
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT, **options}
    return subprocess.run([PROGRAM, *words], check=False, **options)


def run(*flags, command, **options):
    return execute("run", "--quiet", *flags, "--", *command, **options)


def reads_scripts():
    return bool(json.loads(execute("schema").stdout))


def runs(pid):
    """Whether the process has not ended. One that nobody has asked about yet has."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def main():
    global PROGRAM
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = sys.argv.pop(1)
    unittest.main(module="__main__")
