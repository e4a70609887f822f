#!/usr/bin/env python3
"""Checks which macros the assembled header defines in a file that includes it.

    check_macros.py HEADER [compiler flags…]        the compiler is $CXX, or c++

In each mode, and with each adapter whose test framework is installed, every MOCK_GATEWAY_ macro must be a public one.
All other macros must be those of the included headers: none added, changed or undefined. Exit status: 0 clean, 1 a
finding.
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
# The macro that users define, and the include guards of the two halves.
EXPECTED = {
    "interface only": PUBLIC | {"MOCK_GATEWAY_HPP"},
    "header-only": PUBLIC | {"MOCK_GATEWAY_HPP", "MOCK_GATEWAY_IMPLEMENTATION_INCLUDED"},
    "implementation": PUBLIC
    | {"MOCK_GATEWAY_HPP", "MOCK_GATEWAY_IMPLEMENTATION_INCLUDED", "MOCK_GATEWAY_IMPLEMENTATION"},
}
FLAGS = {
    "interface only": [],
    "header-only": ["-DMOCK_GATEWAY_HEADER_ONLY=1"],
    "implementation": ["-DMOCK_GATEWAY_IMPLEMENTATION"],
}
# The last part of the header; each match starts one adapter.
TAIL = re.compile(r"^#if defined\(MOCK_GATEWAY_ADAPTER_\w+\)(?! &&)", re.MULTILINE)
ADAPTER = re.compile(r"^#if defined\((\w+)\) && !defined\(\1_INCLUDED\)$(.*?)^#endif  // \1$", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r"\s*#\s*include\s*<([^>]+)>")


def macros(source, flags):
    """Returns the name and the definition of every macro at the end of the source text."""
    command = [os.environ.get("CXX", "c++"), "-std=c++17", "-x", "c++", "-E", "-dM", *flags, "-"]
    run = subprocess.run(command, input=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if run.returncode:
        sys.exit(f"check_macros: {' '.join(command)} failed:\n{run.stderr}")
    return dict(re.match(r"#define (\w+)(.*)", line).groups() for line in run.stdout.splitlines())


def without_us(text):
    """Returns only the header's includes, with the configuration of cpp-httplib and Catch2 that it may set for them."""
    for line in text.splitlines():
        include = INCLUDE.match(line)
        if include:
            yield f"#if __has_include(<{include[1]}>)\n#include <{include[1]}>\n#endif\n"
        elif re.match(r"\s*#\s*define\s+(CPPHTTPLIB|CATCH_CONFIG)_\w+", line):
            name = re.match(r"\s*#\s*define\s+(\w+)", line)[1]
            yield f"#ifndef {name}\n{line}\n#endif\n"


def is_there(headers, flags):
    """Whether one of the headers can be included."""
    any_of_them = " || ".join(f"__has_include(<{header}>)" for header in headers)
    return "IS_THERE" in macros(f"#if {any_of_them}\n#define IS_THERE\n#endif\n", flags)


def modes(text, flags):
    """Yields for each mode its name, its flags, its part of the header, and the macros of ours that it defines."""
    tail = TAIL.search(text)
    halves = text[: tail.start()] if tail else text
    interface = halves.split("#elif !defined(MOCK_GATEWAY_IMPLEMENTATION_INCLUDED)")[0]
    for mode, expected in EXPECTED.items():
        yield mode, FLAGS[mode], interface if mode == "interface only" else halves, expected
    for adapter in ADAPTER.finditer(text, len(halves)):
        # C++ headers have no extension, so headers with one are the framework's.
        framework = [header for header in INCLUDE.findall(adapter[2]) if "." in header]
        if is_there(framework, flags):
            mode_flags = [*FLAGS["interface only"], f"-D{adapter[1]}"]
            expected = EXPECTED["interface only"] | {adapter[1], f"{adapter[1]}_INCLUDED"}
            yield f"with {adapter[1]}", mode_flags, interface + adapter[2], expected


def findings(header, mode_flags, text, expected, flags):
    before = macros("".join(without_us(text)), flags)
    after = macros(f'#include "{header}"\n', [*flags, *mode_flags])
    ours = {name for name in after if name.startswith("MOCK_GATEWAY_")}
    yield from (f"{name} is left defined and not public" for name in sorted(ours - expected))
    yield from (f"{name} is missing" for name in sorted(expected - ours))
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
    tried = list(modes(header.read_text(encoding="utf-8"), flags))
    lines = [f"{mode}: {finding}" for mode, *how in tried for finding in findings(header, *how, flags)]
    print("\n".join(lines) or f"{header.name}: no macro left behind in {len(tried)} modes")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
