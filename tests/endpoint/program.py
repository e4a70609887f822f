"""Support for the tests of the program: starting it, the code of a client under test, and running tests on several
threads.

Uses only Python's standard library.
"""

import concurrent.futures
import functools
import json
import os
import subprocess
import sys
import threading
import time
import unittest

PROGRAM = os.environ.get("MOCK_GATEWAY_BIN", "mock-gateway")
PYTHON = [sys.executable, "-S"]  # without the module site, which takes a third of a client's start time
TIMEOUT = 30  # seconds; a timeout for tests that hang
# Whether the exhaustive cases run too. The docstring of a file says which of its cases are exhaustive.
IS_EXHAUSTIVE = os.environ.get("MOCK_GATEWAY_TEST_ALL") == "1"

# The beginning of a client under test: `request` and `chat` return any status.
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
    """Returns a command that runs the code as a client under test."""
    return [*PYTHON, "-c", CLIENT + code]


def execute(*words, **options):
    """Runs the program until it ends."""
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT, **options}
    return subprocess.run([PROGRAM, *words], check=False, **options)


def run(*flags, command, **options):
    return execute("run", "--quiet", *flags, "--", *command, **options)


def reads_scripts():
    return bool(json.loads(execute("schema").stdout))


def runs(pid):
    """Returns whether the process still runs. A zombie counts as ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def once(function):
    """Wraps a function so that only the first call runs it. Later calls, also on other threads, return its result."""
    lock, cached = threading.Lock(), functools.cache(function)

    def call(*arguments):
        with lock:
            return cached(*arguments)

    return call


class ThreadedSuite(unittest.TestSuite):
    """A suite that runs its tests on several threads, because most tests of the program mostly wait.

    Tests of a class with `alone = True` run after the others, one at a time. Fixtures of classes and modules do not
    run.
    """

    threads = 1

    def run(self, result, debug=False):
        tests = list(self.tests_of(self))
        together = [test for test in tests if not getattr(test, "alone", False)]
        with concurrent.futures.ThreadPoolExecutor(self.threads) as pool:
            for done in concurrent.futures.as_completed([pool.submit(self.run_one, test) for test in together]):
                self.report(result, *done.result())
        for test in tests:
            if test not in together:
                self.report(result, *self.run_one(test))
        return result

    @classmethod
    def tests_of(cls, suite):
        for test in suite:
            yield from cls.tests_of(test) if isinstance(test, unittest.TestSuite) else [test]

    @staticmethod
    def run_one(test):
        """Runs a test with its own result object, because result objects are not thread-safe."""
        result = unittest.TestResult()
        began = time.monotonic()
        test.run(result)
        return test, result, time.monotonic() - began

    @staticmethod
    def report(result, test, own, seconds):
        result.testsRun += own.testsRun
        for name in "errors", "failures", "skipped", "expectedFailures", "unexpectedSuccesses":
            getattr(result, name).extend(getattr(own, name))
        word = "FAILED" if not own.wasSuccessful() else "skipped" if own.skipped else "ok"
        result.stream.writeln(f"{test.id().partition('.')[2]} ... {word} ({seconds:.1f} s)")


def main(threads=1):
    """Runs the tests of the calling file on this many threads."""
    global PROGRAM
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = sys.argv.pop(1)
    loader = unittest.TestLoader()
    loader.suiteClass = type("Suite", (ThreadedSuite,), {"threads": threads})
    unittest.main(module="__main__", testLoader=loader)
