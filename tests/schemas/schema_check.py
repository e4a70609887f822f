#!/usr/bin/env python3
"""Checks instances against their schemas with the jsonschema library, including formats.

Reads JSON lines {"schema": ..., "instance": ...} from standard input, prints each failure and a final count. Exits with
1 if an instance failed or none was read. The library and its format checks: jsonschema[format-nongpl].
"""

import json
import sys

import jsonschema

NEEDED_FORMATS = ["date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"]


def main():
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    missing = [name for name in NEEDED_FORMATS if name not in checker.checkers]
    if missing:  # without its library a format would accept everything
        print("the jsonschema library cannot check these formats here:", ", ".join(missing))
        return 1
    read = failed = 0
    for line in sys.stdin:
        if not line.strip():
            continue
        read += 1
        case = json.loads(line)
        try:
            jsonschema.Draft202012Validator.check_schema(case["schema"])
            validator = jsonschema.Draft202012Validator(case["schema"], format_checker=checker)
            problem = next((error.message for error in validator.iter_errors(case["instance"])), None)
        except jsonschema.SchemaError as error:
            problem = "the schema itself is not valid: " + error.message
        if problem is not None:
            failed += 1
            print(f"case {read}: {problem}\n  {line.strip()}")
    print(f"{read} checked, {failed} failed")
    return 1 if failed or not read else 0


if __name__ == "__main__":
    sys.exit(main())
