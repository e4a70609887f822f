"""Converts the C++ of a page of the documentation to a doctest file, to check that the examples compile and are
correct.

Usage: extract.py PAGE.md OUTPUT.cpp. Uses only Python's standard library; docs_test.py checks everything except C++.

- A block ```cpp becomes a TEST_CASE with the variables `gateway` and `client`, unless the block declares a `gateway`.
  A block with its own TEST_CASE is copied. ```cpp examples/… is a whole file: docs_test.py compares it.
- A code span that begins with one of the names of `SPAN_SCOPE` is compiled as an expression and not run.
- A table with a code span as the heading of its first column is compiled too. If the heading is a type, such as
  `Matcher`, the code spans of this column are values of the type. If it is an expression, such as `Options()`, code
  spans that begin with a "." are calls on it, in every column.
- A table whose heading is in `COMPLETE` must list everything of its kind.
- For the expressions of `DEFAULTS`, the column "default" must equal the value without a setter. A column "type"
  applies to the calls and fields of its row: one type for all of them, or one for each.
- prelude.hpp declares the names that snippets use. Compilers and doctest report lines of the page.
- A fence of a kind that is not in `FENCES`, an unclosed fence, or a page without C++ fails the build.
"""

import re
import sys
from pathlib import Path

FENCES = {
    "cpp": "compiled and run",
    "cmake": "what tests/consume does",
    "sh not-run": "a command that takes minutes or a network; tests/consume and .ci/run do the same",
    "text failure": "compared by tests/failure_texts_test.py",
    "sh endpoint": "run by shell_test.py, as are the next three",
    "text endpoint": "",
    "python endpoint": "",
    "js endpoint": "",
    "sh scripts": "run by scripts_test.py, as are those of `NAMED_FENCES` that name a file",
    "text scripts": "",
    "sh sdk": "",
    "jsonc": "checked by scripts_test.py",
    "yaml": "a job that only a CI service runs",
}
# The beginnings of fences that name a file.
NAMED_FENCES = ("cpp examples/", "jsonc ", "sh saved ", "python saved ", "js saved ")

# The beginnings of compiled spans, and the objects that they need.
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
    "scenario": "const Scenario& scenario",
    "mishap": "const Mishap& mishap",
    "broken": "const SweepStep& broken",
}
SPAN = re.compile(
    r"(?:" + "|".join(SPAN_SCOPE) + r")[.]\w+\("
    r"|(?:Options|KeyOptions|SseDialect|Pace|SweepOptions)\(\)[.]|(?:Acceptance|Profile)::\w"
)
# Tables that must be complete, by the heading of their first column.
COMPLETE = {
    "code": "finding_codes()",
    "key of an exchange": "keys_of(some_exchange())",
    "key of a verification": "keys_of(as_json(Gateway().verify()))",
    "key of a review": "keys_of(as_json(Gateway().review()))",
}
# Expressions whose setters have a getter, or that have fields.
DEFAULTS = {"Acceptance()", "SseDialect()", "ClientOutcome()"}


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
            if info not in FENCES and not info.startswith(NAMED_FENCES):
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
    return [resync, f'TEST_CASE("{path.name}:{number}, {heading}") {{', *setup, resync, *code, "}", ""]


def code_spans(text):
    return [span.replace("\\|", "|") for span in re.findall(r"`([^`]+)`", text)]


def rows(lines):
    """Yields (line number, heading of the first column, {heading: cell}, cells) of each row of a table."""
    head = None
    for number, line in enumerate(lines, start=1):
        if not line.startswith("|"):
            head = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if head is None:
            head = cells
        elif not re.fullmatch(r"[|: -]+", line):
            subject = re.fullmatch(r"`([^`]+)`", head[0])
            yield number, subject and subject[1], dict(zip(head, cells)), cells


def statements(lines):
    """Yields (line number, statement) of each C++ code span, to be compiled but not run."""
    for number, subject, _, cells in rows(lines):
        if subject and re.fullmatch(r"[A-Z]\w*", subject):
            for span in code_spans(cells[0]):
                yield number, f"{{ [[maybe_unused]] const {subject} value = {span}; }}"
        elif subject:
            for span in code_spans(" ".join(cells)):
                if span.startswith("."):
                    yield number, f"static_cast<void>({subject}{span});"
    for number, line in enumerate(lines, start=1):
        for span in code_spans(line):
            if SPAN.match(span):
                yield number, f"static_cast<void>({span});"


def read_back(subject, span):
    """Returns the code that reads a setter's value or a field."""
    return subject + (re.sub(r"\(.*", "()", span) if subject in DEFAULTS else span)


def calls_and_fields(subject, cells):
    return [read_back(subject, span) for span in code_spans(cells[0]) if subject and span.startswith(".")]


def defaults(lines):
    """Yields (line number, check) of each default in a table."""
    for number, subject, cell_of, cells in rows(lines):
        value = re.fullmatch(r"`([^`]+)`", cell_of.get("default", ""))
        if value and subject in DEFAULTS:
            yield from ((number, f"CHECK({call} == {value[1]});") for call in calls_and_fields(subject, cells))


def types(lines):
    """Yields (line number, check) of each type in a table."""
    for number, subject, cell_of, cells in rows(lines):
        calls, told = calls_and_fields(subject, cells), code_spans(cell_of.get("type", ""))
        for call, name in zip(calls, told * len(calls) if len(told) == 1 else told):
            yield number, f"static_assert(std::is_same_v<std::decay_t<decltype({call})>, {name}>);"


def complete_lists(lines):
    """Yields (line number, check) of each table that must be complete."""
    named = {}
    for number, _, cell_of, cells in rows(lines):
        head = next(iter(cell_of))
        if head in COMPLETE:
            named.setdefault(head, (number, []))[1].extend(code_spans(cells[0]))
    for head, (number, names) in named.items():
        listed = ", ".join(f'"{name}"' for name in names)
        yield number, f"CHECK(sorted({{{listed}}}) == sorted({COMPLETE[head]}));"


def main():
    path, output = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    lines = path.read_text(encoding="utf-8").splitlines()
    headings, heading = [], ""
    for line in lines:
        heading = line.lstrip("# ").replace("`", "") if line.startswith("#") else heading
        headings.append(heading)

    tests = []
    for number, info, code in blocks(path, lines):
        if info == "cpp":
            tests += test_case(path, number, headings[number - 1], code)
    if not tests:
        fail(path, 1, "no C++ at all: has the convention changed?")

    compared = []
    for number, check in [*defaults(lines), *complete_lists(lines)]:
        compared += [f'#line {number} "{path}"', f"  {check}"]
    if compared:
        tests += [f'TEST_CASE("{path.name}, its tables") {{', *compared, "}", ""]

    parameters = ", ".join(f"[[maybe_unused]] {parameter}" for parameter in SPAN_SCOPE.values())
    checks = []
    for number, statement in [*statements(lines), *types(lines)]:
        checks += [f'#line {number} "{path}"', f"  {statement}"]
    name = "spans_of_" + re.sub(r"\W", "_", path.stem)
    output.write_text(
        "\n".join(
            [
                f"// Generated from {path.name} by tests/readme/extract.py.",
                '#include "readme/prelude.hpp"',
                "",
                *tests,
                f"void {name}({parameters});",
                f"void {name}({parameters}) {{",
                *checks,
                "}",
                "",
            ]
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
