"""Generates the tables of docs/scripts.md with the keys of a script's objects from the schema that the program prints,
so that they cannot differ from what it reads.

Usage: script_tables.py CHECKOUT PROGRAM compares the page; a final --print or --write prints the tables, or updates the
page. Uses only Python's standard library.

The tables are the part of the page from the heading `HEADING` to its end. A handwritten table below the heading `TYPES`
has the types that are not objects: this script checks only that it is complete.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

HEADING, TYPES = "## Every key\n", "## Types of values\n"
NAMES = {"interim": "connection_fault"}  # by the first key with the object, if the names differ
SHARED = {"with failure: ": "failures", "trigger: ": "fault"}  # the table that describes keys of several tables
# Tables that another page describes, and where.
DESCRIBED = {"acceptance": "documented-surface.md#acceptance",
             "fault": "delivery-and-faults.md#triggers-and-effects", "sse": "delivery-and-faults.md#dialects"}
SMALL = 3  # keys of an object in the last table
REMARKS = {"comment", "$schema"}  # keys that every object may have
DURATION = r"([0-9]{1,12}([.][0-9]{1,9})?(ns|us|ms|s|m|h)"


def link(name):
    return f"[{name}](#{anchor(heading(name))})"


def heading(name):
    return f"Keys of `{name}`"


def anchor(title):
    """The anchor that GitHub generates for a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def listed(parts):
    """The parts as one phrase, without repetitions."""
    parts = list(dict.fromkeys(parts))
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " or " + parts[-1]


# Definitions that restrict another type and are no type of their own.
CONDITIONS = ("written_reply", "header_value")


class Tables:
    """The objects of a schema, in the order of their first use."""

    def __init__(self, schema):
        self.schema = schema
        self.values = []  # definitions without keys
        self.objects = {}  # name -> schema
        self.others = {}  # name -> other values that may replace the object
        self.names = {}  # schema as text -> name
        self.waiting = [("document", schema)]
        for name, definition in schema["$defs"].items():
            if name in CONDITIONS:
                continue
            table = self.table_of(definition)
            if table is None:
                self.values.append(name)
            else:
                self.names[self.text_of(table)] = name
                others = [one for one in definition.get("anyOf", []) if one is not table]
                if others:
                    self.others[name] = listed([part for one in others for part in self.parts_of(one, name, name)])
        self.names[self.text_of(schema)] = "document"
        while self.waiting:
            name, table = self.waiting.pop(0)
            self.objects[name] = [(key, self.type_of(value, key, name), value.get("description", ""))
                                  for key, value in self.properties(table)]
        # Objects that only a definition references.
        for name, definition in schema["$defs"].items():
            assert name in CONDITIONS or name in self.values or name in self.objects, f"nothing leads to {name}"

    @staticmethod
    def text_of(table):
        return json.dumps({"properties": table["properties"], "required": table.get("required")}, sort_keys=True)

    @staticmethod
    def properties(table):
        required = table.get("required", [])
        for key, value in table["properties"].items():
            if key in REMARKS and value is True:
                continue
            value = {} if value is True else dict(value)
            if key in required:
                value["description"] = value.get("description", "") + "; required"
            yield key, value

    @staticmethod
    def table_of(schema):
        """Returns the object with keys: the schema itself, or one of its alternatives."""
        for one in [schema, *(schema.get("anyOf", []) if isinstance(schema, dict) else [])]:
            if isinstance(one, dict) and "properties" in one and "patternProperties" in one:
                return one
        return None

    def name_of(self, table, key, owner):
        """Returns the name of an object with keys, and adds its table."""
        name = self.names.get(self.text_of(table))
        if name is None:
            name = NAMES.get(key, key)
            if name in self.names.values():
                name = f"{owner}.{key}"
            self.names[self.text_of(table)] = name
        if name not in self.objects and name not in [waiting for waiting, _ in self.waiting]:
            self.waiting.append((name, table))
        return name

    def type_of(self, schema, key, owner):
        """Returns the type of a value in words."""
        if schema is True or not set(schema) - {"description"}:
            return "any JSON"
        if "allOf" in schema:  # the type, then its restrictions
            return self.type_of(schema["allOf"][0], key, owner)
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            if name in CONDITIONS:
                return self.type_of(self.schema["$defs"][name], key, owner)
            if name in self.values:
                return f"[{name}](#{anchor(TYPES[3:].strip())})"
            return link(self.name_of(self.table_of(self.schema["$defs"][name]), name, owner))
        if "const" in schema:
            return f"`{json.dumps(schema['const'])}`"
        if "enum" in schema or "anyOf" in schema:
            return listed(self.parts_of(schema, key, owner))
        kind = schema["type"]
        if kind == "object" and "patternProperties" in schema:
            return link(self.name_of(schema, key, owner))
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return "object of " + self.type_of(schema["additionalProperties"], key, owner) + "s"
        if kind == "object" and "properties" in schema:
            return "object of " + ", ".join(f"`{name}`" for name in schema["properties"])
        if kind == "object":
            return "object"
        if kind == "array" and "prefixItems" in schema:
            return "list of " + " and ".join(self.type_of(one, key, owner) for one in schema["prefixItems"])
        if kind == "array":
            if schema.get("maxItems") is not None and schema.get("minItems") == schema["maxItems"]:
                return f"list of {schema['maxItems']}, each " + self.type_of(schema["items"], key, owner)
            return "list of " + self.type_of(schema["items"], key, owner)
        if kind in ("integer", "number"):
            return kind + self.limits_of(schema)
        return {"boolean": "boolean", "string": self.text(schema, key)}[kind]

    def parts_of(self, schema, key, owner):
        """The types of a value with several alternatives."""
        if "enum" in schema:
            return [f"`{json.dumps(value)}`" for value in schema["enum"]]
        if "anyOf" in schema:
            return [part for one in schema["anyOf"] for part in self.parts_of(one, key, owner)]
        return [self.type_of(schema, key, owner)]

    @staticmethod
    def limits_of(schema):
        least, most = schema.get("minimum"), schema.get("maximum")
        if least is not None and most is not None:
            return f" from {least} to {most}"
        return f" ≥ {least}" if least is not None else f" ≤ {most}" if most is not None else ""

    @staticmethod
    def text(schema, key):
        pattern = schema.get("pattern", "")
        if schema.get("contentEncoding"):
            return schema["contentEncoding"]
        if pattern == f"^{DURATION}|off)$":
            return f"[duration](#{anchor(TYPES[3:].strip())}) or `\"off\"`"
        if "[0-9]{1,9}/" in pattern:
            return '`"TOKENS/WINDOW"`' if key == "limit_tokens" else '`"REQUESTS/WINDOW"`'
        return "text" + (", not empty" if schema.get("minLength") else "")

    def has(self, table, row, prefix):
        """Whether a table has the row, with the prefix or without it."""
        return row in self.objects[table] or (*row[:2], row[2][len(prefix):]) in self.objects[table]

    @staticmethod
    def rows_of(name, rows):
        """Returns a row for each key, without a prefix that the table of the prefix does not need. Keys that another
        page describes share a row with the other keys of their type."""
        prefix = next((prefix for prefix, table in SHARED.items() if table == name), "")
        if name not in DESCRIBED:
            return [(f"`{key}`", kind, line.removeprefix(prefix)) for key, kind, line in rows]
        alike = {kind: [row for row in rows if row[1] == kind] for _, kind, _ in rows}
        described = f"as [described]({DESCRIBED[name]})"
        return [(" ".join(f"`{key}`" for key, _, _ in group), kind, group[0][2] if len(group) == 1 else described)
                for kind, group in alike.items()]

    def markdown(self):
        small = {name: rows for name, rows in self.objects.items() if len(rows) <= SMALL and name not in self.others}
        text = HEADING
        for name, rows in self.objects.items():
            if name in small:
                continue
            shared = {prefix: [row for row in rows if row[2].startswith(prefix) and self.has(table, row, prefix)]
                      for prefix, table in SHARED.items() if table != name}
            text += f"\n### {heading(name)}\n\n"
            if name in self.others:
                text += f"In place of an object: {self.others[name]}.\n\n"
            whole = next((table for table, its in self.objects.items() if set(rows) < set(its)), None)
            if whole and len(rows) > SMALL:
                missing = " and ".join(f"`{row[0]}`" for row in self.objects[whole] if row not in rows)
                text += f"The {link(whole)} without {missing}.\n"
                continue
            text += "| key | type | |\n|---|---|---|\n"
            for keys, kind, line in self.rows_of(name, [row for row in rows if row not in sum(shared.values(), [])]):
                cells = [keys, kind, line]
                text += "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
            for prefix, repeated in shared.items():
                if repeated:
                    keys = " ".join(f"`{key}`" for key, _, _ in repeated)
                    text += f"| {keys} | | {prefix}as in {link(SHARED[prefix])} |\n"
        text += "\n### Small objects\n\n| object | keys |\n|---|---|\n"
        for name, rows in small.items():
            keys = ". ".join(f"`{key}` ({kind}): {line}" for key, kind, line in rows)
            text += f'| <a id="{anchor(heading(name))}"></a>`{name}` | {keys} |\n'
        return text


