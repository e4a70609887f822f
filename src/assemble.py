#!/usr/bin/env python3
"""Assembles the single header mock_gateway.hpp from src/.

The interface has the public parts in the order of src/mock_gateway.hpp, and the dependencies of the adapters. The
implementation has the headers that only .cpp files include, then every .cpp. The tail has the adapters, each with its
own guard.
src/ is a plain library. This script adds an inline macro before each function that a .cpp defines, and an inline
namespace in namespace mock_gateway, named after the mode and the version.
It also checks the rules that make it possible to join the parts.
Exit status: 0 done, 1 the committed header differs (--check), 2 a rule is broken.
"""

import argparse
import itertools
import re
import sys
from pathlib import Path

LAYERS = ["core", "model", "request", "keys", "answer", "script", "delivery", "http", "evidence", "serve", "gateway", "document", "adapters"]
ROOT = "mock_gateway.hpp"
PROGRAM = "program"  # the folder that only the program compiles; not part of the header
INTERFACE_LINES = 4800  # the maximum, because every test file compiles them
ADAPTERS = "adapters/"  # the only layer whose code is compiled in the including file
# The parts to reimplement for another system or transport.
PLATFORM_PARTS = ("core/process", "http/poller", "http/sockets", "http/workers")
PLATFORM_HEADER = re.compile(r"(sys|net|netinet|arpa)/.*|(poll|pthread|netdb|unistd|fcntl|windows|winsock2?|ws2tcpip)\.h")

# Comments and literals. Also numbers, because the quote in 1'000 does not begin a character literal.
OPAQUE = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"(?P<delimiter>[^()\\\s]*)\(.*?\)(?P=delimiter)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?P<number>\b[0-9](?:'?[\w.])*)"
    r"|'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
DIRECTIVE = re.compile(r"\s*#\s*(\w+)")
INCLUDE = re.compile(r'\s*#\s*include\s*(?:<(?P<system>[^>]+)>|"(?P<project>[^"]+)")\s*(?://.*)?$')
MACROS = """\
// The mode is part of every mangled name: files that disagree fail to link, and share no half a library.
#if MOCK_GATEWAY_HEADER_ONLY
#define MOCK_GATEWAY_ABI header_only_{abi}
#define MOCK_GATEWAY_INLINE inline
#else
#define MOCK_GATEWAY_ABI compiled_{abi}
#define MOCK_GATEWAY_INLINE
#endif
"""
# The names of this library that <windows.h> defines as macros.
WINDOWS_MACROS = ["max", "min"]
IMPLEMENTATION_GUARD = """\
#if MOCK_GATEWAY_HEADER_ONLY || defined(MOCK_GATEWAY_IMPLEMENTATION)
#if defined(MOCK_GATEWAY_COMPILED) && MOCK_GATEWAY_HEADER_ONLY
#error "mock_gateway::mock_gateway is compiled: link mock_gateway::header_only for MOCK_GATEWAY_HEADER_ONLY=1"
#elif defined(MOCK_GATEWAY_COMPILED)
#error "mock_gateway::mock_gateway brings the implementation: remove MOCK_GATEWAY_IMPLEMENTATION"
#elif !defined(MOCK_GATEWAY_IMPLEMENTATION_INCLUDED)
#define MOCK_GATEWAY_IMPLEMENTATION_INCLUDED
"""


def blank_out(text):
    """Replaces comments and literals by spaces, keeping lines and columns."""
    return OPAQUE.sub(lambda m: m[0] if m["number"] else re.sub(r"[^\n]", " ", m[0]), text)


def in_ascii(opaque):
    """Returns a match of OPAQUE in ASCII. Without /utf-8, MSVC decodes other characters with the system's code page."""
    text, delimiter = opaque[0], opaque["delimiter"]
    if text.isascii():
        return text
    if text[0] == "/":
        return text.replace("…", "...").encode("ascii", "backslashreplace").decode()
    if delimiter is not None:
        content = text[len(delimiter) + 3 : -len(delimiter) - 2]
        text = '"' + re.sub(r'[\\"]', r"\\\g<0>", content).replace("\n", "\\n") + '"'
    return "".join(chr(byte) if byte < 128 else f"\\{byte:o}" for byte in text.encode())


