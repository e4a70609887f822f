"""Tests of the clients of examples/check that need no package: `mock-gateway check` finds the bugs of careless clients
that examples/check/README.md lists, and careful clients pass.

Usage: check_examples_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
Tests are skipped if a client's program is not installed (node, or curl and jq).

A normal run plays the scenarios that README.md lists for a careless client, to this client and to its careful twin.
MOCK_GATEWAY_TEST_ALL=1 checks each client with the whole catalogue: README.md says that there are no other failures.
"""

import re
import shlex
import shutil
import tempfile
import unittest
from pathlib import Path

import program
from checking import CHECKOUT, check, only
from program import IS_EXHAUSTIVE, PYTHON

PAGE = (CHECKOUT / "examples/check/README.md").read_text(encoding="utf-8")
NEEDED = {".py": [], ".mjs": ["node"], ".sh": ["bash", "curl", "jq"]}  # by the ending of a client's name
LIMIT = 120  # seconds; a timeout for tests that hang


def missing_for(client):
    return [name for name in NEEDED[Path(client).suffix] if not shutil.which(name)]


def flags_and_command(client):
    """Returns the flags and the client's command from README.md."""
    line = re.search(rf"^mock-gateway check (.*/{re.escape(client)}.*)$", PAGE, re.MULTILINE)[1]
    flags, _, command = line.partition(" -- ")
    program_of, file, *more = shlex.split(command)
    return shlex.split(flags), [*(PYTHON if program_of == "python3" else [program_of]), str(CHECKOUT / file), *more]


def listed_failures(client):
    """Returns the failures of a careless client from README.md, as lines of a baseline."""
    form = "streamed" if "--stream" in flags_and_command(client)[0] else "plain"
    section = re.search(rf"^### {re.escape(client)}$(.*?)^##", PAGE, re.MULTILINE | re.DOTALL)[1]
    lines = []
    for mark, names in re.findall(r"^\|.*?\| (.*?) \| (`.*`) \|$", section, re.MULTILINE):
        what = f"finding {mark.strip('`')}" if mark.startswith("`") else mark.lower()
        lines += [f"{name} {form} {what}" for name in re.findall(r"`([\w-]+)`", names)]
    return lines


class Examples(unittest.TestCase):
    @staticmethod
    def run_check(client):
        """Runs `check` on a client. A baseline lists all its failures but one, because `check` retries others."""
        flags, command = flags_and_command(client)
        if not IS_EXHAUSTIVE:
            careless = client.replace("careful", "careless")
            flags += only(*dict.fromkeys(line.split()[0] for line in listed_failures(careless)))
        with tempfile.TemporaryDirectory() as folder:
            if client.startswith("careless"):
                known = Path(folder, "known")
                known.write_text("".join(line + "\n" for line in listed_failures(client)[:-1]), encoding="utf-8")
                flags += ["--baseline", str(known)]
            return check("--jobs", "8", *flags, of=command, timeout=LIMIT)

    def done(self, client):
        if missing_for(client):
            self.skipTest(f"{' and '.join(missing_for(client))} is not installed")
        done = self.run_check(client)
        self.assertIsNotNone(done.report, done.said)
        return done

    def assert_passes(self, client):
        done = self.done(client)
        if done.bad():  # a busy machine may exceed its timeouts
            done = self.run_check(client)
        self.assertEqual((done.code, done.bad()), (0, set()), done.said)
        counts = done.report["counts"]
        if IS_EXHAUSTIVE:
            self.assertGreater(counts["ok"], 40, done.said)
        else:
            self.assertEqual(counts["ok"] + counts["error"], len(done.report["cells"]), done.said)

    def assert_found(self, client):
        done = self.done(client)
        lines = listed_failures(client)
        if done.bad() != set(lines):  # two writes may arrive in one read on a busy machine
            done = self.run_check(client)
        self.assertEqual(done.bad(), set(lines), done.said)
        self.assertEqual((done.code, done.report["stale"]), (1, []), done.said)
        left = {f"{cell['scenario']} {cell['form']}" for cell in done.report["cells"]
                if cell["kind"] != "skipped" and not (cell["good"] or cell["accepted"])}
        self.assertEqual(left, {" ".join(lines[-1].split()[:2])}, done.said)

    def test_careful_chat(self):
        self.assert_passes("careful_chat.py")

    def test_careless_chat(self):
        self.assert_found("careless_chat.py")

    def test_careful_fetch(self):
        self.assert_passes("careful_fetch.mjs")

    def test_careless_fetch(self):
        self.assert_found("careless_fetch.mjs")

    def test_careful_curl(self):
        self.assert_passes("careful_curl.sh")

    def test_careless_curl(self):
        self.assert_found("careless_curl.sh")


if __name__ == "__main__":
    program.main(threads=6)
