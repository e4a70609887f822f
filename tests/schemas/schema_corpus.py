#!/usr/bin/env python3
"""Prints random JSON Schemas, one per line, with keywords that the gateway supports. Each can be satisfied.

Each schema is built around a hidden value that it accepts, so that an instance exists for any combination of keywords.
The same count and seed print the same schemas. Uses only Python's standard library.
"""

import argparse
import json
import random
import urllib.parse

WORDS = "amber bridge cedar delta ember falcon garden harbor island jasmine kernel lantern meadow nectar orchid".split()
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
FORMATS = {
    "date-time": lambda r: f"20{r.randint(10, 30)}-0{r.randint(1, 9)}-1{r.randint(0, 9)}T1{r.randint(0, 9)}:30:00Z",
    "date": lambda r: f"20{r.randint(10, 30)}-0{r.randint(1, 9)}-1{r.randint(0, 9)}",
    "time": lambda r: f"1{r.randint(0, 9)}:{r.randint(10, 59)}:00Z",
    "duration": lambda r: f"P{r.randint(1, 9)}DT{r.randint(1, 9)}H",
    "email": lambda r: f"{r.choice(WORDS)}.{r.choice(WORDS)}@example.com",
    "hostname": lambda r: f"{r.choice(WORDS)}.example.org",
    "ipv4": lambda r: ".".join(str(r.randint(1, 255)) for _ in range(4)),
    "ipv6": lambda r: f"2001:db8::{r.randint(1, 9999):x}",
    "uuid": lambda r: "-".join(f"{r.getrandbits(4 * n):0{n}x}" for n in (8, 4, 4, 4, 12)),
    "uri": lambda r: f"https://example.com/{r.choice(WORDS)}?page={r.randint(1, 9)}",
}


def type_of(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]


