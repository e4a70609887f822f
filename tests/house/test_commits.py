"""Checks the subjects of commits: imperative and at most 72 characters, as CONTRIBUTING.md asks."""

import re
import subprocess
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
SINCE = "6eb1f29"  # earlier subjects state facts
# An imperative is capitalized, and is neither a statement ("The …") nor another form of a verb ("Adds", "Added").
SUBJECT = re.compile(r"(?!(?:The|A|An|This|It|All|No|What|Each|Every)\b)"
                     r"(?:Bring|Embed|[A-Z][a-z]*(?<!(?<!s)s)(?<!ing)(?<!(?<!e)ed))\b(?! is\b| are\b).*[^.]")
LONGEST = 72


def mistake_in(subject):
    if len(subject) > LONGEST:
        return f"has {len(subject)} characters"
    return None if SUBJECT.fullmatch(subject) else "is not imperative"


class Commits(unittest.TestCase):
    def test_each_subject_is_short_and_imperative(self):
        log = subprocess.run(["git", "log", "--format=%s", f"{SINCE}..HEAD"], cwd=CHECKOUT, capture_output=True, text=True)
        if log.returncode:
            raise unittest.SkipTest("no git, or not these commits")
        mistakes = [f"{subject!r} {mistake_in(subject)}" for subject in log.stdout.splitlines() if mistake_in(subject)]
        self.assertEqual(mistakes, [])

    def test_it_tells_right_from_wrong(self):
        for subject in ("Fix flaky curl retry test", "Process answers once", "Feed the parser", "Embed a page", "Merge plainer names of tests"):
            self.assertIsNone(mistake_in(subject), subject)
        for subject in ("Fixes a test", "Fixed a test", "Fixing a test", "The test waits", "fix a test", "Tests are faster",
                        "Fix a test.", "Fix " + 70 * "x"):
            self.assertIsNotNone(mistake_in(subject), subject)


if __name__ == "__main__":
    unittest.main()
