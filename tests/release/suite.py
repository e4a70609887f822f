#!/usr/bin/env python3
"""Runs the program's tests, tests/endpoint/*_test.py, with a program that is already built.

  tests/release/suite.py PROGRAM [--only NAME,NAME] [--jobs 4] [--junit FILE]

PROGRAM is the path of the program. Without --only, runs all tests. Prints the result of each test, and the output of
failed ones. The last line has the totals: "N passed, N failed, N skipped". Exits with 1 if a test failed.
"""

import argparse
import concurrent.futures
import pathlib
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "endpoint"


def run(name, program, seconds):
    start = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, FOLDER / f"{name}_test.py", program],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
        )
        output, code = done.stdout.decode(errors="replace"), done.returncode
    except subprocess.TimeoutExpired as late:
        output, code = f"{(late.stdout or b'').decode(errors='replace')}\nno end within {seconds} s", 1
    counted = re.search(r"^Ran (\d+) tests? in", output, re.M)
    numbers = {key: int(value) for key, value in re.findall(r"(failures|errors|skipped)=(\d+)", output.rpartition("\nRan ")[2])}
    failed = numbers.get("failures", 0) + numbers.get("errors", 0)
    if code != 0 or counted is None or int(counted[1]) == 0:
        failed = max(failed, 1)
    skipped = numbers.get("skipped", 0)
    passed = max(int(counted[1]) - failed - skipped, 0) if counted else 0
    return {"name": name, "passed": passed, "failed": failed, "skipped": skipped, "output": output,
            "seconds": time.monotonic() - start}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--junit")
    options = parser.parse_args()
    # The tests send these signals. Restores their defaults: nohup and shells start background jobs that ignore some.
    for number in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)
    every = sorted(path.name.removesuffix("_test.py") for path in FOLDER.glob("*_test.py"))
    names = options.only.split(",") if options.only else every
    unknown = set(names) - set(every)
    if unknown:
        sys.exit(f"suite.py: no such test: {' '.join(sorted(unknown))}")
    program = str(pathlib.Path(options.program).resolve())
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda name: run(name, program, options.seconds), names):
            results.append(result)
            print(f"{result['name']}: {result['passed']} passed, {result['failed']} failed, {result['skipped']} skipped, "
                  f"{result['seconds']:.0f} s", flush=True)
            if result["failed"]:
                print(result["output"])
    if options.junit:
        suite = ET.Element("testsuite", name="release")
        for result in results:
            case = ET.SubElement(suite, "testcase", name=f"release.{result['name']}", time=f"{result['seconds']:.1f}")
            if result["failed"]:
                ET.SubElement(case, "failure").text = re.sub(r"[^\t\n\x20-\ud7ff]", "?", result["output"])
        ET.ElementTree(suite).write(options.junit)
    total = {key: sum(result[key] for result in results) for key in ("passed", "failed", "skipped")}
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    sys.exit(total["failed"] > 0)


if __name__ == "__main__":
    main()