def same(left, right):
    """Equality in JSON Schema, where true differs from 1."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


class Grower:
    """Builds schemas around values. Fills `definitions` with the schemas that they reference."""

    def __init__(self, rng):
        self.rng = rng
        self.definitions = {}

    def chance(self, probability):
        return self.rng.random() < probability

    # -- values

    def value(self, depth):
        kinds = ["null", "boolean", "integer", "integer", "number", "string", "string", "string"]
        if depth > 0:
            kinds += ["array"] * 3 + ["object"] * 5
        kind = self.rng.choice(kinds)
        if kind == "null":
            return None
        if kind == "boolean":
            return self.chance(0.5)
        if kind == "integer":
            return self.rng.choice([0, 1, -1, self.rng.randint(-50, 50), self.rng.randint(-10**6, 10**6),
                                    self.rng.randint(-2**63, 2**64 - 1)])
        if kind == "number":
            return self.rng.choice([self.rng.randint(-999, 999) / 4 + 0.125, round(self.rng.uniform(-9, 9), 3) + 0.0001,
                                    self.rng.uniform(1, 9) * 1e-7])
        if kind == "string":
            return " ".join(self.rng.choice(WORDS) for _ in range(self.rng.randint(1, 3)))
        if kind == "array":
            return [self.value(depth - 1) for _ in range(self.rng.randint(0, 4))]
        names = self.rng.sample(WORDS, self.rng.randint(0, 5))
        return {name: self.value(depth - 1) for name in names}

    def different(self, value):
        while True:
            other = self.value(1)
            if not same(value, other) and value != other:
                return other

    # -- schemas

    def schema(self, value, depth):
        """Returns a schema that accepts the value."""
        schema = self.plain(value, depth)
        if depth <= 0 or self.chance(0.5):
            return self.annotated(schema)
        wrap = self.rng.choice([self.any_of, self.all_of, self.one_of, self.negated, self.referred, self.discriminated])
        return self.annotated(wrap(value, schema, depth - 1))

    def annotated(self, schema):
        if isinstance(schema, dict) and self.chance(0.2):
            schema = dict(schema, description="Any text.", title="Title", **{"x-note": {"minimum": "none"}})
        return schema

    def plain(self, value, depth):
        roll = self.rng.random()
        if roll < 0.02:
            return self.rng.choice([True, {}])
        if roll < 0.07:
            return {"const": value}
        if roll < 0.14:
            values = [self.different(value) for _ in range(self.rng.randint(0, 3))]
            values.insert(self.rng.randint(0, len(values)), value)
            return {"enum": values}
        kind = type_of(value)
        schema = {"type": kind} if self.chance(0.9) else {}
        if kind == "integer" and schema and self.chance(0.2):
            schema["type"] = "number"
        if schema and self.chance(0.15):
            others = [other for other in TYPES if other not in (kind, schema["type"])]
            schema["type"] = [schema["type"]] + self.rng.sample(others, self.rng.randint(1, 2))
        if kind in ("integer", "number"):
            self.bound_number(schema, value)
        elif kind == "string":
            self.bound_string(schema, value)
        elif kind == "array":
            self.bound_array(schema, value, depth - 1)
        elif kind == "object":
            self.bound_object(schema, value, depth - 1)
        return schema

    def bound_number(self, schema, value):
        room = self.rng.choice([0, 1, 5, 100, 10**6])
        if isinstance(value, float):
            room = max(abs(value) * self.rng.choice([0.01, 0.5, 10]), 1e-9)
        if self.chance(0.4):
            schema["minimum"] = value - room
        elif self.chance(0.3):
            schema["exclusiveMinimum"] = value - room - (1 if isinstance(value, int) else 0)
        if self.chance(0.4):
            schema["maximum"] = value + room
        elif self.chance(0.3):
            schema["exclusiveMaximum"] = value + room + (1 if isinstance(value, int) else 0)
        for key in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"):
            bound = schema.get(key)
            if isinstance(bound, int) and not -2**63 <= bound < 2**64:  # readers may lose digits
                del schema[key]
        if isinstance(value, int) and abs(value) < 2**53 and self.chance(0.3):
            divisors = [n for n in (1, 2, 3, 5, 7, 10, 12, 25) if value % n == 0]
            schema["multipleOf"] = self.rng.choice(divisors + [0.5])
        elif isinstance(value, float) and (value * 8).is_integer() and self.chance(0.5):
            schema["multipleOf"] = self.rng.choice([0.125, 0.0625])

    def bound_string(self, schema, value):
        if self.chance(0.3):
            schema["pattern"] = self.pattern(value)
        if self.chance(0.3):
            schema["minLength"] = max(0, len(value) - self.rng.choice([0, 1, 4]))
        if self.chance(0.3):
            schema["maxLength"] = len(value) + self.rng.choice([0, 1, 10])

    def pattern(self, value):
        """Returns a pattern that matches the value and means the same in Python and ECMA-262."""
        begin = 0 if self.chance(0.7) else self.rng.randint(0, len(value) - 1)
        end = len(value) if self.chance(0.7) else self.rng.randint(begin + 1, len(value))
        parts = []
        index = begin
        while index < end:
            run = 1
            while index + run < end and value[index + run].isalpha() == value[index].isalpha():
                run += 1
            text = value[index:index + run]
            index += run
            if not text.isalpha():
                parts.append(self.rng.choice([r"\s", "[ _]", " +", r"\W", "."]) if text == " " else self.literal(text))
                continue
            low = self.rng.randint(0, run)
            high = run + self.rng.randint(0, 4)
            group = self.rng.choice(["[a-z]", r"\w", "[^0-9 ]", r"[\w-]", "(?:[a-m]|[n-z])", r"\S", "."])
            parts.append(self.rng.choice([
                self.literal(text), group + "+", group + f"{{{low},{high}}}", group + f"{{{low},}}",
                group + f"{{{run}}}", f"({self.literal(text)}|{self.rng.choice(WORDS)})", f"(?:{self.literal(text)})?",
                self.literal(text[0]) + group + "*", f"{group}*?",
            ]))
        expression = "".join(parts)
        if begin == 0 and self.chance(0.7):
            expression = "^" + expression
        if end == len(value) and self.chance(0.7):
            expression += "$"
        return expression

    def literal(self, text):
        return "".join("\\" + character if character in r"\^$.*+?()[]{}|/" else character for character in text)

    def bound_array(self, schema, value, depth):
        if value and self.chance(0.25):
            count = self.rng.randint(1, len(value))
            schema["prefixItems"] = [self.schema(item, depth) for item in value[:count]]
            rest = value[count:]
        else:
            rest = value
        if self.chance(0.8):
            schema["items"] = self.items(rest, depth)
        keys = [json.dumps(item, sort_keys=True) for item in value]
        numbers = any(isinstance(item, (bool, int, float)) for item in value)
        if not numbers and len(set(keys)) == len(keys) and self.chance(0.4):
            schema["uniqueItems"] = True
        if self.chance(0.4):
            schema["minItems"] = max(0, len(value) - self.rng.choice([0, 1, 2]))
        if self.chance(0.3):
            schema["maxItems"] = len(value) + self.rng.choice([0, 1, 5])

    def items(self, rest, depth):
        if not rest:
            return self.rng.choice([False, True, {"type": self.rng.choice(TYPES)}])
        kinds = sorted({type_of(item) for item in rest})
        return self.rng.choice([
            {"anyOf": [self.schema(item, depth) for item in rest]},
            {"type": kinds if len(kinds) > 1 else kinds[0]},
            {"enum": [item for place, item in enumerate(rest) if not any(same(item, other) for other in rest[:place])]},
        ])

    def bound_object(self, schema, value, depth):
        names = list(value)
        properties = {}
        loose = []
        for name in names:
            if self.chance(0.85):
                properties[name] = self.schema(value[name], depth)
            else:
                loose.append(name)
        if self.chance(0.2):
            properties["absent"] = self.rng.choice([False, {"type": "string"}, {"type": "integer", "minimum": 5}])
        if properties:
            schema["properties"] = properties
        if self.chance(0.7):
            schema["required"] = [name for name in names if self.chance(0.7)]
        if loose and self.chance(0.3):
            name = loose.pop()
            schema["patternProperties"] = {f"^{name[:3]}": self.schema(value[name], depth)}
            for other in names:
                if other.startswith(name[:3]) and other != name:
                    schema.pop("patternProperties", None)
                    loose.append(name)
        if loose:
            if self.chance(0.5):
                schema["additionalProperties"] = {"anyOf": [self.schema(value[name], depth) for name in loose]}
        elif self.chance(0.5):
            schema["additionalProperties"] = self.rng.choice([False, False, True, {"type": "string"}])
        if self.chance(0.15):
            schema["propertyNames"] = self.rng.choice([{"pattern": "^[a-z]+$"}, {"maxLength": 8}, {"minLength": 1}])
        if self.chance(0.2):
            schema["minProperties"] = max(0, len(names) - self.rng.choice([0, 1]))
        if self.chance(0.2):
            schema["maxProperties"] = len(names) + self.rng.choice([0, 1, 3])

    # -- combinations

    def any_of(self, value, schema, depth):
        alternatives = [schema] + [self.schema(self.different(value), depth) for _ in range(self.rng.randint(1, 2))]
        if self.chance(0.3):
            alternatives.append({"type": "null"})
        self.rng.shuffle(alternatives)
        return {"anyOf": alternatives}

    def all_of(self, value, schema, depth):
        other = self.schema(value, depth)
        if self.chance(0.5) and isinstance(schema, dict) and "allOf" not in schema:
            return dict(schema, allOf=[other])
        return {"allOf": [schema, other]}

    def one_of(self, value, schema, depth):
        kind = type_of(value)
        kinds = [other for other in TYPES if other != kind and {other, kind} != {"integer", "number"}]
        first, second = self.rng.sample(kinds, 2)
        alternatives = [{"allOf": [schema, {"type": kind}]}, {"type": first, "description": "Something else."}]
        if "number" not in (first, second) or "integer" not in (first, second):
            alternatives.append({"type": second, "title": "Something else again."})
        self.rng.shuffle(alternatives)
        return {"oneOf": alternatives}

    def negated(self, value, schema, depth):
        other = self.different(value)
        kind = type_of(value)
        forbidden = [{"const": other}, {"enum": [other]}]
        forbidden += [{"type": name} for name in TYPES if name != kind and {name, kind} != {"integer", "number"}]
        if kind == "object":
            forbidden.append({"required": ["forbidden"]})
        return {"allOf": [schema], "not": self.rng.choice(forbidden)}

    def referred(self, value, schema, depth):
        name = self.rng.choice(["item", "a b", "x/y", "t~n", "größe", "50%"]) + str(len(self.definitions))
        holder = self.rng.choice(["$defs", "definitions"])
        self.definitions.setdefault(holder, {})[name] = schema
        token = urllib.parse.quote(name.replace("~", "~0").replace("/", "~1"), safe="~")
        reference = {"$ref": f"#/{holder}/{token}"}
        if self.chance(0.3):
            reference["description"] = "Elsewhere."
        return reference

    def discriminated(self, value, schema, depth):
        """A tagged union, in the form of code generators."""
        alternatives = []
        for tag in self.rng.sample(WORDS, self.rng.randint(2, 4)):
            content = self.value(depth)
            alternatives.append({
                "type": "object",
                "properties": {"kind": {"const": tag}, "content": self.schema(content, depth)},
                "required": ["kind", "content"],
                "additionalProperties": False,
            })
        union = {self.rng.choice(["oneOf", "anyOf"]): alternatives}
        return {"anyOf": [schema, union]}

    # -- whole schemas

    def formatted(self):
        name = self.rng.choice(sorted(FORMATS))
        schema = {"type": "string", "format": name}
        length = len(FORMATS[name](self.rng))
        if self.chance(0.4):
            schema["minLength"] = length - self.rng.choice([0, 3, 5])
        if self.chance(0.4):
            schema["maxLength"] = length + self.rng.choice([5, 20])
        if self.chance(0.3):
            schema["pattern"] = "^[^ ]+$"
        return schema

    def recursive(self):
        leaf = self.schema(self.value(1), 1)
        nullable = {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}
        node = self.rng.choice([
            {"properties": {"value": leaf, "next": nullable}, "required": ["value", "next"]},
            {"properties": {"value": leaf, "next": {"$ref": "#/$defs/node"}}, "required": ["value"]},
            {"properties": {"value": leaf, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
             "required": ["value", "children"]},
            {"properties": {"left": nullable, "right": nullable, "value": leaf}, "required": ["left", "right"]},
            {"additionalProperties": {"$ref": "#/$defs/node"}, "maxProperties": 3},
            {"properties": {"value": leaf, "other": {"$ref": "#/$defs/other"}}, "required": ["other"]},
        ])
        node = dict({"type": "object"}, **node)
        if "properties" in node and self.chance(0.6):
            node["additionalProperties"] = False
        other = {"type": "object", "properties": {"nodes": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                 "required": ["nodes"]}
        self.definitions.setdefault("$defs", {}).update(node=node, other=other)
        return self.rng.choice([
            {"$ref": "#/$defs/node"},
            {"type": "object", "properties": {"root": {"$ref": "#/$defs/node"}}, "required": ["root"]},
            {"type": "array", "items": {"$ref": "#/$defs/node"}, "minItems": 1},
        ])

    def expression(self):
        self.definitions["$defs"] = {
            "expression": {"oneOf": [{"$ref": "#/$defs/literal"}, {"$ref": "#/$defs/sum"}, {"$ref": "#/$defs/negation"}]},
            "literal": {"type": "object", "properties": {"op": {"const": "literal"}, "value": {"type": "number"}},
                        "required": ["op", "value"], "additionalProperties": False},
            "sum": {"type": "object", "additionalProperties": False, "required": ["op", "terms"],
                    "properties": {"op": {"const": "sum"}, "terms": {"type": "array", "minItems": 2,
                                                                    "items": {"$ref": "#/$defs/expression"}}}},
            "negation": {"type": "object", "additionalProperties": False, "required": ["op", "of"],
                         "properties": {"op": {"const": "negation"}, "of": {"$ref": "#/$defs/expression"}}},
        }
        return {"$ref": "#/$defs/expression"}

    def whole(self):
        roll = self.rng.random()
        if roll < 0.06:
            schema = self.recursive()
        elif roll < 0.08:
            schema = self.expression()
        elif roll < 0.14:
            schema = {"type": "object", "properties": {name: self.formatted() for name in self.rng.sample(WORDS, 3)},
                      "additionalProperties": False}
            schema["required"] = list(schema["properties"])
        else:
            schema = self.schema(self.value(3), 3)
        if isinstance(schema, dict):
            schema = dict(schema, **self.definitions)
            if self.chance(0.2):
                schema = dict({"$schema": "https://json-schema.org/draft/2020-12/schema"}, **schema)
        return schema


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="how many schemas (default 500)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed prints the same schemas (default 1)")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    for _ in range(arguments.count):
        print(json.dumps(Grower(rng).whole(), ensure_ascii=False))


if __name__ == "__main__":
    main()
