#!/usr/bin/env python3
"""Prints what each file of src/ and endpoint/ contains, from its first line. Run: python3 tests/house/decides.py
[word…]

With words, prints files whose name or line contains all of them. Exit status: 0, or 1 if no file matches.
"""

import re
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ["src", "endpoint"]
# What is printed for files whose format has no comments.
WITHOUT_COMMENTS = {"endpoint/control/openapi.json": "The OpenAPI document in short forms, which openapi.cpp explains: routes, parameters, answers."}
COMMENT = re.compile(
    r'(?:<!doctype html>\n|#![^\n]*\n)?(?:(?P<lines>(?:(?://|#)(?!include|pragma)[^\n]*\n)+)|/\*(?P<css>.*?)\*/|<!--(?P<html>.*?)-->|"""(?P<py>.*?)\n)',
    re.DOTALL,
)


def files():
    """Handwritten files, relative to the checkout. A .cpp also represents its header."""
    paths = (path for folder in FOLDERS for path in (CHECKOUT / folder).rglob("*") if path.is_file())
    for path in sorted(path for path in paths if "__pycache__" not in path.parts):
        if path.suffix != ".hpp" or not path.with_suffix(".cpp").exists():
            yield path.relative_to(CHECKOUT).as_posix()


def first_line(text):
    """Returns the comment at the beginning of a text as one line; empty if there is none."""
    comment = COMMENT.match(text)
    if not comment:
        return ""
    lines = comment["lines"] or comment["css"] or comment["html"] or comment["py"]
    paragraph = re.split(r"\n(?://|#)?[ \t]*\n", lines.strip())[0]
    return " ".join(re.sub(r"^(?://+|#)\s?", "", line.strip()) for line in paragraph.splitlines())


def decides(name):
    return WITHOUT_COMMENTS.get(name) or first_line((CHECKOUT / name).read_text(encoding="utf-8"))


def shown(name):
    """Returns `src/keys/keys.*` for a pair of files."""
    path = Path(name)
    pair = path.suffix == ".cpp" and (CHECKOUT / path.with_suffix(".hpp")).exists()
    return f"{path.with_suffix('.*') if pair else path}"


def main(words):
    printed = False
    for name in files():
        line = f"{shown(name)}  {decides(name)}"
        if all(word.lower() in line.lower() for word in words):
            print(line)
            printed = True
    return 0 if printed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
