"""Checks the scripts in docs/ and examples/scripts, and runs the shell lines of the pages about them.

Usage: scripts_test.py CHECKOUT MOCK_GATEWAY [PAGE…]. With pages, such as docs/your-app.md, runs only these. Uses only
Python's standard library. These blocks are processed in the order of the page:

- "jsonc" and "jsonc FILE": a valid script without warnings; "jsonc bad FILE": an invalid script
- "sh saved FILE" and others, such as "python saved FILE": a file for the following lines, in their folder
- "sh scripts": lines that must succeed, all of a page in one shell, as for a reader; a following block "text scripts"
  is their output
- "sh sdk": the same if tests/clients/run.sh has installed the SDKs, or with a recent Go, Java or Rust; otherwise only
  the syntax of Python and JavaScript is checked
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

# A package may install a link with another name, so the program's path is not resolved.
CHECKOUT, PROGRAM, CHOSEN = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).absolute(), sys.argv[3:]
PAGES = {"docs/catalogue.md": {"jsonc"},
         "docs/scripts.md": {"jsonc", "jsonc bad", "sh scripts", "text scripts"},
         "docs/check.md": {"sh scripts", "text scripts"},
         "docs/driver-protocol.md": {"sh scripts", "text scripts"},
         "docs/ci.md": {"jsonc", "sh scripts", "text scripts", "sh sdk"},
         "docs/control.md": {"jsonc", "sh scripts", "text scripts"},
         "docs/helpers.md": {"sh sdk"},
         "docs/load.md": {"jsonc"},
         "docs/your-app.md": {"jsonc", "sh scripts", "text scripts", "sh sdk"}}
if CHOSEN:
    PAGES = {page: PAGES[page] for page in CHOSEN}
PORTS = ("8080", "8081")  # of the pages; replaced by free ports
VENV, NODE_MODULES = CHECKOUT / "build/clients/venv/bin", CHECKOUT / "tests/clients/node/node_modules"
TIMEOUT = 120  # seconds; a timeout for tests that hang

# A place in a script for an example of each type.
PLACES = {
    "duration": lambda value: {"gateway": {"idle_timeout": value}},
    "timing": lambda value: {"gateway": {"pace": {"every": value}}},
    "rate": lambda value: {"gateway": {"pace": {"tokens_per_second": value}}},
    "chunking": lambda value: {"stubs": [{"reply": {"text": "one two", "chunked": value}}]},
    "headers": lambda value: {"stubs": [{"reply": {"text": "one", "headers": value}}]},
    "range": lambda value: {"stubs": [{"reply": "one", "expect": value}]},
    "operation": lambda value: {"keys": [{"name": "one", "operations": [value]}], "operations": [
        {"method": "POST", "path": "/v1/images/generations", "reply": {}}]},
}


def environment(*folders):
    """Removes variables that would redirect curl and the SDKs."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("OPENAI_") and not name.lower().endswith("_proxy")}
    path = os.pathsep.join([*map(str, folders), str(PROGRAM.parent), os.environ["PATH"]])
    return {**kept, "PATH": path, "NO_COLOR": "1"}


