#!/usr/bin/env python3
"""Measures how long calls of the control API take while clients keep the gateway busy, and how long stopping takes.

  tests/bench/control_latency.py PROGRAM [--seconds 10] [--connections 24] [--pause 1] [--polls 32]

Needs wrk (Debian: wrk). PROGRAM is a Release build; docs/program.md shows how to make one. Each connection of wrk waits
--pause milliseconds after a response (0: no wait). Long polls of the journal wait all the time. Meanwhile the calls of
the control API run one after the other. The last call is POST /stop, while wrk continues. Prints requests per second,
the percentiles of the calls, and the time from POST /stop to the end of the process. Exit status 1 if the 99th
percentile is 20 ms or more, or stopping takes more than 50 ms.
"""

import argparse
import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
import time

LIMIT_MS = 20
STOP_LIMIT_MS = 50


class Control:
    """A connection to the control API."""

    def __init__(self, info):
        self.connection = http.client.HTTPConnection(info["control_url"].removeprefix("http://"), timeout=90)
        self.headers = {"Authorization": f"Bearer {info['control_token']}"}

    def call(self, method, path, body=None):
        self.connection.request(method, f"/control/v1{path}", None if body is None else json.dumps(body), self.headers)
        response = self.connection.getresponse()
        return response.status, json.loads(response.read())


def poll(info, ended):
    control = Control(info)
    cursor = 0
    while not ended.is_set():
        try:
            status, answer = control.call("GET", f"/journal?after={cursor}&limit=1&wait=5s&status=418")
        except (OSError, http.client.HTTPException):
            return
        if status != 200:  # the program is about to stop
            return
        cursor = answer["cursor"]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--connections", type=int, default=24)
    parser.add_argument("--pause", type=int, default=1)
    parser.add_argument("--polls", type=int, default=32)
    arguments = parser.parse_args()
    command = [arguments.program, "serve", "--port", "0", "--control", "0", "--print", "json", "--quiet", "--until-eof"]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    info = json.loads(program.stdout.readline())
    control = Control(info)
    key = control.call("POST", "/keys", {"name": "worked on"})[1]["id"]
    control.call("POST", "/stubs", {"reply": "Hello."})
    ended = threading.Event()
    pollers = [threading.Thread(target=poll, args=(info, ended), daemon=True) for _ in range(arguments.polls)]
    for poller in pollers:
        poller.start()
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        body = json.dumps({"model": "mock-model", "messages": [{"role": "user", "content": "Hi"}]})
        script.write(f"wrk.method = 'POST'\nwrk.body = [[{body}]]\nwrk.headers['Content-Type'] = 'application/json'\n"
                     f"wrk.headers['Authorization'] = 'Bearer {info['api_key']}'\n")
        if arguments.pause:
            script.write(f"function delay() return {arguments.pause} end\n")
        script.flush()
        load = subprocess.Popen(["wrk", "-t1", f"-c{arguments.connections}", f"-d{arguments.seconds + 2}s",
                                 "-s", script.name, f"{info['base_url']}/chat/completions"],
                                stdout=subprocess.PIPE, text=True)
        calls = [("GET", "/keys"), ("POST", f"/keys/{key}/disable"), ("POST", f"/keys/{key}/enable"), ("GET", "/stubs"),
                 ("GET", "/journal?limit=20"), ("GET", "")]
        took = []
        started = time.monotonic()
        while time.monotonic() - started < arguments.seconds:
            method, path = calls[len(took) % len(calls)]
            began = time.monotonic()
            status, _ = control.call(method, path)
            took.append((time.monotonic() - began) * 1000)
            assert status == 200, (method, path, status)
        ended.set()
        began = time.monotonic()
        control.call("POST", "/stop")
        program.wait()
        stopped = (time.monotonic() - began) * 1000
        said = load.communicate()[0]
    rate = int(re.search(r"(\d+) requests in", said).group(1)) / (began - started)
    p50, p99 = percentile(took, 0.5), percentile(took, 0.99)
    print(f"{rate:.0f} requests/s, {len(took)} control calls beside {arguments.polls} long polls: median {p50:.1f} ms, "
          f"99th percentile {p99:.1f} ms, longest {max(took):.1f} ms; stopped in {stopped:.0f} ms")
    if "Non-2xx" in said:
        print(re.search(r"Non-2xx.*", said).group())
    return 1 if p99 >= LIMIT_MS or stopped > STOP_LIMIT_MS else 0


if __name__ == "__main__":
    sys.exit(main())
