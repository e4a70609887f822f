"""Turns the C++ of README.md into a doctest program, so that what the README shows compiles, runs and holds.

Usage: extract.py README.md OUTPUT.cpp. Python's standard library only.

- A ```cpp block becomes a TEST_CASE, in which `gateway` and `client` are there unless the block declares a `gateway`.
  A block with a TEST_CASE of its own is taken as it is.
- A code span that begins with one of the names of `SPAN_SCOPE`, or in a column headed `Options{}` with a ".", is
  compiled as an expression and not run.
- What the snippets stand on is in prelude.hpp. Compilers and doctest report the README's own lines.
- What would silently be left out ends the build: a fence of another kind than `FENCES` or not closed, a README without
  C++, a link to a file that is not there, a setter of Options or a switch of Acceptance that the README does not name.
"""

import re
import sys
from pathlib import Path

FENCES = {"cpp", "cmake", "sh", "text", "sh endpoint", "text endpoint", "python endpoint", "js endpoint"}

# What spans may begin with, and what it is there.
SPAN_SCOPE = {
    "gateway": "Gateway& gateway",
    "client": "const Client& client",
    "key": "const CreatedKey& key",
    "clock": "ManualClock& clock",
    "gate": "Gate& gate",
    "stub": "const Stub& stub",
    "exchange": "const Exchange& exchange",
    "request": "const ChatRequest& request",
    "handler": "const OperationHandler& handler",
}
SPAN = re.compile(r"(?:" + "|".join(SPAN_SCOPE) + r"|Options\{\}|Acceptance|Profile|KeyOptions\{\})[.:({]")


def fail(path, line, message):
    sys.exit(f"{path}:{line}: {message}")


def blocks(path, lines):
    """Yields (line number of the first line, info string, lines) of each fenced block, and blanks it out."""
    start, info = None, ""
    for index, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            start, info = index + 1, line[3:].strip()
            if info not in FENCES:
                fail(path, index + 1, f"a fence is one of {', '.join(sorted(FENCES))}, not {info!r}")
        else:
            yield start + 1, info, lines[start:index]
            lines[start - 1 : index + 1] = [""] * (index + 2 - start)
            start = None
    if start is not None:
        fail(path, start, "this fence is not closed")


def test_case(path, number, heading, code):
    resync = f'#line {number} "{path}"'
    if any(line.startswith("TEST_CASE(") for line in code):
        return [resync, *code, ""]
    setup = []
    if not any(re.search(r"\bGateway gateway\b", line) for line in code):
        setup = ["  Gateway gateway;", "  [[maybe_unused]] const Client client{gateway.base_url(), gateway.api_key()};"]
    return [resync, f'TEST_CASE("README.md:{number}, {heading}") {{', *setup, resync, *code, "}", ""]


def spans(lines):
    """Yields (line number, expression) of each code span that is C++."""
    options = False  # in a table whose first column is Options
    for number, line in enumerate(lines, start=1):
        if not line.startswith("|"):
            options = False
        elif line.startswith("| `Options{}` |"):
            options = True
            continue
        for span in re.findall(r"`([^`]+)`", line):
            if SPAN.match(span):
                yield number, span
            elif options and span.startswith("."):
                yield number, "Options{}" + span


def undocumented(header, text):
    """Yields the setters of Options and the switches of Acceptance that the README does not name."""
    interface = header.read_text(encoding="utf-8")
    setters = re.findall(r"(?<!Key)Options& (\w+)\(", interface)
    (acceptance,) = re.findall(r"^struct Acceptance \{(.*?)^\};", interface, re.MULTILINE | re.DOTALL)
    switches = re.findall(r"^  bool (\w+) = ", acceptance, re.MULTILINE)
    if not setters or not switches:
        fail(header, 1, "Options or Acceptance do not look as they did")
    yield from (f"Options::{name}" for name in setters if f"`.{name}(" not in text)
    yield from (f"Acceptance::{name}" for name in switches if f"`{name}`" not in text)


def main():
    path, output = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    text = path.read_text(encoding="utf-8")
    for name in undocumented(path.parent / "mock_gateway.hpp", text):
        fail(path, 1, f"{name} is not named")
    lines = text.splitlines()
    headings, heading = [], ""
    for line in lines:
        heading = line.lstrip("# ") if line.startswith("#") else heading
        headings.append(heading)

    tests = []
    for number, info, code in blocks(path, lines):
        if info == "cpp":
            tests += test_case(path, number, headings[number - 1], code)
    if not tests:
        fail(path, 1, "no C++ at all: has the convention changed?")

    for number, line in enumerate(lines, start=1):
        for target in re.findall(r"\]\(([^)#:]+)\)", re.sub(r"`[^`]*`", "", line)):
            if not (path.parent / target).exists():
                fail(path, number, f"there is no {target}")

    parameters = ", ".join(f"[[maybe_unused]] {parameter}" for parameter in SPAN_SCOPE.values())
    checks = []
    for number, expression in spans(lines):
        checks += [f'#line {number} "{path}"', f"  (void)({expression});"]
    output.write_text(
        "\n".join(
            [
                "// Generated from README.md by tests/readme/extract.py.",
                '#include "readme/prelude.hpp"',
                "",
                *tests,
                f"void readme_spans({parameters});",
                f"void readme_spans({parameters}) {{",
                *checks,
                "}",
                "",
            ]
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
