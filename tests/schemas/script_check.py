#!/usr/bin/env python3
"""Checks that the printed schema of script documents agrees with the program's decoder, on the documents of
tests/document.

    script_check.py PROGRAM

PROGRAM prints the schema for the argument `schema`. The schema must accept the documents of good_scripts.jsonl and
reject those of bad_scripts.jsonl, except documents with {"schema": "accepts", "reason": …} and one of the reasons
below. The C++ tests of these files check the decoder. Prints each disagreement and a final count. Exits with 1 if there
is one, or if nothing was read. The library: jsonschema.
"""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema

DOCUMENTS = Path(__file__).resolve().parent.parent / "document"

# Rules that a JSON Schema cannot express, or not readably.
DECODER_ONLY = {
    "a key that occurs twice",
    "a fault that cannot happen",
    "a failure is sent in one piece",
    "chunks are cut already",
    "pieces fit one reply",
    "an expectation that can never be met",
    "a name that occurs twice",
    "a name that is long in bytes",
    "a name that only the gateway knows",
    "a path that the gateway has",
    "a secret where a name belongs",
    "a pattern that is none",
    "a header in a text",
    "a dialect that cannot be written",
    "a status without a body",
    "a time beyond what a pace can have",
    "a time that must be longer than 0",
    "a pace that sets nothing",
    "a difference of 0",
    "a number beyond its type",
    "numbers that contradict each other",
    "base64 with a digit too few",
    "no bytes",
    "a key that stands beside choices",
    "a choice that is none",
    "a place that no template has",
    "a matcher that is not about an element",
    "the names that HTTP uses",
}


def without_comments(text):
    """Converts JSON with comments to JSON."""
    out, at = [], 0
    while at < len(text):
        if text[at] == '"':
            end = at + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            out.append(text[at : end + 1])
            at = end + 1
        elif text.startswith("//", at):
            at = len(text) if text.find("\n", at) < 0 else text.find("\n", at)
        elif text.startswith("/*", at):
            at = len(text) if text.find("*/", at) < 0 else text.find("*/", at) + 2
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def parsed(text):
    """Returns the document of a text; None for invalid JSON, to which a schema does not apply."""
    try:
        document = json.loads(without_comments(text), parse_constant=no_constant)
        json.dumps(document, ensure_ascii=False).encode()  # half a surrogate pair is not valid text
        return document
    except ValueError:
        return None


def lines(name):
    with open(DOCUMENTS / name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    schema = json.loads(subprocess.run([sys.argv[1], "schema"], check=True, capture_output=True, text=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    read = failed = 0
    unused = set(DECODER_ONLY)

    def check(case, accepted):
        nonlocal read, failed
        document = parsed(case["script"])
        if document is None:
            return
        read += 1
        problem = next((error.message for error in validator.iter_errors(document)), None)
        if (problem is None) != accepted:
            failed += 1
            says = "accepts" if problem is None else f"refuses ({problem[:300]})"
            print(f"the schema {says} what the decoder {'refuses' if problem is None else 'accepts'}: {case['script']}")
        reason = case.get("reason")
        if reason is not None and reason not in DECODER_ONLY:
            failed += 1
            print(f"no reason of those listed here: {reason!r}: {case['script']}")
        unused.discard(reason)

    for case in lines("good_scripts.jsonl"):
        check(case, True)
    for case in lines("bad_scripts.jsonl"):
        check(case, case.get("schema") == "accepts")
    for reason in sorted(unused):
        failed += 1
        print(f"no document has the reason {reason!r}")
    print(f"{read} checked, {failed} failed")
    return 1 if failed or not read else 0


if __name__ == "__main__":
    sys.exit(main())
