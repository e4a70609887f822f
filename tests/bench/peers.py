#!/usr/bin/env python3
"""Measures a chat request here and at other mock servers of language models, alternately.

  tests/bench/peers.py FOLDER [--rounds 7] [--seconds 2] [--connections 1,8,64,256,512] [--kinds plain,stream]
    [--released PROGRAM]

tests/bench/peers.sh creates FOLDER. Each server answers the same request from a stub, plain or streamed, with the same
text if it can; VidaiMock uses its own text. In each round wrk loads each server for --seconds over each number of
connections. Prints a table of medians: requests per second, the CPU time of a request in microseconds, user and system,
and the ratio of our rate to each server's, with quartiles; then each server's memory, before and after. With
--released, a program made by tools/release.sh takes part.
"""

import argparse
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

TEXT = "The weather in Paris is sunny today, with a light breeze from the west and a high of twenty-one degrees."
KEY = "sk-peers-0123456789abcdef"
MESSAGES = [
    {"role": "system", "content": "You are a helpful assistant that answers in one sentence."},
    {"role": "user", "content": "What is the weather like in Paris today, and should I take a coat?"},
]
OURS = "mock-gateway"


class Server:
    """A server process on a port of the loopback address."""

    def __init__(self, name, command, port):
        self.name = name
        self.port = port
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"peers.py: {name} does not serve: {' '.join(map(str, command))}")
                time.sleep(0.02)

    def processor_time(self):
        """User and system CPU time of all its threads so far, in seconds."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = os.sysconf("SC_CLK_TCK")
        return (int(fields[11]) + int(fields[12])) / ticks

    def memory(self):
        """Resident memory in MB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def end(self):
        self.process.terminate()
        self.process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def servers(folder, scratch, released):
    """The installed servers, ours first."""
    gateway = folder / "gateway"
    script = scratch / "script.json"
    stub = {"when": {"user_says": {"contains": "weather"}}, "reply": TEXT}
    script.write_text(json.dumps({"mock_gateway": 1, "stubs": [stub]}))
    fixture = {"match": {"userMessage": "weather"}, "response": {"content": TEXT}}
    fixtures = scratch / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": [fixture]}))
    yaml = scratch / "fixtures.yaml"
    yaml.write_text(json.dumps({"fixtures": [{"match": {"user_message": "weather"}, "response": {"content": TEXT}}]}))
    serve = ["serve", "--key", KEY, "--script", script, "--no-reload", "--port"]
    program = gateway / "endpoint/mock-gateway"
    commands = {
        OURS: lambda port: [program, *serve, port, "--quiet"],
        **({"as released": lambda port: [released, *serve, port, "--quiet"]} if released else {}),
        "with its log": lambda port: [program, *serve, port],
        "llmposter": lambda port: [folder / "bin/llmposter", "-f", yaml, "-p", port],
        "VidaiMock": lambda port: [folder / "bin/vidaimock", "--port", port],
        "aimock": lambda port: [
            "node", folder / "node_modules/.bin/llmock", "-f", fixtures, "-p", port, "--log-level", "silent"
        ],
        "bare loop": lambda port: [gateway / "tests/bench/bench_floor", port, 600],
    }
    for name, command in commands.items():
        port = free_port()
        words = command(port)
        if not pathlib.Path(words[1] if words[0] == "node" else words[0]).exists():
            print(f"not installed, and left out: {name}")
            continue
        yield Server(name, words, port)


def request_script(scratch, kind):
    """Writes the requests as a script for wrk, in wrk's language Lua."""
    body = {"model": "mock-model", "messages": MESSAGES, "temperature": 0.2, "max_tokens": 256}
    if kind == "stream":
        body["stream"] = True
    script = scratch / f"{kind}.lua"
    script.write_text(
        'wrk.method = "POST"\nwrk.path = "/v1/chat/completions"\n'
        f'wrk.headers["Content-Type"] = "application/json"\nwrk.headers["Authorization"] = "Bearer {KEY}"\n'
        f"wrk.body = [==[{json.dumps(body)}]==]\n"
    )
    return script


def ask(server, script, connections, seconds):
    """Returns requests per second, and the CPU time of each in microseconds."""
    before = server.processor_time()
    run = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{server.port}/"],
        capture_output=True,
        text=True,
        check=True,
    )
    spent = server.processor_time() - before
    if "Non-2xx" in run.stdout:
        sys.exit(f"peers.py: {server.name} refuses the request:\n{run.stdout}")
    count = int(re.search(r"(\d+) requests in", run.stdout)[1])
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", run.stdout)[1])
    return rate, spent / max(count, 1) * 1e6


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--connections", default="1,8,64,256,512")
    parser.add_argument("--kinds", default="plain,stream")
    parser.add_argument("--released", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        running = []
        try:
            running.extend(servers(options.folder, scratch, options.released))
            idle = {server.name: server.memory() for server in running}
            print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; medians of {options.rounds} rounds\n")
            print("| | " + " | ".join(server.name for server in running) + " |")
            print("|---" * (len(running) + 1) + "|")
            for kind in options.kinds.split(","):
                script = request_script(scratch, kind)
                for connections in map(int, options.connections.split(",")):
                    measured = {server.name: [] for server in running}
                    for _ in range(options.rounds):
                        for server in running:
                            measured[server.name].append(ask(server, script, connections, options.seconds))
                    cells = []
                    for server in running:
                        rates = [rate for rate, _ in measured[server.name]]
                        cost = statistics.median(cost for _, cost in measured[server.name])
                        cell = f"{statistics.median(rates):,.0f}/s, {cost:.1f} µs"
                        if server.name != OURS:
                            ours = [rate for rate, _ in measured[OURS]]
                            low, middle, high = quartiles([own / other for own, other in zip(ours, rates)])
                            cell += f" ({middle:.2f}; {low:.2f} to {high:.2f})"
                        cells.append(cell)
                    print(f"| {kind}, {connections} | " + " | ".join(cells) + " |", flush=True)
            print("| MB before, after | ", end="")
            print(" | ".join(f"{idle[server.name]:.0f}, {server.memory():.0f}" for server in running) + " |")
        finally:
            for server in running:
                server.end()


if __name__ == "__main__":
    main()
