"""Each file of src/ and endpoint/ has one row in the map of CONTRIBUTING.md, and what CONTRIBUTING.md names is there. Run:
python3 tests/house/test_map.py"""

import re
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
CONTRIBUTING = CHECKOUT / "CONTRIBUTING.md"
MAPPED = ["src", "endpoint"]
PAIR = [".hpp", ".cpp"]
LONGEST_ROW = 160
# What a code span ends with that names a file, unless it begins with a folder of the checkout.
FILE_NAME = re.compile(r"[\w.*-][\w./*-]*\.(?:\*|hpp|cpp|py|sh|mjs|json|jsonc|css|html|md|txt|cmake|in)")


def files_below(folders):
    """The files that a person wrote, relative to the checkout."""
    paths = (path for folder in folders for path in (CHECKOUT / folder).rglob("*") if path.is_file())
    return {path.relative_to(CHECKOUT).as_posix() for path in paths if "__pycache__" not in path.parts}


def sections(text):
    """Yields (folder, lines) of each heading and what follows it; the folder is what its code span names first, or ""."""
    folder, lines = "", []
    for line in text.splitlines():
        if line.startswith("#"):
            yield folder, lines
            named = re.match(r"### `([\w/]+)`", line)
            folder, lines = (named[1] if named else ""), []
        lines.append(line)
    yield folder, lines


def rows(text):
    """Yields (folder, name, row) of each row of the map: "src/keys", "secrets.*", "| `secrets.*` | … |"."""
    for folder, lines in sections(text):
        for line in lines:
            cell = re.match(r"\| `([^`]+)` \| ", line)
            if folder and cell:
                yield folder, cell[1], line


def files_of(folder, name):
    """The files of a row; a pair is two."""
    if name.endswith(".*"):
        return [f"{folder}/{name[:-2]}{ending}" for ending in PAIR]
    return [f"{folder}/{name}"]


def mapped(text):
    return [file for folder, name, _ in rows(text) for file in files_of(folder, name)]


def names_of(text):
    """Yields (folder, name) of each code span that names a file or a folder of the checkout."""
    top = {path.name for path in CHECKOUT.iterdir()}
    for folder, lines in sections(text):
        for word in (word for span in re.findall(r"`([^`]+)`", "\n".join(lines)) for word in span.split()):
            if FILE_NAME.fullmatch(word) or ("/" in word and word.split("/")[0] in top - {"build"}):
                yield folder, word


def is_there(folder, name):
    """A name is relative to the checkout, or to the folder of its section. One with an asterisk stands for any that fit."""
    places = [CHECKOUT, CHECKOUT / folder]
    return any(any(place.glob(name)) if "*" in name else (place / name).exists() for place in places)


class Map(unittest.TestCase):
    def setUp(self):
        self.text = CONTRIBUTING.read_text(encoding="utf-8")

    def test_each_file_has_one_row(self):
        listed = mapped(self.text)
        files = files_below(MAPPED)
        self.assertGreater(len(files), 300)
        self.assertEqual(sorted(files - set(listed)), [], "CONTRIBUTING.md has no row for these: say what each decides")
        self.assertEqual(sorted(set(listed) - files), [], "CONTRIBUTING.md has rows for these, which are not there")
        self.assertEqual(sorted(file for file in files if listed.count(file) > 1), [], "these have several rows")

    def test_what_is_named_is_there(self):
        names = set(names_of(self.text))
        self.assertGreater(len(names), 250)
        missing = sorted(name for folder, name in names if not is_there(folder, name))
        self.assertEqual(missing, [], "CONTRIBUTING.md names these, which are not there")

    def test_rows_are_short(self):
        for _, name, row in rows(self.text):
            with self.subTest(name):
                self.assertLessEqual(len(row), LONGEST_ROW, f"say in fewer words what {name} decides")

    def test_what_is_wrong_would_be_found(self):
        text = "### `src/keys`: keys\n\n| `keys.*` | calls; see `gone.cpp` |\n| `gone.hpp` | it |\n\n## Next\n\n| `x.py` | no row |\n"
        self.assertEqual(mapped(text), ["src/keys/keys.hpp", "src/keys/keys.cpp", "src/keys/gone.hpp"])
        named = {name: is_there(folder, name) for folder, name in names_of(text)}
        self.assertEqual(named, {"src/keys": True, "keys.*": True, "gone.cpp": False, "gone.hpp": False, "x.py": False})
        self.assertEqual([is_there("", name) for name in ("src/keys/*.hpp", "src/keys/*.md", "docs/")], [True, False, True])


if __name__ == "__main__":
    unittest.main()