def difference(told, made):
    for number, (ours, theirs) in enumerate(zip(told + [""], made + [""])):
        if ours != theirs:
            return f"line {number + 1} below {HEADING.strip()!r} is\n  {ours}\nand the schema says\n  {theirs}"
    return f"it has {len(told)} lines, and the schema makes {len(made)}"


def main():
    page = Path(sys.argv[1]) / "docs/scripts.md"
    printed = subprocess.run([sys.argv[2], "schema"], capture_output=True, text=True, timeout=60, check=True).stdout
    tables = Tables(json.loads(printed))
    made = tables.markdown()
    if "--print" in sys.argv:
        sys.stdout.write(made)
        return
    prose, found, told = page.read_text(encoding="utf-8").partition("\n" + HEADING)
    if not found:
        sys.exit(f"{page} has no heading {HEADING.strip()!r}")
    if "--write" in sys.argv:
        page.write_text(prose + "\n" + made, encoding="utf-8")
        return
    if HEADING + told != made:
        sys.exit(f"{page}: " + difference(told.splitlines(), made.splitlines()[1:]) +
                 f"\n{Path(__file__).name} --write puts the tables right")
    written = re.findall(r"^\| `(\w+)` \|", prose.partition("\n" + TYPES)[2].partition("\n## ")[0], re.MULTILINE)
    if sorted(written) != sorted(tables.values):
        sys.exit(f"{page}: {TYPES.strip()!r} tells {sorted(written)}, and the schema has {sorted(tables.values)}")
    print(f"{len(tables.objects)} tables and {len(written)} types are those of the schema")


if __name__ == "__main__":
    main()
