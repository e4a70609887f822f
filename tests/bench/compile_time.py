#!/usr/bin/env python3
"""Measures the compile time of mock_gateway.hpp.

    compile_time.py [--pairs N] [--compiler g++] [--httplib FOLDER]   prints a table of docs/install.md
    compile_time.py --check                                           exits with 1 if a test costs too much
    compile_time.py --test-command                                    times README's test command in a new clone
    compile_time.py --changed-file                                    times one changed .cpp to its finished test

A figure is the median CPU time of one compiler process at -O0, so that other load matters little. Each file is compiled
alternately with a base: the headers that mock_gateway.hpp includes, and one JSON value. A ratio compares the two.
"""

import argparse
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = '#include "mock_gateway.hpp"\n'
TEST = HEADER + """
int main() {
  mock_gateway::Gateway gateway;
  gateway.chat().reply("Hello.");
  return gateway.base_url().empty();
}
"""
ONE_VALUE = "int main() { return nlohmann::ordered_json{}.empty() ? 0 : 1; }\n"
HIGHEST_RATIO = 1.25  # of a test's compile time to the base's


def compile_once(command, source):
    """Returns the CPU time in seconds and the peak memory in GB."""
    process = subprocess.Popen([*command, str(source)])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"compile_time.py: the compiler failed for {source.name}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6


class Costs:
    def __init__(self, folder, options):
        found = subprocess.run(["pkg-config", "--cflags", "cpp-httplib"], capture_output=True, text=True)
        flags = ["-I" + options.httplib] if options.httplib else shlex.split(found.stdout)
        self.folder = folder
        self.command = [options.compiler, "-std=c++17", "-O0", "-w", f"-I{ROOT}", *flags]
        included = self.written("include_only.cpp", HEADER)
        opened = subprocess.run([*self.command, "-E", "-H", str(included), "-o", os.devnull], check=True,
                                capture_output=True, text=True).stderr
        headers = re.findall(r"^\.\. (.+)$", opened, re.MULTILINE)
        self.base = self.written("base.cpp", "".join(f'#include "{path}"\n' for path in headers) + ONE_VALUE)

    def written(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def of(self, source, pairs, *flags):
        """Returns medians: seconds and GB of the file, seconds of the base, and the ratio of each pair."""
        command = [*self.command, "-c", "-o", os.devnull]
        both = [(compile_once([*command, *flags], source), compile_once(command, self.base)) for _ in range(pairs)]
        return (statistics.median(file[0] for file, _ in both), statistics.median(file[1] for file, _ in both),
                statistics.median(base[0] for _, base in both),
                statistics.median(file[0] / base[0] for file, base in both))


def table(costs, pairs):
    test = costs.written("test.cpp", TEST)
    rows = [("the headers that `mock_gateway.hpp` includes, and one JSON value", costs.base, 1, ()),
            ("a test that makes a gateway", test, 1, ()),
            ("the implementation, once in a program", ROOT / "cmake" / "compiled.cpp", 3, ()),
            ("the same test with `MOCK_GATEWAY_HEADER_ONLY=1`", test, 3, ("-DMOCK_GATEWAY_HEADER_ONLY=1",))]
    print("| a file of a program | s | GB |\n|---|---|---|")
    for name, source, share, flags in rows:
        seconds, memory, _, _ = costs.of(source, max(1, pairs // share), *flags)
        print(f"| {name} | {seconds:.1f} | {memory:.2f} |", flush=True)


def check(costs, pairs):
    seconds, _, base, ratio = costs.of(costs.written("test.cpp", TEST), pairs)
    print(f"a test file: {seconds:.2f} s, its headers and one JSON value {base:.2f} s: {ratio:.2f} x, at most {HIGHEST_RATIO} x")
    return 0 if ratio <= HIGHEST_RATIO else 1


def time_commands(options):
    with tempfile.TemporaryDirectory() as folder:
        clone = pathlib.Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)

        def timed(*arguments):
            began = time.monotonic()
            subprocess.run([str(clone / "tests" / "run.sh"), *arguments], cwd=clone, check=True,
                           stdout=subprocess.DEVNULL)
            return time.monotonic() - began

        if options.test_command:
            print(f"tests/run.sh in a new clone: {timed():.0f} s")
        if options.changed_file:
            timed("-R", "sources.keys")
            with open(clone / "src" / "keys" / "key_store.cpp", "a") as changed:
                changed.write("// Changed.\n")
            print(f"one changed .cpp, one test file: {timed('-R', 'sources.keys'):.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--httplib", help="folder of a single-header httplib.h; the system's unless given")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--short", action="store_true", help="compile each file once")
    parser.add_argument("--test-command", action="store_true")
    parser.add_argument("--changed-file", action="store_true")
    options = parser.parse_args()
    if options.test_command or options.changed_file:
        time_commands(options)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        costs = Costs(pathlib.Path(folder), options)
        pairs = 1 if options.short else options.pairs
        if options.check:
            return check(costs, pairs)
        table(costs, pairs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
