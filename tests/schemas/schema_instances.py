#!/usr/bin/env python3
"""Requests an instance of each JSON Schema from a local endpoint, as a client does: with response_format.

    schema_corpus.py | schema_instances.py PROGRAM | schema_check.py

Reads schemas, one per line, bare or as {"name": ..., "schema": ...}. Prints JSON lines {"schema": ..., "instance": ...}
for schema_check.py. PROGRAM is mock-gateway. Exits with 1 at the first refused schema with a name: users' libraries
generate these. The other schemas are random; one in 50 may be refused as unsupported. Prints the number of refused ones
to standard error. Uses only Python's standard library.
"""

import contextlib
import http.client
import json
import re
import subprocess
import sys


@contextlib.contextmanager
def endpoint(program, *flags):
    """Starts the program. Returns a function that requests an instance of a schema and returns the status and the
    body."""
    process = subprocess.Popen(
        [program, "--port", "0", *flags], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True
    )
    try:
        printed = ""
        for line in process.stdout:
            printed += line
            if line == "ready\n":
                break
        port = re.search(r"http://127\.0\.0\.1:(\d+)/v1", printed)
        key = re.search(r"sk-[\w-]+", printed)
        if not port or not key:
            sys.exit("the endpoint did not print its address and key:\n" + printed)
        connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=30)
        headers = {"Authorization": "Bearer " + key[0], "Content-Type": "application/json"}

        def ask(schema, content, **fields):
            if isinstance(schema, bool):  # the field accepts only objects
                schema = {"allOf": [schema]}
            request = {
                "model": "mock-model",
                "messages": [{"role": "user", "content": content}],
                **fields,  # at this position: the instance depends on the request's bytes
                "response_format": {"type": "json_schema", "json_schema": {"name": "case", "schema": schema}},
            }
            connection.request("POST", "/v1/chat/completions", json.dumps(request), headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())

        yield ask
    finally:
        process.terminate()
        process.wait(10)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    unnamed = refused = 0
    with endpoint(sys.argv[1]) as ask:
        for number, line in enumerate(sys.stdin, 1):
            schema = json.loads(line)
            named = isinstance(schema, dict) and set(schema) == {"name", "schema"}
            unnamed += not named
            if named:
                schema = schema["schema"]
            status, body = ask(schema, f"case {number}")
            if not named and status == 400 and body["error"]["code"] == "unsupported_schema":
                refused += 1
                continue
            if status != 200:
                sys.exit(f"case {number}: {status} {json.dumps(body)}\n  {line.strip()}")
            instance = json.loads(body["choices"][0]["message"]["content"])
            print(json.dumps({"schema": schema, "instance": instance}))
    print(f"{refused} of {unnamed} random schemas refused", file=sys.stderr)
    if refused * 50 > unnamed:
        sys.exit("more random schemas are refused than one in 50")
    return 0


if __name__ == "__main__":
    sys.exit(main())
