"""Runs the session with the program in README.md and docs/program.md, and compares the program's flags and scenarios
with the pages that list them.

Usage: shell_test.py CHECKOUT MOCK_GATEWAY. Uses only Python's standard library. The Python and Node snippets run if
tests/clients/run.sh has installed their SDKs; otherwise only their syntax is checked.

Blocks with the info string "sh endpoint", "python endpoint" and "js endpoint" belong to the session: the first starts
the endpoint and runs until the end, "text endpoint" is its output, the others must succeed. A free port replaces port
8080 of the pages.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

CHECKOUT, PROGRAM = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
README, FLAGS, CATALOGUE = CHECKOUT / "README.md", CHECKOUT / "docs/program.md", CHECKOUT / "docs/catalogue.md"
PYTHON_WITH_SDK = CHECKOUT / "build/clients/venv/bin/python"
NODE_FOLDER = CHECKOUT / "tests/clients/node"
TIMEOUT = 60  # seconds; a timeout for tests that hang


def blocks(text, kind):
    return re.findall(rf"^```{kind} endpoint\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def environment(**more):
    """Removes variables that would redirect curl and the SDKs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    loopback = "127.0.0.1,localhost"
    return {**kept, "NO_PROXY": loopback, "no_proxy": loopback, **more}


class Session(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        port = free_port()
        pages = README.read_text(encoding="utf-8") + FLAGS.read_text(encoding="utf-8")
        cls.text = pages.replace(":8080", f":{port}")
        start, *cls.shell = blocks(cls.text, "sh")
        (cls.expected,) = blocks(cls.text, "text")
        program, flags = start.strip().split(" ", 1)
        assert program == "mock-gateway", start
        folder = PROGRAM.parent
        cls.environment = environment(PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")
        cls.endpoint = subprocess.Popen(["sh", "-c", f"exec {program} --port {port} {flags}"], env=cls.environment,
                                        text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        cls.watchdog = threading.Timer(TIMEOUT, cls.endpoint.kill)
        cls.watchdog.start()
        cls.printed = ""
        for line in cls.endpoint.stdout:
            cls.printed += line
            if line == "ready\n":
                break
        exports = re.search(r"^export (.*)$", cls.expected, re.MULTILINE)[1]
        cls.environment.update(assignment.split("=", 1) for assignment in exports.split())

    @classmethod
    def tearDownClass(cls):
        cls.endpoint.terminate()
        cls.endpoint.wait()
        cls.endpoint.stdout.close()
        cls.watchdog.cancel()

    def run_and_check(self, command, **options):
        done = subprocess.run(command, env=self.environment, text=True, capture_output=True, timeout=TIMEOUT,
                              stdin=subprocess.DEVNULL, check=False, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_1_the_endpoint_prints_the_readmes_output(self):
        self.assertEqual(self.printed, self.expected)

    def test_2_the_shell_lines_work(self):
        if not shutil.which("curl"):
            self.skipTest("curl is not installed")
        models, *others = self.shell
        self.assertIn('"mock-model"', self.run_and_check(["sh", "-euc", models]))
        for block in others:
            self.run_and_check(["sh", "-euc", block])
        curl = re.search(r"^curl .*$", self.printed, re.MULTILINE)[0]
        self.assertIn("chat.completion", self.run_and_check(["sh", "-euc", curl]))

    def test_3_the_python_lines_work(self):
        (code,) = blocks(self.text, "python")
        compile(code, str(README), "exec")
        if not PYTHON_WITH_SDK.exists():
            self.skipTest(f"checked for syntax only: there is no {PYTHON_WITH_SDK}")
        self.assertTrue(self.run_and_check([str(PYTHON_WITH_SDK), "-c", code]).strip())

    def test_4_the_node_lines_work(self):
        (code,) = blocks(self.text, "js")
        if not shutil.which("node"):
            self.skipTest("node is not installed")
        with tempfile.TemporaryDirectory() as folder:
            module = Path(folder, "snippet.mjs")
            module.write_text(code, encoding="utf-8")
            self.run_and_check(["node", "--check", str(module)])
        if not (NODE_FOLDER / "node_modules/openai").is_dir():
            self.skipTest(f"checked for syntax only: there is no openai in {NODE_FOLDER}")
        printed = self.run_and_check(["node", "--input-type=module", "--eval", code], cwd=NODE_FOLDER)
        self.assertTrue(printed.strip())

    def test_5_the_page_lists_exactly_the_flags(self):
        rows = "\n".join(line for line in FLAGS.read_text(encoding="utf-8").splitlines() if line.startswith("|"))
        help_text = self.run_and_check(["mock-gateway", "--help"])
        listed = re.split(r"^subcommands:\n", help_text, flags=re.IGNORECASE | re.MULTILINE)[1]
        subcommands = re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)
        table = FLAGS.read_text(encoding="utf-8").split("\n| subcommand | |\n")[1].split("\n\n")[0]
        self.assertEqual(sorted(subcommands), sorted(re.findall(r"^\| `([a-z]+)[ `]", table, re.MULTILINE)))
        elsewhere = {"check"}  # other tests compare its page
        help_text += "".join(
            self.run_and_check(["mock-gateway", name, "--help"]) for name in sorted(set(subcommands) - elsewhere)
        )
        flag = r"(?<![\w-])--[a-z][a-z-]*"
        self.assertEqual(sorted(set(re.findall(flag, rows))), sorted(set(re.findall(flag, help_text))))

    def test_6_the_page_lists_exactly_the_scenarios(self):
        marks = {"needs_stream": "s", "needs_timeout": "t"}
        printed = [
            (
                scenario["name"],
                "".join(" " + mark for key, mark in marks.items() if scenario[key]),
                scenario["description"].replace("|", "\\|"),
                scenario["expected"].replace("answer or error", "either"),
            )
            for scenario in json.loads(self.run_and_check(["mock-gateway", "scenarios", "--json"]))
        ]
        section = CATALOGUE.read_text(encoding="utf-8").split("\n## The scenarios\n")[1]
        row = r"^\| `([^`]*)`([ st]*) \| (.*) \| ([^|]*) \|$"
        self.maxDiff = None
        self.assertEqual(re.findall(row, section, re.MULTILINE), printed)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