class Part:
    """A source file: its includes, and its lines in the assembled header."""

    def __init__(self, src, path, problems):
        self.path = path
        self.name = path.relative_to(src).as_posix()
        self.label = f"{src.name}/{self.name}"
        self.is_adapter = self.name.startswith(ADAPTERS)
        self.problems = problems
        self.project = []  # (line number, path) of each project include
        self.hoisted = set()  # the headers whose includes move to the top of the interface or implementation
        text = path.read_text(encoding="utf-8")
        self.lines = text.splitlines()
        blanked = blank_out(text)
        kept = list(self._keep(blanked.splitlines()))
        while kept and not kept[-1][1].strip():
            kept.pop()
        changes = {}  # line number: [(column, characters to remove, text to insert)]
        for offset, gone, added in self._marks(blanked):
            start = blanked.rfind("\n", 0, offset) + 1
            changes.setdefault(blanked.count("\n", 0, offset) + 1, []).append((offset - start, gone, added))
        self.kept = [self._with(line, changes.get(number, ())) for number, line in kept]

    def problem(self, line, message):
        self.problems.append(f"{self.label}:{line}: {message}")

    def _keep(self, blanked):
        depth, plain_so_far, just_dropped, last = 0, True, True, ""
        for number, (line, code) in enumerate(zip(self.lines, blanked), start=1):
            directive = DIRECTIVE.match(code)
            word = directive[1] if directive else None
            dropped = False
            if word == "include":
                dropped = self._include(number, line, depth, plain_so_far)
            elif word == "pragma" and "once" in code:
                dropped = True
            elif word:
                # Later includes may depend on the directive, so they stay in place.
                plain_so_far = False
                depth += {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(word, 0)
            if dropped or (just_dropped and not line.strip() and not last.strip()):
                just_dropped = True
                continue
            yield number, line
            just_dropped, last = False, line

    def _include(self, number, line, depth, plain_so_far):
        include = INCLUDE.match(line)
        if not include:
            self.problem(number, 'an include that is neither <header> nor "part.hpp"')
            return True
        if include["project"]:
            path = (self.path.parent / include["project"]).resolve()
            if self.name == ROOT and include["project"].startswith(ADAPTERS):
                return True  # the tail includes each adapter with its guard
            if depth:
                self.problem(number, "a part cannot be included under a condition: joined, it is there once")
            self.project.append((number, path))
            return True
        header = include["system"]
        if header.split("/")[-1] == "httplib.h" and not self.name.startswith("http/"):
            self.problem(number, "httplib.h may be included only in src/http/")
        if PLATFORM_HEADER.fullmatch(header) and not self.name.startswith(PLATFORM_PARTS):
            self.problem(number, f"<{header}> is a system's own, and belongs in {', '.join(PLATFORM_PARTS)}")
        if plain_so_far:
            self.hoisted.add(header)
        return plain_so_far

    @staticmethod
    def _with(line, changes):
        for column, gone, added in sorted(changes, reverse=True):
            line = line[:column] + added + line[column + gone :]
        return line

    def _marks(self, blanked):
        """Yields the changes to the part's text, as (offset, characters to remove, text to insert).

        Reports definitions with internal linkage, which every including file would copy. Only adapters may have them:
        each file's copy fits the test framework as configured in that file.
        """
        code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), blanked, flags=re.M)
        heading_start, scopes = 0, []  # scopes: for each open brace, whether it belongs to a namespace
        ours = ""  # the braces to add at the end of namespace mock_gateway
        anonymous_at = None  # the depth of the outermost anonymous namespace
        for token in re.finditer(r"[{};]|\bstatic\b", code):
            line = code.count("\n", 0, token.start()) + 1
            if token[0] == "static":
                if all(scopes):
                    self.problem(line, "no static at namespace scope: use namespace detail, with a name for the part")
                continue
            heading = code[heading_start : token.start()].strip()
            starts_at = code.find(heading, heading_start)
            heading_start = token.end()
            if token[0] == ";" and not all(scopes) and self._is_virtual(heading):
                yield starts_at + self._first_word(heading), 0, "MOCK_GATEWAY_INLINE "
            if token[0] == "}" and scopes:
                scopes.pop()
                if ours and not scopes:
                    yield token.end(), 0, ours
                    ours = ""
                if len(scopes) == anonymous_at:
                    anonymous_at = None
                continue
            namespace = re.match(r"(?:inline\s+)?namespace\b\s*(.*)", heading, re.DOTALL)
            if namespace and not namespace[1]:
                if not self.is_adapter:
                    self.problem(line, "no anonymous namespace: use namespace detail, with a name for the part")
                elif anonymous_at is None:
                    anonymous_at = len(scopes)
            if token[0] == "{" and namespace and not scopes and namespace[1] == "mock_gateway":
                ours = "}"
                yield token.end(), 0, " inline namespace MOCK_GATEWAY_ABI {"
            elif token[0] == "{" and namespace and not scopes and namespace[1].startswith("mock_gateway::"):
                # namespace mock_gateway::detail {
                ours = "}}"
                within = starts_at + heading.index("::")
                yield within, 2, " { inline namespace MOCK_GATEWAY_ABI { namespace "
            defines = token[0] == "{" or re.search(r"=\s*default$", heading)
            shared = all(scopes) and anonymous_at is None
            if defines and not namespace and shared and self._is_function(heading):
                if self.path.suffix == ".hpp":
                    self.problem(line, "a function defined in a header needs inline")
                else:
                    yield starts_at + self._first_word(heading), 0, "MOCK_GATEWAY_INLINE "
            if token[0] == "{":
                # `extern "C" {` opens no scope.
                scopes.append(bool(namespace) or heading == "extern")

    @staticmethod
    def _first_word(heading):
        """The offset of a declaration after access specifiers and attributes."""
        return re.match(r"((public|protected|private)\s*:\s*|\[\[.*?\]\]\s*)*", heading, re.DOTALL).end()

    @staticmethod
    def _is_virtual(heading):
        """Whether it declares a virtual function that a .cpp defines.

        Such declarations need the inline macro too. If a class's first virtual function is not declared inline, compilers
        emit the vtable, and everything it references, in each file with the function's definition.
        """
        return "(" in heading and bool(re.search(r"^(?!.*=\s*(0|default|delete)$).*\b(virtual|override|final)\b", heading, re.DOTALL))

    @staticmethod
    def _is_function(heading):
        # A heading that starts with a comma is the rest of a member initializer list.
        inline = r"\b(inline|constexpr|template|class|struct|union|enum|static|static_assert)\b"
        return "(" in heading and not heading.startswith(",") and not re.search(inline, heading)


