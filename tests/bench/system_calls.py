#!/usr/bin/env python3
"""Counts the system calls of a chat request, after a warm-up, over 1, 8 and 64 connections.

  tests/bench/system_calls.py PROGRAM [CONNECTIONS…]

Needs wrk and strace (Debian: wrk, strace). PROGRAM is a Release build; docs/program.md shows how to make one. Prints
the calls per request for each number of connections, and those of each kind. One call reads a request, one checks its
client, and one sends the response. With one connection, one more call waits for the request. So the targets are 3 calls
at 64 connections and 4 at one, plus a quarter of a call for rare events. Exit status 1 if a target is missed. strace
slows the program down, so it waits less often than without strace.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

KEY = "sk-calls-0123456789abcdef"
BODY = json.dumps({"model": "mock-model", "messages": [{"role": "user", "content": "What is the weather like?"}]})
SCRIPT = {"mock_gateway": 1, "stubs": [{"when": {"user_says": "weather"}, "reply": "It is sunny."}]}
AIMS = {1: 4, 64: 3}
SELDOM = 0.25


def load(lua, url, connections, seconds):
    """Sends requests for this many seconds. Returns the number of responses."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", lua, url]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in text:
        sys.exit(f"system_calls.py: requests were refused\n{text}")
    return int(re.search(r"(\d+) requests in", text)[1])


def counts(text):
    """Parses the table of `strace -c`: calls by name."""
    rows = re.findall(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)(?:\s+\d+)?\s+(\w+)$", text, re.MULTILINE)
    return {name: int(calls) for calls, name in rows if name != "total"}


def measure(program, folder, connections):
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT))
    lua = folder / "post.lua"
    lua.write_text(
        f"wrk.method = 'POST'\nwrk.body = [[{BODY}]]\n"
        f"wrk.headers['Content-Type'] = 'application/json'\nwrk.headers['Authorization'] = 'Bearer {KEY}'\n"
    )
    command = [program, "serve", "--key", KEY, "--script", script, "--port", "0", "--print", "json", "--until-eof", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as gateway:
        url = json.loads(gateway.stdout.readline())["base_url"] + "/chat/completions"
        load(lua, url, connections, 1)  # fills the journal; afterwards its memory is reused
        table = folder / "calls.txt"
        tracer = subprocess.Popen(
            ["strace", "-f", "-c", "-o", table, "-p", str(gateway.pid)], stderr=subprocess.PIPE, text=True
        )
        attached = tracer.stderr.readline()
        if "attached" not in attached:
            sys.exit(f"system_calls.py: strace cannot look: {attached}")
        requests = load(lua, url, connections, 2)
        tracer.send_signal(signal.SIGINT)
        tracer.communicate()
        gateway.stdin.close()
    calls = counts(table.read_text())
    if not calls:
        sys.exit(f"system_calls.py: strace printed no table\n{table.read_text()}")
    return requests, calls


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = os.path.realpath(sys.argv[1])
    missed = False
    for connections in [int(word) for word in sys.argv[2:]] or [1, 8, 64]:
        with tempfile.TemporaryDirectory() as folder:
            requests, calls = measure(program, pathlib.Path(folder), connections)
        each = sum(calls.values()) / requests
        kinds = sorted(calls.items(), key=lambda pair: -pair[1])
        text = ", ".join(f"{name} {number / requests:.2f}" for name, number in kinds if number > requests / 100)
        aim = AIMS.get(connections)
        is_met = aim is None or each <= aim + SELDOM
        missed = missed or not is_met
        judged = "" if aim is None else f" (aim {aim}: {'met' if is_met else 'MISSED'})"
        print(f"{connections:3} connections: {each:.2f} calls a request{judged}: {text}", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
