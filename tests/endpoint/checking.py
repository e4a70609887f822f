"""Support for the tests of `mock-gateway check`: the client under test, commands and drivers of a few lines, and the
result of a run.

Uses only Python's standard library.
"""

import json
import os
import tempfile
import unittest
from pathlib import Path

from program import PYTHON, TIMEOUT, execute

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
SCENARIOS = HERE.parent / "catalogue/scenarios"
CLIENT = [*PYTHON, str(HERE / "check_client.py")]
ANSWER = "It is 21 degrees."
WHOLE = "Zürich 21 °C, 東京 9 °C."
# The turns of a session of mishaps, and the turns that only sessions of streams have.
TURNS = ["first-answer", "closed-before-answer", "rate-limited", "rate-limited-until-date", "server-error", "bad-gateway",
         "unavailable", "unauthorized", "disabled-key", "cut-answer", "length", "unended-last-event", "cancelled-stream",
         "abandoned-call", "abandoned-wait", "rotated-key", "last-answer"]
TURNS_OF_STREAMS = ["unended-last-event", "cancelled-stream"]

# The beginning of commands in these tests: `go` makes the call as a correct client does.
COMMAND = f"""
import sys; sys.path.insert(0, {str(HERE)!r})
import json, os, shutil, signal, subprocess, time
import check_client
scenario = os.environ.get("MOCK_GATEWAY_SCENARIO")
stream = os.environ["MOCK_GATEWAY_STREAM"] == "1"
def go(*bugs):
    sys.exit(check_client.command(list(bugs), None, False))
def log(what):
    with open(os.environ["LOG"], "a") as file:
        file.write(json.dumps(what) + "\\n")
"""
# The beginning of drivers in these tests: `outcome_of` makes a job's call as a correct client does.
DRIVER = f"""
import sys; sys.path.insert(0, {str(HERE)!r})
import json, os, shutil, signal, subprocess, time
import check_client
clients = {{}}
jobs = map(json.loads, sys.stdin)
def outcome_of(job, *bugs):
    return check_client.answer(job, clients, bugs)
def say(job, answer):
    print(json.dumps({{"id": job["id"], **answer}}), flush=True)
def log(what):
    with open(os.environ["LOG"], "a") as file:
        file.write(json.dumps(what) + "\\n")
"""


def command(code):
    return [*PYTHON, "-c", COMMAND + code]


def driver(code):
    return [*PYTHON, "-c", DRIVER + code]


def client(*bugs, words=()):
    return [*CLIENT, *words, *(word for bug in bugs for word in ("--bug", bug))]


class Checked:
    """A finished run of `check`."""

    def __init__(self, done, report):
        self.code, self.stdout, self.stderr, self.report = done.returncode, done.stdout, done.stderr, report
        self.said = f"exit code {self.code}\n{self.stdout}{self.stderr}"

    @property
    def cells(self):
        return {(cell["scenario"], cell["form"]): cell for cell in self.report["cells"]}

    def kinds(self):
        return {f"{name} {form}": cell["kind"] for (name, form), cell in self.cells.items()}

    def bad(self):
        """Returns the failures as lines of a baseline."""
        lines = set()
        for (name, form), cell in self.cells.items():
            if cell["kind"] in ("loss", "wrong", "hang", "crash") or (cell["kind"], cell["expected"]) == ("error", "answer"):
                lines.add(f"{name} {form} {cell['kind']}")
            lines |= {f"{name} {form} finding {finding['code']}" for finding in cell["findings"]}
        return lines

    def row(self, name):
        """Returns the words of a scenario's line in the text report."""
        return next(line.split() for line in self.stdout.splitlines() if line.split()[:1] == [name])


def only(*names):
    return [word for name in names for word in ("--only", name)]


def check(*flags, of, environment=None, **options):
    """Runs `check` with a JSON report in addition to the text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.json")
        options = {"encoding": "utf-8", "timeout": 2 * TIMEOUT, **options}
        done = execute("check", *flags, "--report", "text", "--report", f"json:{path}", "--", *of,
                       **{"env": {**os.environ, **(environment or {})}, **options})
        return Checked(done, json.loads(path.read_text(encoding="utf-8")) if path.exists() else None)


def check_driver(*flags, of, **options):
    return check("--driver", *flags, of=of, **options)


class Folder(unittest.TestCase):
    """A test with its own folder, which contains a file for the client's log."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = {"LOG": str(self.folder / "log")}

    def logged(self):
        path = self.folder / "log"
        return list(map(json.loads, path.read_text(encoding="utf-8").splitlines())) if path.exists() else []

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return str(self.folder / name)

    def known(self, *lines):
        """Returns flags for a baseline with these lines, so that `check` does not repeat known failures."""
        return ["--baseline", self.write("known", "".join(line + "\n" for line in lines))]

