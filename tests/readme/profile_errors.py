"""Reads the errors of profiles from src/model/profile.cpp: for each profile the cells (status, code of the gateway, sent
code, sent type, sent message) of each row. docs_test.py compares them with the tables of docs/profiles.md."""

import re

TEXT = r'R"\((?:.*?)\)"|"(?:[^"\\]|\\.)*"'


def joined(literals):
    """Returns the text of adjacent C++ literals."""
    parts = re.findall(TEXT, literals, re.DOTALL)
    return "".join(part[3:-2] if part.startswith("R") else part[1:-1] for part in parts)


def rows_of(source):
    names = {name: joined(value) for name, value in
             re.findall(rf"string_view (\w+) =((?:\s*(?:{TEXT}))+);", source, re.DOTALL)}
    errors = {}
    for profile, block in re.findall(r"ErrorRow (\w+)_errors\[\] = \{\n(.*?)\n\};", source, re.DOTALL):
        errors[profile] = []
        value = rf"(?:(?:{TEXT})\s*)+|\w+"
        for row in re.findall(rf"\{{(\d+(?:,\s*(?:{value}))*)\}},(?:\n|$)", block, re.DOTALL):
            status, *values = re.match(r"\d+", row)[0], *re.findall(rf",\s*({value})", row, re.DOTALL)
            cells = [names[one] if re.fullmatch(r"\w+", one) else joined(one) for one in values]
            cells = (cells + [""] * 4)[:4]
            errors[profile].append(({"0": "other", "5": "other 5xx"}.get(status, status), *cells))
    return errors
