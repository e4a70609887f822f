#!/usr/bin/env python3
"""Measures waiting exchanges: their CPU time, and the latency of a new request meanwhile.

  tests/bench/waiting.py PROGRAM [EXCHANGES]

PROGRAM is a Release build; docs/program.md shows how to make one. For each kind of wait, clients that read nothing
start 1,000 exchanges, or EXCHANGES (a twentieth of them for full send buffers). Stalls and full send buffers wait for
events. Acknowledgements have no event and must be polled: by an exchange that closes its connection after delivery, and
by one that waits at a gate. Prints the share of a core over 5 s, and the median and maximum latency of 100 sequential
requests. The targets are 5 % of a core and 2 ms. Exit status 1 if a share or a median is too high.
"""

import http.client
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

KEY = "sk-waiting-0123456789abcdef"
MOST_SHARE = 5.0
MOST_MS = 2.0
# More bytes than reach a client that reads nothing, and fewer than the system buffers for sending.
SMALL = "x" * 8000
REPLIES = {
    "stalled": {"text": "one two", "faults": [{"after_tokens": 1, "effect": "stall"}]},
    "held, unread": {"text": SMALL, "chunked": {"pieces": [SMALL[1:], "x"]}, "hold": {"gate": "g", "before_token": 2}},
    "closing, unread": {"text": SMALL, "faults": [{"before_done": True, "effect": "close_connection"}]},
    "no room": {"text": "x" * 4_000_000},
}
# The system buffers some megabytes per connection before the send buffer is full.
FEWER = {"no room": 20}


def body(prompt, stream):
    return json.dumps({"model": "mock-model", "stream": stream, "messages": [{"role": "user", "content": prompt}]})


def seconds_of(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def begin(place):
    """Starts an exchange whose client reads nothing."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.connect(place)
    text = body("wait", True).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" \
           f"Authorization: Bearer {KEY}\r\nContent-Length: {len(text)}\r\n\r\n"
    client.sendall(head.encode() + text)
    return client


def ask(connection):
    began = time.perf_counter()
    fields = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    connection.request("POST", "/v1/chat/completions", body("now", False), fields)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        sys.exit(f"waiting.py: a request was answered by {answer.status}")
    return (time.perf_counter() - began) * 1000


def measure(program, reply, exchanges):
    script = {"mock_gateway": 1, "stubs": [{"when": {"user_says": "wait"}, "reply": reply},
                                           {"when": {"user_says": "now"}, "reply": "Yes."}]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(script, file)
        file.flush()
        command = [program, "serve", "--key", KEY, "--script", file.name, "--port", "0", "--print", "json",
                   "--until-eof", "--quiet"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as gateway:
            url = urllib.parse.urlparse(json.loads(gateway.stdout.readline())["base_url"])
            clients = [begin((url.hostname, url.port)) for _ in range(exchanges)]
            time.sleep(2)
            before, began = seconds_of(gateway), time.monotonic()
            time.sleep(5)
            share = 100 * (seconds_of(gateway) - before) / (time.monotonic() - began)
            connection = http.client.HTTPConnection(url.hostname, url.port)
            times = [ask(connection) for _ in range(100)]
            connection.close()
            for client in clients:
                client.close()
            gateway.stdin.close()
    return share, statistics.median(times), max(times)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    exchanges = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    missed = False
    for kind, reply in REPLIES.items():
        count = max(1, exchanges // FEWER.get(kind, 1))
        share, median, longest = measure(os.path.realpath(sys.argv[1]), reply, count)
        missed = missed or share > MOST_SHARE or median > MOST_MS
        print(f"{count} {kind}: {share:.1f} % of a core; a request takes {median:.2f} ms, at most {longest:.2f}",
              flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
