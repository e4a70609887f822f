#!/usr/bin/env python3
"""What it costs to use and to change the gateway, against aims.

    python3 tests/bench/compile_time.py [--short] [--pairs N] [--compiler g++] [--header FILE] [--httplib FOLDER]
    python3 tests/bench/compile_time.py --test-command
    python3 tests/bench/compile_time.py --changed-file

Compiles a one-line test in both modes, in turn with what it includes alone, warnings off, and prints medians: the
compiler's own processor time, so that what else the machine does counts little, its peak memory, and the object's size.
--short compiles each once, without optimizing, and judges nothing. --test-command times README's test command, and
--changed-file one changed .cpp to the finished `tests/run.sh -R` of one test file, each in a new clone of this checkout
and in real time, which is worth something on a machine that does little else. Exits with 1 when an aim is missed.
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
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST = """
int main() {
  mock_gateway::Gateway gateway;
  gateway.chat().reply("Hello.");
  return gateway.base_url().empty();
}
"""
DEPENDENCIES = "int main() { return nlohmann::ordered_json{}.empty() ? 0 : 1; }\n"


class Cost(NamedTuple):
    """Of compiling one file."""

    seconds: float
    gigabytes: float


class Report:
    def __init__(self, judges: bool):
        self.judges = judges
        self.missed = False

    def row(self, what: str, measured: str, *aims: tuple[str, float, float]) -> None:
        """Each aim: how it reads, what was measured, the most that it may be."""
        print(f"{what:<34} {measured}")
        for text, value, most in aims:
            verdict = "" if not self.judges else ": met" if value <= most else ": MISSED"
            self.missed = self.missed or (self.judges and value > most)
            print(f"{'':<34}   aim {text}{verdict}")


def compile_once(command: list[str], source: pathlib.Path) -> Cost:
    process = subprocess.Popen([*command, str(source)])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        print("compile_time.py: the compiler failed", file=sys.stderr)
        sys.exit(2)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6)


def emitted_functions(out: pathlib.Path) -> int:
    symbols = subprocess.run(["nm", str(out)], check=True, capture_output=True, text=True).stdout
    return len(re.findall(r" [TtWw] ", symbols))


def compile_pairs(test: tuple, base: tuple, pairs: int) -> tuple[Cost, Cost, float]:
    """The medians of both, and of the ratio of their times. Each is a command and a file; they are compiled in turn."""
    tests, bases = [], []
    for _ in range(pairs):
        bases.append(compile_once(*base))
        tests.append(compile_once(*test))

    def median(costs: list[Cost]) -> Cost:
        return Cost(*(statistics.median(part) for part in zip(*costs)))

    ratio = statistics.median(one.seconds / other.seconds for one, other in zip(tests, bases))
    return median(tests), median(bases), ratio


def measure_compiling(report: Report, options: argparse.Namespace) -> None:
    header = options.header.read_text()
    found = subprocess.run(["pkg-config", "--cflags", "cpp-httplib"], capture_output=True, text=True)
    flags = ["-I" + options.httplib] if options.httplib else shlex.split(found.stdout)

    with tempfile.TemporaryDirectory() as folder:
        def written(name: str, text: str) -> pathlib.Path:
            path = pathlib.Path(folder) / name
            path.write_text(text)
            return path

        def dependencies(name: str, *mode: str) -> pathlib.Path:
            """A file with the headers that the gateway's includes itself, as the compiler tells."""
            command = [options.compiler, "-std=c++17", "-w", *flags, *mode, "-E", "-H", str(test)]
            opened = subprocess.run(command, check=True, capture_output=True, text=True).stderr
            headers = re.findall(r"^\.\. (.+)$", opened, re.MULTILINE)
            assert any(path.endswith("nlohmann/json.hpp") for path in headers), opened
            assert any(path.endswith("httplib.h") for path in headers) == (not mode), opened
            return written(name, "".join(f'#include "{path}"\n' for path in headers) + DEPENDENCIES)

        compiled_mode = "-DMOCK_GATEWAY_HEADER_ONLY=0"
        test = written("test.cpp", f'#include "{options.header.resolve()}"\n' + TEST)
        alone = dependencies("dependencies.cpp")
        interface_alone = dependencies("interface.cpp", compiled_mode)
        out = pathlib.Path(folder) / "out.o"
        command = [options.compiler, "-std=c++17", "-w", *flags, "-c", "-o", str(out)]
        in_compiled_mode = [*command, "-O0", compiled_mode]
        pairs = 1 if options.short else options.pairs

        compile_once(in_compiled_mode, interface_alone)  # the headers into the cache
        one, base, ratio = compile_pairs((in_compiled_mode, test), (in_compiled_mode, interface_alone), pairs)
        report.row("a test file, compiled mode, -O0",
                   f"{one.seconds:.2f} s, {one.gigabytes:.2f} GB; its headers alone {base.seconds:.2f} s",
                   (f"{ratio:.2f} x its headers, at most 1.25 x", ratio, 1.25))
        for level in ["-O0"] if options.short else ["-O0", "-O2"]:
            one, base, ratio = compile_pairs(([*command, level], test), ([*command, level], alone), min(pairs, 3))
            size, functions = out.stat().st_size / 1e6, emitted_functions(out)
            aims = [("at most 14 s", one.seconds, 14)] if level == "-O2" else [
                ("at most 7 s", one.seconds, 7), (f"{ratio:.2f} x its dependencies, at most 2.6 x", ratio, 2.6),
                ("at most 0.6 GB", one.gigabytes, 0.6)]
            report.row(f"a one-line test, default mode, {level}",
                       f"{one.seconds:.2f} s, {one.gigabytes:.2f} GB, object {size:.1f} MB, {functions:,} functions; its "
                       f"dependencies alone {base.seconds:.2f} s, {base.gigabytes:.2f} GB", *aims)

        unused = written("unused.cpp", f'#include "{options.header.resolve()}"\nint main() {{ return 0; }}\n')
        one, base, ratio = compile_pairs(([*command, "-O0"], unused), ([*command, "-O0"], alone), min(pairs, 3))
        functions = emitted_functions(out)
        report.row("a file without a gateway, default mode",
                   f"{one.seconds:.2f} s, {one.gigabytes:.2f} GB, {functions} functions",
                   ("at most 9 s", one.seconds, 9), ("at most 100 functions", functions, 100))

    lines = header.splitlines()
    gateway = next(number for number, line in enumerate(lines, 1) if re.match(r"class Gateway\b[^;]*\{", line))
    report.row("the assembled header", f"{len(lines)} lines; `class Gateway {{` in line {gateway}",
               ("at most 20,000 lines", len(lines), 20000), ("in the first 600", gateway, 600))


