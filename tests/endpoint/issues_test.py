"""Tests of examples/scripts/issues: `mock-gateway run` passes the right client of each script, and says what the wrong
one did.

Usage: issues_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
"""

import unittest
from pathlib import Path

import program

FOLDER = Path(__file__).resolve().parents[2] / "examples/scripts/issues"
REASONS = {  # parts of the report about the wrong client, in their order
    "context-window": [
        "context-window.jsonc:5  expected 1 call, got 0",
        'retried after 400 "context_length_exceeded", but a retry cannot fix this error. Shorten the prompt'],
    "reasoning-returned": [
        "reasoning-returned.jsonc:5  expected 1 call, got 0",
        "request_refused (exchange 2): refused with 400 reasoning_not_returned: The `reasoning_content`"],
    "no-key": [
        "no-key.jsonc:5  expected 2 calls, got 0",
        "exchange 1 was refused with 401 unauthorized: the gateway has no such key",
        "the gateway refused every request, 2 with 401 unauthorized"],
    "base-path": [
        "base-path.jsonc:5  expected 1 call, got 0",
        "exchange 2 was refused before any stub was tried: 404 no operation at /v1/chat/completions",
        "the base address must end with /api/paas/v4, not with /v1"],
    "requests-at-a-time": [
        "requests-at-a-time.jsonc:5  expected 3 calls, got 2",
        'was refused with 429 rate_limit_exceeded, key "default key": The limit of 2 concurrent requests is exceeded'],
    "key-expires": [
        "key-expires.jsonc:6  expected 3 calls, got 1",
        'was refused with 401 unauthorized, key "old": the key is deleted: deleted after 3 requests'],
}


def judged(name, kind):
    """Runs a client. Errors fail a wrong one, and warnings a right one too."""
    client = [*program.PYTHON, "-B", str(FOLDER / f"{name.replace('-', '_')}.py"), kind]
    fail_on = "warning" if kind == "right" else "error"
    script = str(FOLDER / f"{name}.jsonc")
    return program.run("--script", script, "--fail-on", fail_on, command=client, encoding="utf-8")


class Issues(unittest.TestCase):
    def test_the_scripts_have_at_most_eight_lines(self):
        scripts = {file.stem: file.read_text(encoding="utf-8").splitlines() for file in FOLDER.glob("*.jsonc")}
        self.assertEqual(set(scripts), set(REASONS))
        for name, lines in scripts.items():
            self.assertLessEqual((len(lines), max(map(len, lines))), (8, 120), name)

    def passes(self, name):
        done = judged(name, "right")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Averify: nothing is wrong\nreview: clean: ")

    def fails(self, name):
        done = judged(name, "wrong")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertRegex(done.stderr, r"exited with 0\n\Z")
        place = 0
        for part in REASONS[name]:
            self.assertIn(part, done.stderr[place:], done.stderr)
            place += done.stderr[place:].index(part)


for issue in REASONS:
    title = issue.replace("-", "_")
    setattr(Issues, f"test_the_right_client_of_{title}_passes", lambda test, name=issue: test.passes(name))
    setattr(Issues, f"test_the_wrong_client_of_{title}_fails", lambda test, name=issue: test.fails(name))

if __name__ == "__main__":
    program.main(threads=2)
