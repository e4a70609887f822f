#!/usr/bin/env python3
"""Runs a command many times, several in parallel, so that each is under load: repeat.py TIMES COMMAND…

Stops at the first failed run and prints its output. The last line has the number of runs and their duration. `--jobs`
runs in parallel, default 4; `--limit` is the timeout of a run in seconds, default 120. `--junit FILE` writes one test
case for all runs. A run of a doctest program that selects no test case fails.
"""

import argparse
import concurrent.futures
import re
import subprocess
import sys
import threading
import time
from xml.sax.saxutils import escape, quoteattr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--junit")
    parser.add_argument("--name", default="repeated")
    parser.add_argument("times", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if arguments.times < 1 or not arguments.command:
        parser.error("nothing to repeat")

    failed = threading.Event()

    def run(number: int):
        """Returns the output of a failed run; nothing if it passed or another has already failed."""
        if failed.is_set():
            return None
        began = time.monotonic()
        try:
            done = subprocess.run(
                arguments.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                timeout=arguments.limit, check=False)
        except subprocess.TimeoutExpired as late:
            failed.set()
            output = (late.stdout or b"").decode(errors="replace")
            return f"{output}\nrun {number} was ended after {arguments.limit:.0f} s"
        ran_nothing = re.search(rb"test cases: +0 \|", done.stdout) is not None
        if done.returncode == 0 and not ran_nothing:
            seconds.append(time.monotonic() - began)
            return None
        failed.set()
        why = "ran no test case" if ran_nothing else f"ended with status {done.returncode}"
        return f"{done.stdout.decode(errors='replace')}\nrun {number} {why}"

    seconds: list[float] = []
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        problems = [output for output in pool.map(run, range(1, arguments.times + 1)) if output]
    elapsed = time.monotonic() - began

    if arguments.junit:
        with open(arguments.junit, "w", encoding="utf-8") as report:
            body = f"<failure>{escape(problems[0])}</failure>" if problems else ""
            report.write(f'<testsuite name="repeated"><testcase name={quoteattr(arguments.name)} '
                         f'time="{elapsed:.1f}">{body}</testcase></testsuite>\n')
    if problems:
        print(problems[0])
        print(f"{arguments.name}: {len(seconds)} runs passed, then one failed")
        return 1
    print(f"{arguments.name}: {len(seconds)} runs passed in {elapsed:.0f} s, {arguments.jobs} at once; "
          f"the slowest took {max(seconds):.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
