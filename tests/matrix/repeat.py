#!/usr/bin/env python3
"""Runs a command many times, several at once, so that each is under load: repeat.py TIMES COMMAND…

Ends at the first run that fails, with its output. The last line says how many runs there were and how long they took.
`--jobs` at once, 4 unless told; `--limit` seconds after which a run is ended and has failed, 120 unless told.
`--junit FILE` writes one test case for all. A run of a doctest program in which no test case was chosen has failed.
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
        """The output of a run that failed; nothing when it passed, or another had failed already."""
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
