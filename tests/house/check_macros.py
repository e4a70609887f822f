#!/usr/bin/env python3
"""Checks which macros the assembled header leaves behind in a file that includes it.

    check_macros.py HEADER [compiler flags…]        the compiler is $CXX, or c++

In each mode, every MOCK_GATEWAY_ macro must be a public one, and all other macros must be those of the headers that
the header includes: none added, none changed, none undefined. Exit status: 0 clean, 1 a finding.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

PUBLIC = {
    "MOCK_GATEWAY_HEADER_ONLY",
    "MOCK_GATEWAY_VERSION",
    "MOCK_GATEWAY_VERSION_MAJOR",
    "MOCK_GATEWAY_VERSION_MINOR",
    "MOCK_GATEWAY_VERSION_PATCH",
}
# The switch that users define, and the include guards of the two halves.
EXPECTED = {
    "interface only": PUBLIC | {"MOCK_GATEWAY_HPP"},
    "header-only": PUBLIC | {"MOCK_GATEWAY_HPP", "MOCK_GATEWAY_IMPLEMENTATION_INCLUDED"},
    "implementation": PUBLIC
    | {"MOCK_GATEWAY_HPP", "MOCK_GATEWAY_IMPLEMENTATION_INCLUDED", "MOCK_GATEWAY_IMPLEMENTATION"},
}
FLAGS = {
    "interface only": ["-DMOCK_GATEWAY_HEADER_ONLY=0"],
    "header-only": [],
    "implementation": ["-DMOCK_GATEWAY_HEADER_ONLY=0", "-DMOCK_GATEWAY_IMPLEMENTATION"],
}


def macros(source, flags):
    """Name and definition of every macro that is defined at the end of the source text."""
    command = [os.environ.get("CXX", "c++"), "-std=c++17", "-x", "c++", "-E", "-dM", *flags, "-"]
    run = subprocess.run(command, input=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if run.returncode:
        sys.exit(f"check_macros: {' '.join(command)} failed:\n{run.stderr}")
    return dict(re.match(r"#define (\w+)(.*)", line).groups() for line in run.stdout.splitlines())


def without_us(text):
    """The header's includes alone, with the configuration of cpp-httplib that it may set for them."""
    for line in text.splitlines():
        include = re.match(r"\s*#\s*include\s*(<[^>]+>)", line)
        if include:
            yield f"#if __has_include({include[1]})\n#include {include[1]}\n#endif\n"
        elif re.match(r"\s*#\s*define\s+CPPHTTPLIB_\w+", line):
            name = re.match(r"\s*#\s*define\s+(\w+)", line)[1]
            yield f"#ifndef {name}\n{line}\n#endif\n"


def findings(header, mode, flags):
    text = header.read_text(encoding="utf-8")
    if mode == "interface only":
        text = text.split("#ifndef MOCK_GATEWAY_IMPLEMENTATION_INCLUDED")[0]
    before = macros("".join(without_us(text)), flags)
    after = macros(f'#include "{header}"\n', [*flags, *FLAGS[mode]])
    ours = {name for name in after if name.startswith("MOCK_GATEWAY_")}
    yield from (f"{name} is left defined and not public" for name in sorted(ours - EXPECTED[mode]))
    yield from (f"{name} is missing" for name in sorted(EXPECTED[mode] - ours))
    yield from (
        f"{name} leaks: no header that we include defines it" for name in sorted(after.keys() - before.keys() - ours)
    )
    yield from (f"{name} is undefined by us" for name in sorted(before.keys() - after.keys()))
    changed = (name for name in sorted(before.keys() & after.keys()) if before[name] != after[name])
    yield from (f"{name} is changed by us" for name in changed)


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(sys.argv) == 2 else 1
    header, flags = Path(sys.argv[1]).resolve(), sys.argv[2:]
    lines = [f"{mode}: {finding}" for mode in EXPECTED for finding in findings(header, mode, flags)]
    print("\n".join(lines) or f"{header.name}: no macro left behind in {len(EXPECTED)} modes")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
