#!/usr/bin/env python3
"""Checks that the mistakes in this folder do not compile, and that the compiler's message explains each.

    check_compile_errors.py FOLDER_OF_HEADER [compiler flags…]

The compiler is $CXX, or c++; with MOCK_GATEWAY_TEST_ALL also clang++. The first error in each file must contain the
text after its `// expected: `. MENDED selects the corrected line, which must compile. Exit status: 0 passed, 1 failed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
FLAGS = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
    "-fmessage-length=0",
]


class Compiler:
    def __init__(self, command, flags, temporary):
        self.command = command
        self.flags = [*FLAGS, *flags] if any("-std=" in flag for flag in flags) else ["-std=c++17", *FLAGS, *flags]
        version = subprocess.run([command, "--version"], stdout=subprocess.PIPE, encoding="utf-8").stdout
        self.name = version.splitlines()[0]
        # Compiles the header once; otherwise each file would take seconds.
        source, compiled = temporary / "mock_gateway_once.hpp", temporary / "mock_gateway_once.hpp.gch"
        source.write_text('#include "mock_gateway.hpp"\n', encoding="utf-8")
        status, lines = self.run("-x", "c++-header", str(source), "-o", str(compiled))
        if status:
            sys.exit(f"{self.name}: the header itself does not compile:\n" + "\n".join(lines[:20]))
        self.temporary = temporary
        self.header = ["-include-pch", str(compiled)] if "clang" in self.name else ["-include", str(source)]

    def run(self, *arguments):
        """Returns the exit status and the output."""
        command = [self.command, *self.flags, *arguments]
        run = subprocess.run(
            command, env={**os.environ, "LC_ALL": "C"}, stderr=subprocess.PIPE, encoding="utf-8", timeout=300
        )
        return run.returncode, run.stderr.splitlines()

    def compile(self, file):
        return self.run(*self.header, "-fsyntax-only", str(file))

    def compile_joined(self, files, begin=""):
        """Compiles all files together, each in its own namespace."""
        joined = self.temporary / "joined.cpp"
        parts = (f'namespace {file.stem} {{\n#include "{file}"\n}}\n' for file in files)
        joined.write_text(begin + '#include "mock_gateway.hpp"\n' + "".join(parts), encoding="utf-8")
        return self.compile(joined)


def is_error(line):
    return re.search(r"\berror: ", line)


def expected_of(file):
    found = re.search(r"^// expected: (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return found and found[1]


def as_expected(compiler, files):
    """Returns the files, of those compiled together, whose first error contains the expected text."""
    _, lines = compiler.compile_joined(files)
    first = {}
    for number, line in enumerate(lines):
        if is_error(line):
            # For an error in the header, g++ prints the including lines before it, clang after it.
            near = [line, *reversed(lines[max(0, number - 4) : number]), *lines[number + 1 : number + 9]]
            places = (re.match(r"(.*?):\d+:\d+:.*(?: error: |required from here|requested here)", each) for each in near)
            names = (Path(place[1]) for place in places if place)
            first.setdefault(next((name for name in names if name in files), None), line)
    return [file for file in files if expected_of(file) and expected_of(file) in first.get(file, "")]


def problems(compiler, file):
    """Returns the problems of a file, a line each."""
    expected = expected_of(file)
    if not expected:
        return ["names no expected error"]
    status, lines = compiler.compile(file)
    errors = list(filter(is_error, lines))
    if not status:
        return ["compiles, and should not"]
    if expected not in (errors[0] if errors else ""):
        return [f"expected: {expected}", *(f"got: {error}" for error in errors or ["no error message"])]
    return []


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(sys.argv) == 2 else 1
    flags = ["-I", sys.argv[1], *sys.argv[2:]]
    names = [os.environ.get("CXX", "c++")] + (["clang++"] if os.environ.get("MOCK_GATEWAY_TEST_ALL") else [])
    commands = dict.fromkeys(filter(None, map(shutil.which, names)))
    files = sorted(FOLDER.glob("*.cpp"))
    failed = not files or not commands
    for command in commands:
        with tempfile.TemporaryDirectory() as temporary:
            compiler = Compiler(command, flags, Path(temporary))
            # Compiles other files alone, to report their own errors.
            well = as_expected(compiler, files)
            others = [file for file in files if file not in well]
            with ThreadPoolExecutor(max_workers=2) as workers:
                found = workers.map(lambda file: problems(compiler, file), others)
            for file, lines in zip(others, found):
                failed |= bool(lines)
                print("".join(f"{compiler.name}: {file.name}: {line}\n" for line in lines), end="")
            status, lines = compiler.compile_joined(files, "#define MENDED\n")
            if status:
                failed = True
                print("\n".join([f"{compiler.name}: mended, they should compile:", *filter(is_error, lines)]))
        print(f"{compiler.name}: {len(files)} files tried, {len(others)} of them alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
