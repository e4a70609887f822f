"""Checks linker errors of a program without the implementation: link_error.py FLAGS…

Runs in a folder with the header, main.cpp and second.cpp, for $CXX and clang++, and each installed linker. The advice
must be among the first lines, also if the user's files are in a static library. A program that only names types links
without the implementation.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

FLAGS = sys.argv[1:]
ADVICE = "define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file"
LINES = 20
TYPES = """#include "mock_gateway.hpp"
bool is_set(const mock_gateway::Gateway* gateway) { return gateway != nullptr; }
int main() { return is_set(nullptr) || sizeof(mock_gateway::Reply) == 0; }
"""


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return done.returncode, done.stdout


def succeed(*command):
    status, said = run(*command)
    if status:
        sys.exit(f"link_error: {' '.join(command)} failed:\n{said}")


def check(compiler, linker, *files):
    status, said = run(compiler, f"-fuse-ld={linker}", *files, "-o", "program", *FLAGS)
    name = f"{compiler} with {linker}: {' '.join(files)}"
    if status == 0:
        sys.exit(f"link_error: {name} links without the implementation")
    lines = [number for number, line in enumerate(said.splitlines(), 1) if ADVICE in line]
    if not lines or lines[0] > LINES:
        sys.exit(f"link_error: {name}: {ADVICE} is not in the first {LINES} lines:\n{said[:6000]}")
    print(f"{name}: advice in line {lines[0]}")


def main():
    Path("types.cpp").write_text(TYPES)
    linkers = [linker for linker in ("bfd", "gold", "lld", "mold") if shutil.which(f"ld.{linker}")]
    for compiler in dict.fromkeys([os.environ.get("CXX", "c++"), "clang++"]):
        if not shutil.which(compiler):
            continue
        for file in ("main", "second", "types"):
            succeed(compiler, "-c", f"{file}.cpp", *FLAGS)
        succeed("ar", "rcs", "libtests.a", "main.o", "second.o")
        for linker in linkers:
            check(compiler, linker, "main.o", "second.o")
            check(compiler, linker, "libtests.a")
            succeed(compiler, f"-fuse-ld={linker}", "types.o", "-o", "program", *FLAGS)


main()