def free_ports(count):
    with contextlib.ExitStack() as listeners:
        sockets = [listeners.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [str(one.getsockname()[1]) for one in sockets]


def blocks(path, ports):
    """Yields (line, words of the info string, text) of each block."""
    text = path.read_text(encoding="utf-8")
    for port, free in zip(PORTS, ports):
        text = re.sub(rf"\b{port}\b", free, text)
    for found in re.finditer(r"^```(\S[^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start()) + 1, found[1].split(" "), found[2]


class Shell:
    """Runs blocks one after the other, until one fails."""

    DRIVER = """
        exec 3< blocks
        while read -r block <&3; do
          { . "./$block"; } > "$block.out" 2> "$block.err"
          : > "$block.done"
        done"""

    def __init__(self, folder):
        self.folder = folder
        self.count = 0
        os.mkfifo(folder / "blocks")
        self.process = subprocess.Popen(["sh", "-euc", self.DRIVER], cwd=folder, env=environment(VENV),
                                        stdin=subprocess.DEVNULL)
        self.blocks = open(folder / "blocks", "w", encoding="utf-8")

    def run(self, text):
        """Returns whether the lines succeeded, their output, and their stderr."""
        self.count += 1
        block = self.folder / f"block-{self.count}"
        block.write_text(text, encoding="utf-8")
        self.blocks.write(block.name + "\n")
        self.blocks.flush()
        done = Path(f"{block}.done")
        deadline = time.monotonic() + TIMEOUT
        while not done.exists() and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        out, err = (Path(f"{block}.{kind}").read_text(encoding="utf-8") for kind in ("out", "err"))
        return done.exists(), out, err

    def end(self):
        self.process.kill()
        self.process.wait()
        self.blocks.close()


class Page:
    """Processes the blocks of a page one by one."""

    def __init__(self, test, path, folder):
        self.test, self.path, self.folder = test, path, Path(folder)
        self.printed = None
        self.kinds = set()
        self.where = ""
        self.ports = free_ports(len(PORTS))
        (self.folder / "node_modules").symlink_to(NODE_MODULES)
        (self.folder / "mock_gateway").symlink_to(CHECKOUT)
        self.shell = Shell(self.folder)

    def take_all(self):
        for line, words, text in blocks(self.path, self.ports):
            self.where = f"{self.path.name}:{line}"
            self.take(words, text)

    def end(self):
        """Ends the shell, and a program that the page started but did not stop because a line failed."""
        self.shell.end()
        info = self.folder / "info.json"
        if info.exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(json.loads(info.read_text(encoding="utf-8"))["pid"], signal.SIGKILL)

    def take(self, words, text):
        kind = " ".join(words)
        if words[0] == "jsonc":
            self.kinds.add("jsonc bad" if words[1:2] == ["bad"] else "jsonc")
            self.take_script(words[1:], text)
        elif words[1:2] == ["saved"]:
            (self.folder / words[2]).write_text(text, encoding="utf-8")
            self.check_syntax(words[0], words[2])
        elif kind == "sh scripts":
            self.printed = self.run_lines(text)
        elif kind == "text scripts":
            self.test.assertIsNotNone(self.printed, f"{self.where}: no shell lines stand before it")
            self.test.assertEqual(self.printed, text, self.where)
            self.printed = None
        elif kind == "sh sdk":
            others = ["python3", "go test", "java", "rustc"]
            if is_installed(next((language for language in others if language in text), "node")):
                self.run_lines(text)
        else:
            return
        self.kinds.add(kind if words[0] != "jsonc" else "jsonc")

    def take_script(self, words, text):
        bad = words[:1] == ["bad"]
        name = words[-1] if words else "unnamed.jsonc"
        (self.folder / name).write_text(text, encoding="utf-8")
        valid, problems = validate(self.folder / name)
        if bad:
            self.test.assertFalse(valid, f"{self.where} can be served")
        else:
            self.test.assertEqual((valid, problems), (True, []), self.where)

    def run_lines(self, text):
        good, out, err = self.shell.run(text)
        self.test.assertTrue(good, f"{self.where}\n{out}{err}")
        return out

    def run(self, command):
        done = subprocess.run(command, cwd=self.folder, env=environment(VENV), text=True, capture_output=True,
                              timeout=TIMEOUT, stdin=subprocess.DEVNULL, check=False)
        self.test.assertEqual(done.returncode, 0, f"{self.where}\n{done.stdout}{done.stderr}")
        return done.stdout

    def check_syntax(self, language, name):
        if language == "python":
            compile((self.folder / name).read_text(encoding="utf-8"), name, "exec")
        elif language == "js" and shutil.which("node"):
            self.run(["node", "--check", name])
        elif language == "sh":
            self.run(["sh", "-n", name])


def is_installed(language):
    """Whether the requirements of a page's tests are installed: their SDKs, or a recent compiler."""
    if language in ("python3", "node"):
        return {"python3": VENV, "node": NODE_MODULES}[language].is_dir()
    command, oldest = {"go test": (["go", "env", "GOVERSION"], (1, 22)), "java": (["java", "--version"], (11, 0)),
                       "rustc": (["rustc", "--version"], (1, 58))}[language]
    if not shutil.which(command[0]):
        return False
    version = subprocess.run(command, text=True, capture_output=True, timeout=TIMEOUT, check=False)
    return version.returncode == 0 and tuple(map(int, re.findall(r"\d+", version.stdout)[:2])) >= oldest


def validate(path):
    """Returns whether a script is valid, and the messages about it."""
    done = subprocess.run([PROGRAM, "validate", "--format", "json", str(path)], text=True, capture_output=True,
                          timeout=TIMEOUT, stdin=subprocess.DEVNULL, check=False)
    answer = json.loads(done.stdout)
    assert done.returncode == (0 if answer["valid"] else 2), done
    return answer["valid"], [f"{problem['pointer']}: {problem['message']}" for problem in answer["problems"]]


class Scripts(unittest.TestCase):
    maxDiff = None

    def test_the_pages_are_correct(self):
        if not shutil.which("curl"):
            self.skipTest("curl is not installed")
        for name, kinds in PAGES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                page = Page(self, CHECKOUT / name, folder)
                try:
                    page.take_all()
                finally:
                    page.end()
                self.assertEqual(kinds - page.kinds, set(), f"{name} has no such blocks: have they another mark?")

    def test_the_routes_of_the_control_api_are_listed(self):
        """docs/control.md has a row for each route that the program documents, and for no other."""
        text = (CHECKOUT / "docs/control.md").read_text(encoding="utf-8")
        listed = re.findall(r"`(GET|PUT|POST|PATCH|DELETE) (/\S*)`", text[text.index("## Routes") :])
        done = subprocess.run([PROGRAM, "openapi"], text=True, capture_output=True, timeout=TIMEOUT, check=True)
        documented = [(method.upper(), path.removeprefix("/control/v1") or "/")
                      for path, item in json.loads(done.stdout)["paths"].items() for method in item if method != "parameters"]
        self.assertEqual(sorted(listed), sorted(documented))

    def test_the_examples_are_valid(self):
        files = sorted((CHECKOUT / "examples/scripts").rglob("*.jsonc"))
        self.assertGreater(len(files), 0)
        for file in files:
            with self.subTest(file.name):
                self.assertEqual(validate(file), (True, []))
                self.assertTrue(file.read_text(encoding="utf-8").startswith("// "), "its first line says what it shows")

    def test_the_examples_of_types_have_these_types(self):
        text = (CHECKOUT / "docs/scripts.md").read_text(encoding="utf-8")
        table = text.split("\n## Types of values\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", table, re.MULTILINE)
        self.assertEqual(sorted(name for name, _ in rows), sorted(PLACES))
        with tempfile.TemporaryDirectory() as folder:
            for name, examples in rows:
                values = re.findall(r"`([^`]*)`", examples)
                self.assertGreater(len(values), 0, name)
                for value in values:
                    script = Path(folder, "script.json")
                    document = {"mock_gateway": 1, **PLACES[name](json.loads(value))}
                    script.write_text(json.dumps(document), encoding="utf-8")
                    self.assertEqual(validate(script), (True, []), f"{name}: {value}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["Scripts.test_the_pages_are_correct"] * bool(CHOSEN), verbosity=2)