class Library:
    """All parts of a source folder, in the order of the assembled header."""

    def __init__(self, src):
        self.src = src
        self.problems = []
        self.parts = {}
        for path in sorted(src.rglob("*.[hc]pp")):
            if path.parent.name == PROGRAM:
                continue
            self.parts[path] = Part(src, path, self.problems)
        for part in self.parts.values():
            self._check_place(part)
        root = self.parts[src / ROOT]
        self.description = list(itertools.takewhile(lambda line: line.startswith("//"), root.kept))

        # Always comes first in the interface, so it is not placed as a dependency.
        self.version = self.parts[src / "core/version.hpp"]
        number = re.search(r'^#define MOCK_GATEWAY_VERSION "(.*)"', "\n".join(self.version.lines), re.M)
        self.abi = "_".join(number[1].split(".")[:2])  # before 1.0, minor versions may change the interface
        placed, self.interface, self.implementation = {root.path, self.version.path}, [], []
        self.adapters = [part for part in self.parts.values() if part.is_adapter]
        self._add_dependencies(root, placed, self.interface, ())
        if not self.problems:
            self._check_named(root)
        for part in self.adapters:
            self._add_dependencies(part, placed, self.interface, ())
        sources = [part for part in self.parts.values() if part.path.suffix == ".cpp" and not part.is_adapter]
        for part in sources:
            self._add_dependencies(part, placed, self.implementation, ())
        # The interface keeps the order of the root file.
        for half in (self.implementation, sources):
            half.sort(key=self._layer)
        self.implementation += sources
        joined = {root, self.version, *self.interface, *self.implementation, *self.adapters}
        for part in self.parts.values():
            if part not in joined:
                part.problem(1, "nothing includes this part")

    @staticmethod
    def _layer(part):
        folder = part.name.split("/")[0]
        return LAYERS.index(folder) if folder in LAYERS else len(LAYERS)

    def _check_place(self, part):
        folders = part.name.split("/")[:-1]
        if part.name != ROOT and (len(folders) != 1 or folders[0] not in LAYERS):
            part.problem(1, f"a part lives in the folder of its layer, one of: {', '.join(LAYERS)}")
        for line, path in part.project:
            included = self.parts.get(path)
            if not included or path.suffix != ".hpp":
                part.problem(line, "no such part: includes are relative to the file, and third-party headers take <>")
            elif part.name != ROOT and self._layer(included) > self._layer(part):
                part.problem(line, f"{part.name} may not include {included.name} from a higher layer")

    def _add_dependencies(self, part, placed, order, chain):
        chain += (part,)
        for line, path in part.project:
            included = self.parts.get(path)
            if included in chain:
                circle = [*chain[chain.index(included) :], included]
                part.problem(line, "a circle of includes: " + " -> ".join(step.name for step in circle))
            elif included and path not in placed:
                placed.add(path)
                self._add_dependencies(included, placed, order, chain)
                order.append(included)

    def _check_named(self, root):
        named = {path for _, path in root.project}
        for part in self.interface:
            for line, path in part.project:
                if path not in named and path != self.version.path and path in self.parts:
                    part.problem(
                        line,
                        f"{self.parts[path].name} is internal, and the interface reaches it here: include it in a .cpp, "
                        f"or name it in {ROOT}",
                    )


