#!/usr/bin/env python3
"""Writes instances.jsonl: a gateway's replies to these schemas, which must not change between versions.

    golden_instances.py PROGRAM

PROGRAM is mock-gateway. The schemas are those of sdk_schemas.jsonl, 150 random ones of schema_corpus.py, and some below
with a single requirement each. tests/replies/schemas_test.cpp compares. Uses only Python's standard library.
"""

import json
import random
import sys
from pathlib import Path

from schema_corpus import Grower
from schema_instances import endpoint

HERE = Path(__file__).resolve().parent
INTEGER = {"type": "integer"}
FORMATS = ["date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri", "unknown-format"]
PATTERNS = ["^[a-z]{3,9}$", "^\\d{5}(-\\d{4})?$", "[^a-zA-Z0-9 ]", "^(red|green|blue)$", "^\\u{1f600}+$", "^[\\w.]+@[\\w.]+$",
            "a{2}b*c?d+", "^$", "^[^\\s]{8}$", "x|yy|zzz", "^(?=.*\\d).{6,8}$", "^(?!a)[ab]{2}$", "(a(b(c)?)?)?", "^[\\u4e00-\\u9fff]{2}$"]
OWN = [
    *({"type": "string", "format": name} for name in FORMATS),
    *({"type": "string", "pattern": pattern} for pattern in PATTERNS),
    *({"type": "string", "minLength": least, "maxLength": most} for least, most in [(0, 0), (1, 1), (3, 5), (50, 60), (0, 4)]),
    *({"type": "number", "minimum": low, "maximum": high} for low, high in [(0, 1), (0.25, 0.3), (-5, -4.5), (1e9, 1e12)]),
    *({"type": kind, "multipleOf": step} for kind in ("integer", "number") for step in (7, 0.5, 0.01)),
    *({"type": "integer", "exclusiveMinimum": low, "exclusiveMaximum": low + 3} for low in (-2, 0, 10_000_000)),
    *({"type": "array", "items": INTEGER, "minItems": least, "maxItems": most, "uniqueItems": unique}
      for least, most, unique in [(0, 0, False), (3, 3, True), (0, 9, False), (4, 9, True)]),
    {"type": "array", "prefixItems": [{"type": "string"}, INTEGER], "items": False},
    {"type": "array", "prefixItems": [{"const": 1}], "items": {"type": "null"}, "minItems": 3},
    {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": INTEGER}}},
    {"type": "object", "additionalProperties": INTEGER},
    {"type": "object", "additionalProperties": INTEGER, "minProperties": 5, "maxProperties": 6},
    {"type": "object", "patternProperties": {"^x-[a-z]{2}$": INTEGER}, "additionalProperties": False, "minProperties": 2},
    {"type": "object", "propertyNames": {"enum": ["one", "two", "three"]}, "minProperties": 2},
    {"type": "object", "properties": {"a": INTEGER, "b": {"type": "string"}}, "required": ["b", "c"]},
    {"type": ["string", "integer", "null"]},
    {"enum": ["one", 2, None, {"three": 3}]},
    {"const": {"a": [1, 2.5, "x"]}},
    {"oneOf": [{"type": "integer", "minimum": 5}, {"type": "integer", "maximum": 7}]},
    {"anyOf": [{"type": "string", "maxLength": 3}, INTEGER]},
    {"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 4}]},
    {"type": "integer", "not": {"minimum": 0}},
    {"if": {"type": "integer"}, "then": {"minimum": 3}, "else": {"type": "string"}},
    {"type": "object", "dependentRequired": {"a": ["b"]}, "properties": {"a": INTEGER, "b": INTEGER}, "required": ["a"]},
    {"type": "string", "pattern": "(?<=a)b"}, {"type": "integer", "minimum": 3, "maximum": 2}, {"unknown-keyword": 1},
]


def cases():
    """Yields (description of the schema, schema, seed of the request)."""
    for line in (HERE / "sdk_schemas.jsonl").read_text(encoding="utf-8").splitlines():
        known = json.loads(line)
        yield {"name": known["name"]}, known["schema"], 1
    grower = random.Random(1)
    for _ in range(150):
        schema = Grower(grower).whole()
        schema = {"allOf": [schema]} if isinstance(schema, bool) else schema
        yield {"schema": schema}, schema, 1
    for schema in OWN:
        for seed in range(1, 5):
            yield {"schema": schema}, schema, seed


def main():
    with endpoint(sys.argv[1], "--key", "sk-golden-instances") as ask:
        with open(HERE / "instances.jsonl", "w", encoding="utf-8") as file:
            for said, schema, seed in cases():
                _, body = ask(schema, "Hi", seed=seed)
                shown = {"error": body["error"]["message"]} if "error" in body else {
                    "instance": body["choices"][0]["message"]["content"]}
                file.write(json.dumps({**said, "seed": seed, **shown}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    main()
