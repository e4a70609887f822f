#!/usr/bin/env python3
"""Asks a local endpoint for an instance of each JSON Schema, as a client does: with response_format.

    schema_corpus.py | schema_instances.py PROGRAM | schema_check.py

Reads schemas, one a line, bare or as {"name": ..., "schema": ...}, and prints JSON lines {"schema": ..., "instance":
...} as schema_check.py reads them. PROGRAM is mock-gateway. Exits with 1 at the first schema with a name that is
refused: these are what users' libraries generate. Of the others, which are random, one in 50 may be refused, as
unsupported; how many were is printed to standard error. Python's standard library only.
"""

import http.client
import json
import re
import subprocess
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    program = subprocess.Popen(
        [sys.argv[1], "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True
    )
    try:
        printed = ""
        for line in program.stdout:
            printed += line
            if line == "ready\n":
                break
        port = re.search(r"http://127\.0\.0\.1:(\d+)/v1", printed)
        key = re.search(r"sk-\w+", printed)
        if not port or not key:
            sys.exit("the endpoint did not say where it is:\n" + printed)
        connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=30)
        unnamed = refused = 0
        for number, line in enumerate(sys.stdin, 1):
            schema = json.loads(line)
            named = isinstance(schema, dict) and set(schema) == {"name", "schema"}
            unnamed += not named
            if named:
                schema = schema["schema"]
            if isinstance(schema, bool):  # no schema for the field, which takes an object
                schema = {"allOf": [schema]}
            request = {
                "model": "mock-model",
                "messages": [{"role": "user", "content": f"case {number}"}],
                "response_format": {"type": "json_schema", "json_schema": {"name": "case", "schema": schema}},
            }
            headers = {"Authorization": "Bearer " + key[0], "Content-Type": "application/json"}
            connection.request("POST", "/v1/chat/completions", json.dumps(request), headers)
            response = connection.getresponse()
            body = json.loads(response.read())
            if not named and response.status == 400 and body["error"]["code"] == "unsupported_schema":
                refused += 1
                continue
            if response.status != 200:
                sys.exit(f"case {number}: {response.status} {json.dumps(body)}\n  {line.strip()}")
            instance = json.loads(body["choices"][0]["message"]["content"])
            print(json.dumps({"schema": schema, "instance": instance}))
        print(f"{refused} of {unnamed} random schemas refused", file=sys.stderr)
        if refused * 50 > unnamed:
            sys.exit("more random schemas are refused than one in 50")
    finally:
        program.terminate()
        program.wait(10)
    return 0


if __name__ == "__main__":
    sys.exit(main())
