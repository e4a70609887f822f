"""Each file of src/ and endpoint/ says in its first line what it decides, and what CONTRIBUTING.md names is there. Run:
python3 tests/house/test_decides.py"""

import contextlib
import io
import re
import unittest
from pathlib import Path

import decides

CHECKOUT = Path(__file__).resolve().parent.parent.parent
CONTRIBUTING = CHECKOUT / "CONTRIBUTING.md"
LONGEST_LINE = 200
# What a code span ends with that names a file, unless it begins with a folder of the checkout.
FILE_NAME = re.compile(r"[\w.*-][\w./*-]*\.(?:\*|hpp|cpp|py|sh|mjs|json|jsonc|css|html|md|txt|cmake|in)")


def names_in(text):
    """The code spans that name a file or a folder of the checkout."""
    top = {path.name for path in CHECKOUT.iterdir()}
    for word in (word for span in re.findall(r"`([^`]+)`", text) for word in span.split()):
        if FILE_NAME.fullmatch(word) or ("/" in word and word.split("/")[0] in top - {"build"}):
            yield word


def is_there(name, folders=(CHECKOUT,)):
    """A name is relative to one of the folders. One with an asterisk stands for any that fit."""
    return any(any(place.glob(name)) if "*" in name else (place / name).exists() for place in folders)


def missing_in(text, folders=(CHECKOUT,)):
    return sorted({name for name in names_in(text) if not is_there(name, folders)})


class Decides(unittest.TestCase):
    def test_each_file_says_what_it_decides(self):
        files = list(decides.files())
        self.assertGreater(len(files), 200)
        for name in files:
            with self.subTest(name):
                line = decides.decides(name)
                self.assertTrue(line, "its first line is to say what it decides")
                self.assertLessEqual(len(line), LONGEST_LINE, "say in fewer words what it decides")

    def test_what_the_lines_name_is_there(self):
        for name in decides.files():
            folder = (CHECKOUT / name).parent
            self.assertEqual(missing_in(decides.decides(name), [CHECKOUT, CHECKOUT / "src", folder]), [], name)

    def test_what_contributing_names_is_there(self):
        text = CONTRIBUTING.read_text(encoding="utf-8")
        self.assertGreater(len(set(names_in(text))), 100)
        self.assertEqual(missing_in(text), [], "CONTRIBUTING.md names these, which are not there")

    def test_words_choose_lines(self):
        def printed(*words):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                status = decides.main(list(words))
            return status, out.getvalue().splitlines()

        status, lines = printed()
        self.assertEqual((status, len(lines)), (0, len(list(decides.files()))))
        status, found = printed("key_store", "ids")
        self.assertEqual((status, len(found)), (0, 1))
        self.assertTrue(found[0].startswith("src/keys/key_store.*  "), found[0])
        self.assertIn(found[0], lines)
        self.assertEqual(printed("no file has this word"), (1, []))

    def test_first_lines_of_each_kind_of_file(self):
        for text, line in (
            ("// One,\n// two.\n\n#include <x>\n", "One, two."),
            ("// One.\n//\n// More.\n", "One."),
            ("# One.\n\nset(x)\n", "One."),
            ('#!/usr/bin/env python3\n"""One.\n\nMore."""\n', "One."),
            ("/* One. */\nbody {}\n", "One."),
            ("<!doctype html>\n<!-- One. -->\n<html>", "One."),
            ("#include <x>\n// One.\n", ""),
            ("#pragma once\n", ""),
            ("int x;  // One.\n", ""),
        ):
            self.assertEqual(decides.first_line(text), line, text)

    def test_what_is_wrong_would_be_found(self):
        self.assertEqual(missing_in("`keys.*` and `src/keys`; see `gone.cpp`", [CHECKOUT, CHECKOUT / "src/keys"]), ["gone.cpp"])
        self.assertEqual([is_there(name) for name in ("src/keys/*.hpp", "src/keys/*.md", "docs/")], [True, False, True])


if __name__ == "__main__":
    unittest.main()
