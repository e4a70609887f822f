"""The tests to run on mutants: the cases of each ctest test, what each reaches, and how to run some of them."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field

SLOW = 1.0  # seconds; a slower case runs alone, after the faster ones
LIST_OF_PYTHON = """
import importlib.util, os, sys, unittest
path = sys.argv[1]
sys.path.insert(0, os.path.dirname(path))
spec = importlib.util.spec_from_file_location("cases", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
def cases(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite): yield from cases(item)
        else: yield item
for case in cases(unittest.defaultTestLoader.loadTestsFromModule(module)):
    print(case.id().partition(".")[2])
"""


@dataclass
class Case:
    test: "Test"
    name: str  # empty: the whole test
    seconds: float = 0
    reaches: set = field(default_factory=set)


class Test:
    """A test of ctest."""

    def __init__(self, entry):
        self.name = entry["name"]
        self.command = entry["command"]
        properties = entry["properties"]
        self.folder = properties.get("WORKING_DIRECTORY")
        self.environment = dict(item.split("=", 1) for item in properties.get("ENVIRONMENT", []))
        # Its cases are those of unittest.
        self.is_python = self.name.startswith("endpoint.") and len(self.command) > 1 and self.command[1].endswith("_test.py")
        self.is_doctest = self.name.startswith("sources.")

    def cases(self):
        if self.is_python:
            listed = subprocess.run([sys.executable, "-c", LIST_OF_PYTHON, self.command[1]], cwd=self.folder, check=True,
                                    capture_output=True, text=True).stdout
            names = listed.split()
        elif self.is_doctest:
            listed = subprocess.run([*self.command, "--list-test-cases", "--no-intro=true"], cwd=self.folder, check=True,
                                    capture_output=True, text=True).stdout
            names = [line for line in listed.splitlines() if not line.startswith(("[doctest]", "==="))]
        else:
            names = [""]
        return [Case(self, name) for name in names]

    def command_for(self, cases):
        names = [case.name for case in cases if case.name]
        if self.is_python:
            return [*self.command, "-f", *names]
        if names:
            # doctest's filters give these characters a meaning; "?" matches any character.
            return [*self.command, "--abort-after=1",
                    "--test-case=" + ",".join(re.sub(r'[,*\\"]', "?", name) for name in names)]
        return self.command


def tests_of(tree, pattern):
    return [Test(entry) for entry in tree.tests() if "command" in entry and os.path.exists(entry["command"][0]) and
            re.search(pattern, entry["name"])]


def end_all(mark):
    """Ends processes that outlive a run. A variable in their environment identifies them."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if mark.encode() in file.read().split(b"\0"):
                    os.kill(int(entry), signal.SIGKILL)
        except OSError:
            pass


def run(cases, limit, mutant=0, reached=None):
    """Runs cases of one test. Returns (outcome, seconds); the outcome is passed, failed or timeout."""
    test = cases[0].test
    mark = f"MUTATION_RUN={uuid.uuid4()}"
    environment = {**os.environ, **test.environment, "MUTANT": str(mutant), "MUTATION_RUN": mark.partition("=")[2]}
    if reached:
        environment["MUTANTS_REACHED"] = str(reached)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as scratch:
        process = subprocess.Popen(test.command_for(cases), cwd=test.folder, env={**environment, "TMPDIR": scratch},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            outcome = "passed" if process.wait(limit) == 0 else "failed"
        except subprocess.TimeoutExpired:
            outcome = "timeout"
        seconds = time.monotonic() - begin
        if outcome != "passed":
            end_all(mark)
        process.wait()
    return outcome, seconds


def limit_for(cases):
    """The timeout of the cases in seconds: generous, since the machine may be busy."""
    return 3 * sum(case.seconds for case in cases) + 20


def batches(cases):
    """The cases in the order of their runs: fast ones, grouped by test, then each slow one."""
    fast = {}
    for case in cases:
        if case.seconds < SLOW and case.name:
            fast.setdefault(case.test.name, []).append(case)
    together = list(fast.values()) + [[case] for case in cases if case.seconds >= SLOW or not case.name]
    return sorted(together, key=lambda batch: sum(case.seconds for case in batch))
