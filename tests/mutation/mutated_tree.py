"""The mutated copy of the checkout: every sampled mutant is compiled in, behind a switch set by the environment."""

import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
LABELS = {"sources", "endpoint", "examples", "adapters", "bugs"}  # of the tests to run
CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef)\b", re.MULTILINE)
LOCATION = re.compile(r"^(?:.*?from |In file included from )?([^\s:()]+):(\d+)(?::\d+)?[:,]?(.*)$")


def with_edits(text, start, end, edits):
    """Returns the text of [start, end) with the edits."""
    parts, place = [], start
    for first, last, new in sorted(edits):
        if start <= first and last <= end:
            parts += [text[place:first], new]
            place = last
    return "".join(parts + [text[place:end]])


def switched(text, mutants, path):
    """Returns the file with each mutant behind its switch; `mutants` is {number: mutant}."""
    edits = sorted({edit for mutant in mutants.values() for edit in map(tuple, mutant.also)})
    order = sorted(mutants.items(), key=lambda item: (item[1].start, -item[1].end, item[0]))

    def emit(start, end, inner):
        parts, place = [], start
        while inner:
            number, outer = inner[0]
            within = [item for item in inner[1:] if item[1].start < outer.end]
            inner = inner[1 + len(within):]
            written = emit(outer.start, outer.end, within)
            parts += [with_edits(text, place, outer.start, edits), switch(number, outer, written)]
            place = outer.end
        return "".join(parts + [with_edits(text, place, end, edits)])

    def switch(number, mutant, written):
        on, mutated = f"::mutation::on({number})", mutant.mutated(text)
        if mutant.form == "statement":
            mistake = f"{{ if ({on}) {{ {mutated} }} else {{ {written} }} }}"
        elif mutant.form == "declaration":
            mistake = f"{written}; !{on} && static_cast<bool>({mutant.declared})"
        elif mutant.form == "condition":
            mistake = f"({on} ? static_cast<bool>({mutated}) : static_cast<bool>({written}))"
        else:
            mistake = f"({on} ? ({mutated}) : ({written}))"
        return f"/*<{number}>*/{mistake}/*</{number}>*/"

    # Keeps the line numbers of the original, except for mutants of several lines.
    return f'#include "{HERE / "switch.hpp"}"\n#line 1 "{path}"\n' + emit(0, len(text), order) if mutants else text


def lines_of(written):
    """Returns {number: (first, last)}: the lines of each switch, as the compiler counts them."""
    skipped = 2 if written.startswith("#include \"" + str(HERE)) else 0
    spans = {}
    for found in re.finditer(r"/\*<(/?)(\d+)>\*/", written):
        line = written.count("\n", 0, found.start()) + 1 - skipped
        number = int(found[2])
        spans[number] = (spans[number][0], line) if found[1] and number in spans else (line, line)
    return spans


def difference(text, mutant):
    """Returns the mistake as a diff of the changed lines."""
    changed = text[:mutant.start] + mutant.mutated(text) + text[mutant.end:]
    lines = difflib.unified_diff(text.splitlines(), changed.splitlines(), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


class Tree:
    def __init__(self, folder, jobs):
        self.root = Path(folder).resolve() / "tree"
        self.build = self.root / "build" / "dev"
        self.jobs = jobs

    def copy(self):
        """Updates the copy from the checkout. Keeps equal files, so that they are not recompiled."""
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=CHECKOUT, check=True,
                                capture_output=True, text=True).stdout.splitlines()
        files = {name for name in listed if (CHECKOUT / name).is_file()}
        for name in sorted(files):
            target = self.root / name
            if not target.exists() or target.read_bytes() != (CHECKOUT / name).read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(CHECKOUT / name, target)
                shutil.copymode(CHECKOUT / name, target)
        for folder in ("src", "endpoint", "tests"):
            for path in (self.root / folder).rglob("*"):
                if path.is_file() and path.relative_to(self.root).as_posix() not in files and \
                        "__pycache__" not in path.parts:
                    path.unlink()

    def write(self, mutants, texts):
        """Writes the mutated files. Files without a mutant equal the checkout."""
        self.spans = {}
        for file, text in texts.items():
            inside = {number: mutant for number, mutant in mutants.items() if mutant.file == file}
            written = switched(text, inside, self.root / file)
            if (self.root / file).read_text(encoding="utf-8") != written:
                (self.root / file).write_text(written, encoding="utf-8")
            self.spans[file] = lines_of(written)

    def configure(self):
        subprocess.run(["cmake", "--preset", "dev", "-DMOCK_GATEWAY_BUILD_EXAMPLES=ON",
                        "-DMOCK_GATEWAY_ALL_TESTS=ON", "-DMOCK_GATEWAY_WARNINGS_AS_ERRORS=OFF",
                        "-DCMAKE_CXX_FLAGS=" + os.environ.get("CXXFLAGS", "") + " -Werror=return-local-addr"],
                       cwd=self.root, check=True, stdout=subprocess.DEVNULL)

    def tests(self):
        """Returns the tests to run, as ctest describes them."""
        listed = subprocess.run(["ctest", "--test-dir", str(self.build), "--show-only=json-v1"], check=True,
                                capture_output=True, text=True).stdout
        for entry in json.loads(listed)["tests"]:
            properties = {item["name"]: item["value"] for item in entry.get("properties", [])}
            if LABELS & set(properties.get("LABELS", [])):
                yield {**entry, "properties": properties}

    def compile(self):
        """Builds what the tests need. Returns the compiler's errors, or None."""
        targets = ["needs." + entry["name"] for entry in self.tests()]
        done = subprocess.run(["cmake", "--build", "--preset", "dev", f"-j{self.jobs}", "--target", *targets, "--", "-k0"],
                              cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        (self.root.parent / "build.log").write_text(done.stdout, encoding="utf-8")
        return done.stdout if done.returncode else None

    def left_out(self, mutants, texts):
        """Returns the mutants that the preprocessor removes, in code for other systems."""
        wanted = {number for number, mutant in mutants.items() if CONDITIONAL.search(texts[mutant.file])}
        for entry in json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8")):
            if not wanted:
                break
            words = shlex.split(entry["command"])
            words[words.index("-o") + 1] = "-"
            seen = subprocess.run([*words, "-E"], cwd=entry["directory"], check=False, capture_output=True).stdout
            wanted -= {int(number) for number in re.findall(rb"mutation::on\((\d+)\)", seen)}
        return wanted

    def blamed(self, output):
        """Yields for each error of the compiler the set of mutants at its position."""
        begins = (" error: ", " warning: ", "In instantiation of", "In substitution of", "In file included from",
                  "In function ", "In member function", "In lambda function", "FAILED: ")
        around, error = set(), False
        for line in [*output.splitlines(), "FAILED: "]:
            if error and any(word in line for word in begins):
                yield around
                around, error = set(), False
            error = error or " error: " in line
            found = LOCATION.match(line.strip())
            if found:
                around |= self._standing_at(found[1], int(found[2]))
            if " warning: " in line:
                around = set()

    def _standing_at(self, path, line):
        try:
            file = os.path.relpath(os.path.join(self.build, path), self.root)
        except ValueError:
            return set()
        spans = self.spans.get(file, {})
        return {number for number, (first, last) in spans.items() if first <= line <= last}
