"""Limits the lines of the library, the program and the helpers. To add lines, remove others, or raise the budget in the
same commit and explain why in its message."""

import subprocess
import unittest
from collections import Counter
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
COUNTED = ["src", "endpoint", "helpers"]
BUDGET = 63534
MOST_IN_A_FILE = 600  # of src/ and endpoint/


def lines_of_files():
    """Returns all files except lock files, which package managers write."""
    listed = subprocess.run(["git", "ls-files", *COUNTED], cwd=CHECKOUT, capture_output=True, text=True)
    if listed.returncode:
        raise unittest.SkipTest("no git, or no checkout of it")
    return {name: (CHECKOUT / name).read_bytes().count(b"\n") for name in listed.stdout.split()
            if Path(name).name != "package-lock.json" and (CHECKOUT / name).exists()}


class Budget(unittest.TestCase):
    def test_all_lines_together(self):
        folders = Counter()
        for name, lines in lines_of_files().items():
            folders["/".join(name.split("/")[:2])] += lines
        self.assertLessEqual(sum(folders.values()), BUDGET, "\n".join(f"{lines:6} {name}" for name, lines in folders.most_common(12)))

    def test_no_file_is_long(self):
        long = {name: lines for name, lines in lines_of_files().items()
                if lines > MOST_IN_A_FILE and name.endswith((".cpp", ".hpp", ".mjs")) and not name.startswith("helpers/")}
        self.assertEqual(long, {})


if __name__ == "__main__":
    unittest.main()