def measure_commands(report: Report, options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clone = pathlib.Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)

        def timed(*command: str) -> float:
            began = time.monotonic()
            subprocess.run([str(clone / "tests" / "run.sh"), *command], cwd=clone, check=True, stdout=subprocess.DEVNULL)
            return time.monotonic() - began

        if options.test_command:
            taken = timed()
            report.row("tests/run.sh, a new clone", f"{taken:.0f} s", ("at most 240 s", taken, 240))
        if options.changed_file:
            timed("-R", "sources.keys")
            with open(clone / "src" / "keys" / "key_store.cpp", "a") as changed:
                changed.write("// Changed.\n")
            taken = timed("-R", "sources.keys")
            report.row("one changed .cpp, one test file", f"{taken:.1f} s", ("at most 20 s", taken, 20))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--header", type=pathlib.Path, default=ROOT / "mock_gateway.hpp")
    parser.add_argument("--httplib", help="folder of a single-header httplib.h; the system's unless given")
    parser.add_argument("--test-command", action="store_true", help="time README's test command instead")
    parser.add_argument("--changed-file", action="store_true", help="time a changed file's test instead")
    options = parser.parse_args()
    report = Report(judges=not options.short)
    if options.test_command or options.changed_file:
        measure_commands(report, options)
    else:
        measure_compiling(report, options)
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
