"""Checks that each file of src/ and endpoint/ describes itself in its first line, and that files named in these lines
and in CONTRIBUTING.md exist. Run: python3 tests/house/test_decides.py"""

import re
import unittest
from pathlib import Path

import decides

CHECKOUT = Path(__file__).resolve().parent.parent.parent
CONTRIBUTING = CHECKOUT / "CONTRIBUTING.md"
LONGEST_LINE = 200
# Extensions of code spans that name a file. Other code spans name one if they begin with a folder of the checkout.
FILE_NAME = re.compile(r"[\w.*-][\w./*-]*\.(?:\*|hpp|cpp|py|sh|mjs|json|jsonc|css|html|md|txt|cmake|in)")


def names_in(text):
    """The code spans that name a file or a folder of the checkout."""
    top = {path.name for path in CHECKOUT.iterdir()}
    for word in (word for span in re.findall(r"`([^`]+)`", text) for word in span.split()):
        if FILE_NAME.fullmatch(word) or ("/" in word and word.split("/")[0] in top - {"build"}):
            yield word


def is_there(name, folders=(CHECKOUT,)):
    """Whether the name exists, relative to one of the folders. An asterisk matches any text."""
    return any(any(place.glob(name)) if "*" in name else (place / name).exists() for place in folders)


def missing_in(text, folders=(CHECKOUT,)):
    return sorted({name for name in names_in(text) if not is_there(name, folders)})


class Decides(unittest.TestCase):
    def test_each_file_describes_itself(self):
        files = list(decides.files())
        self.assertGreater(len(files), 200)
        for name in files:
            with self.subTest(name):
                line = decides.decides(name)
                self.assertTrue(line, "its first line is to say what it decides")
                self.assertLessEqual(len(line), LONGEST_LINE, "say in fewer words what it decides")

    def test_files_named_in_the_lines_exist(self):
        for name in decides.files():
            folder = (CHECKOUT / name).parent
            self.assertEqual(missing_in(decides.decides(name), [CHECKOUT, CHECKOUT / "src", folder]), [], name)

    def test_files_named_in_contributing_exist(self):
        text = CONTRIBUTING.read_text(encoding="utf-8")
        self.assertGreater(len(set(names_in(text))), 100)
        self.assertEqual(missing_in(text), [], "CONTRIBUTING.md names these, which are not there")


if __name__ == "__main__":
    unittest.main()