def include_block(parts, already):
    """The hoisted includes of some parts, each once."""
    headers = sorted(set().union(*(part.hoisted for part in parts)) - already)
    already.update(headers)
    # Headers of the C++ library, which have no extension, come first.
    for group in ([h for h in headers if "." not in h], [h for h in headers if "." in h]):
        if group:
            yield from [*(f"#include <{header}>" for header in group), ""]


def assemble(library):
    """The text of the assembled header."""
    body = []
    contents = []  # (part or heading, index of its first line in the body)
    already = set()

    def add(part):
        contents.append((part.name, len(body)))
        body.extend([f"// ---- {part.name} ".ljust(120, "-"), "", *part.kept, ""])

    def define_macros():
        body.extend(MACROS.format(abi=library.abi).split("\n"))

    def undefine_macros():
        body.extend(["#undef MOCK_GATEWAY_ABI", "#undef MOCK_GATEWAY_INLINE"])

    def add_all(parts):
        define_macros()
        for name in WINDOWS_MACROS:
            body.extend([f'#pragma push_macro("{name}")', f"#undef {name}"])
        for part in parts:
            add(part)
        body.extend(f'#pragma pop_macro("{name}")' for name in WINDOWS_MACROS)
        undefine_macros()

    contents.append(("Interface", 0))
    body.extend(["#ifndef MOCK_GATEWAY_HPP", "#define MOCK_GATEWAY_HPP", ""])
    body.extend(include_block(library.interface, already))
    of_interface = set(already)  # the includes that adapters can rely on in either mode
    add(library.version)
    add_all(library.interface)
    body.extend(["#endif  // MOCK_GATEWAY_HPP", ""])

    contents.append(("Implementation", len(body)))
    body.extend(IMPLEMENTATION_GUARD.split("\n"))
    body.extend(include_block(library.implementation, already))
    add_all(library.implementation)
    body.append("#endif  // MOCK_GATEWAY_IMPLEMENTATION_INCLUDED")
    body.append("#endif  // MOCK_GATEWAY_HEADER_ONLY || defined(MOCK_GATEWAY_IMPLEMENTATION)")

    if library.adapters:
        guards = {part: f"MOCK_GATEWAY_ADAPTER_{part.path.stem.upper()}" for part in library.adapters}
        contents.append(("Adapters", len(body) + 1))
        body.extend(["", "// Outside of the guards above, so that an adapter may be asked for after a first include."])
        body.extend(("#if " + " || \\\n    ".join(f"defined({guard})" for guard in guards.values())).split("\n"))
        body.append("")
        define_macros()
        for part, guard in guards.items():
            body.extend([f"#if defined({guard}) && !defined({guard}_INCLUDED)", f"#define {guard}_INCLUDED", ""])
            body.extend(include_block([part], set(of_interface)))
            add(part)
            body.extend([f"#endif  // {guard}", ""])
        undefine_macros()
        body.append("#endif  // adapters")

    top = library.description + [
        "//",
        "// Copyright (c) 2026 the mock_gateway authors",
        "// SPDX-License-Identifier: MIT",
        "//",
        "// Generated: do not edit this file by hand. Edit src/ and run `python3 src/assemble.py`.",
        "// What is where is listed at the end.",
        "",
    ]
    end = ["", "// Contents, by line:"]
    for name, index in contents:
        indent = "  " if "/" in name else ""
        end.append(f"// {len(top) + index + 1:6}  {indent}{name}")
    return OPAQUE.sub(in_ascii, "\n".join(top + body + end) + "\n")


def main():
    parser = argparse.ArgumentParser(description="Joins src/ into the single header mock_gateway.hpp.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the header is stale")
    parser.add_argument("--src", type=Path, default=Path(__file__).parent, help="another source folder", metavar="DIR")
    options = parser.parse_args()

    library = Library(options.src.resolve())
    for problem in library.problems:
        print(problem, file=sys.stderr)
    if library.problems:
        return 2
    output = library.src.parent / ROOT
    text = assemble(library)
    lines = text[: text.index("#endif  // MOCK_GATEWAY_HPP")].count("\n")
    if lines > INTERFACE_LINES:
        print(f"the interface has {lines} lines, and {INTERFACE_LINES} at most: make it smaller", file=sys.stderr)
        return 2
    content = text.encode("utf-8")
    if not options.check:
        output.write_bytes(content)
    elif not output.exists() or output.read_bytes() != content:
        print(f"{output.name} is stale: run `python3 src/assemble.py`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
