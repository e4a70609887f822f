#!/usr/bin/env python3
"""Compares the output and the exit status of a test program of this folder with golden texts.

    check_output.py doctest|gtest|catch2|no_adapter PROGRAM     --update writes the golden texts instead
    check_output.py NAME --missing TEXT                         prints why the program is missing, and skips

In a golden text, `file.cpp:{name}` is the line of that file with the comment `// line: name`, and `file.cpp:{}` is any
line without such a comment. Exit status: 0 as expected, 1 different, 77 skipped.
"""

import argparse
import difflib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
FAILING_FIRST = "a request that no stub answers fails the test where the gateway was made"
CLEAN = "a gateway with nothing wrong reports nothing"

# The arguments for each program and situation. The environment variable SITUATION names the situation. The programs
# also contain the tests of the example, which are excluded here.
RUNS = {
    "doctest": {
        "all": ["--no-version", "--no-colors", "--source-file=*_cases.*"],
        "stopped": ["--no-version", "--no-colors", "--source-file=*_cases.*", "--abort-after=1"],
        "after the run": ["--no-version", "--no-colors", f"--test-case={CLEAN}"],
    },
    "gtest": {
        "all": ["--gtest_color=no", "--gtest_print_time=0", "--gtest_filter=-ChatClient.*"],
        "stopped": [
            "--gtest_color=no",
            "--gtest_print_time=0",
            "--gtest_throw_on_failure",
            "--gtest_filter=Gateway.RequestThatNoStubAnswersFailsTheTestWhereItWasMade",
        ],
        "after the run": [
            "--gtest_color=no",
            "--gtest_print_time=0",
            "--gtest_filter=Gateway.ReportsNothingWhenNothingIsWrong",
        ],
    },
    "catch2": {
        "all": ["--order", "decl", "--use-colour", "no", "--filenames-as-tags", "[#shared_cases]"],
        "stopped": ["--use-colour", "no", "--abort", FAILING_FIRST],
        "after the run": ["--use-colour", "no", CLEAN],
    },
    "no_adapter": {situation: [] for situation in ("unmatched", "unwinding", "examined", "opted out")},
}


def marked_lines():
    """The names of marked lines, by file name and line number."""
    names = {}
    for path in FOLDER.glob("*.[hc]pp"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            mark = re.search(r"// line: (.*)", line)
            if mark:
                names[path.name, number] = mark[1]
    return names


def normalized(text, program):
    """Removes what differs between machines or versions."""
    text = text.replace(f"{FOLDER}/", "").replace(str(program), "PROGRAM")
    text = re.sub(r"^Running main\(\) from .*\n", "", text, flags=re.MULTILINE)  # gtest
    text = re.sub(r" \| \d+ skipped", "", text)  # doctest counts the example's tests
    text = re.sub(r"^Randomness seeded to: .*\n", "", text, flags=re.MULTILINE)  # Catch2
    text = re.sub(r"^.* is a Catch2? v[\d.]+ host application\.$", "PROGRAM is a Catch application.", text, flags=re.M)
    names = marked_lines()
    return re.sub(
        r"\b([\w]+\.[hc]pp):(\d+)", lambda place: f"{place[1]}:{{{names.get((place[1], int(place[2])), '')}}}", text
    )


def run(program, situation, arguments):
    result = subprocess.run(
        [str(program), *arguments],
        env={**os.environ, "SITUATION": situation},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=120,
    )
    status = result.returncode
    ended = f"exit status {status}" if status >= 0 else f"ended by {signal.Signals(-status).name}"
    parts = [("stdout", result.stdout), ("stderr", result.stderr)]
    printed = "".join(f"=== {name}\n{text.rstrip()}\n" for name, text in parts if text)
    return normalized(f"{printed}=== {ended}\n", program)


def main():
    parser = argparse.ArgumentParser(description="Compares what a test program prints with golden texts.")
    parser.add_argument("name", choices=RUNS)
    parser.add_argument("program", nargs="?", type=Path)
    parser.add_argument("--missing", metavar="TEXT", help="why there is no program")
    parser.add_argument("--update", action="store_true", help="write the golden texts")
    options = parser.parse_args()
    if options.missing:
        print(f"skipped: {options.missing}")
        return 77
    if not options.program:
        parser.error("PROGRAM is missing")

    different = 0
    for situation, arguments in RUNS[options.name].items():
        golden = FOLDER / "golden" / f"{options.name}_{situation.replace(' ', '_')}.txt"
        actual = run(options.program.resolve(), situation, arguments)
        if options.update:
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(actual, encoding="utf-8")
            continue
        expected = golden.read_text(encoding="utf-8") if golden.exists() else ""
        if actual != expected:
            different += 1
            lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), golden.name, "actual", lineterm="")
            print("\n".join(lines))
    if not options.update:
        print(f"{options.name}: {len(RUNS[options.name]) - different} of {len(RUNS[options.name])} as expected")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
