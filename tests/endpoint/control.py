"""A client of the control API for the tests of the program. Compares each response with the OpenAPI document that the
program prints, if the package jsonschema is installed.

Otherwise uses only Python's standard library.
"""

import functools
import http.client
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.parse

import program

try:
    import jsonschema
except ImportError:
    jsonschema = None
    print("jsonschema is not installed: answers are not compared with the OpenAPI document", flush=True)

API = "/control/v1"


class Refused(Exception):
    """The error for a response with a status of 400 or above."""

    def __init__(self, status, error):
        super().__init__(f"{status} {error}")
        self.status, self.error, self.code = status, error, error["code"]


@functools.lru_cache
def document():
    return json.loads(program.execute("openapi").stdout)


@functools.lru_cache
def templates():
    """Returns the paths of the document with a pattern for request paths each. Paths without parameters come first."""
    paths = sorted(document()["paths"], key=lambda path: "{" in path)
    return [(path, re.compile(re.sub(r"{\w+}", "[^/]+", path))) for path in paths]


def template_of(path):
    """Returns the path of the document that matches a request's path, or None."""
    return next((template for template, pattern in templates() if pattern.fullmatch(path)), None)


@functools.lru_cache
def validator(template, method, status):
    responses = document()["paths"][template][method.lower()]["responses"]
    response = responses.get(str(status)) or responses["default"]
    if "$ref" in response:
        response = document()["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    content = response["content"]
    if "application/json" not in content:
        return None
    schema = content["application/json"]["schema"]
    return jsonschema.Draft202012Validator({**schema, "components": document()["components"]})


def compare(method, path, status, answer):
    """Fails if a response contradicts the OpenAPI document."""
    template = template_of(path.split("?")[0])
    if not jsonschema or template is None or method.lower() not in document()["paths"][template]:
        return
    checker = validator(template, method, status if status < 400 else 400)
    for error in checker.iter_errors(answer) if checker else ():
        raise AssertionError(f"{method} {path} {status}: {error.json_path}: {error.message}")


class Program:
    """mock-gateway with its control API, started as by the helpers. `script` is the content of its only script."""

    def __init__(self, script=None, *flags, environment=None, **options):
        self.folder = tempfile.TemporaryDirectory()
        self.script = os.path.join(self.folder.name, "script.json")
        words = [program.PROGRAM, "serve", "--port", "0", "--control", "0", "--print", "json", "--until-eof"]
        words += [] if "--loud" in flags else ["--quiet"]
        if script is not None:
            self.write_script(script)
            words += ["--script", self.script]
        self.process = subprocess.Popen(words + [flag for flag in flags if flag != "--loud"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})}, **options)
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("not started: " + self.process.communicate(timeout=program.TIMEOUT)[1])
        self.info = json.loads(line)
        self.control = urllib.parse.urlsplit(self.info["control_url"])
        self.data = urllib.parse.urlsplit(self.info["base_url"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if self.process.poll() is None:
                self.process.stdin.close()
            self.end()
        finally:
            self.process.kill()
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                stream.close()
            self.folder.cleanup()

    def end(self):
        """Waits until the program ends and returns its exit code. Sets `output` and `log` to its stdout and stderr."""
        if not hasattr(self, "log"):
            self.process.stdin = self.process.stdin if not self.process.stdin.closed else open(os.devnull, "w")
            self.output, self.log = self.process.communicate(timeout=program.TIMEOUT)
        return self.process.returncode

    def write_script(self, script):
        """Replaces a file as many editors do: writes a new file and renames it."""
        text = script if isinstance(script, str) else json.dumps({"mock_gateway": 1, **script})
        with open(self.script + ".new", "w") as file:
            file.write(text)
        os.rename(self.script + ".new", self.script)

    def send(self, method, path, body=None, headers=None):
        """Sends a request to the control API. Returns the status, the headers and the bytes of the response."""
        connection = http.client.HTTPConnection(self.control.hostname, self.control.port, timeout=program.TIMEOUT)
        try:
            if headers is None:
                headers = {"Authorization": "Bearer " + self.info["control_token"]}
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def call(self, method, path, body=None, **query):
        """Sends JSON or JSON text to a path below /control/v1. Returns the JSON of the response, or raises Refused."""
        if query:
            path += "?" + urllib.parse.urlencode(query)
        if body is not None and not isinstance(body, str):
            body = json.dumps(body)
        status, headers, received = self.send(method, API + path, body)
        if headers["Content-Type"] != "application/json":
            return received.decode()
        answer = json.loads(received)
        compare(method, API + path, status, answer)
        if status >= 400:
            raise Refused(status, answer)
        return answer

    def get(self, path, **query):
        return self.call("GET", path, **query)

    def put(self, path, body=None, **query):
        return self.call("PUT", path, body, **query)

    def post(self, path, body=None, **query):
        return self.call("POST", path, body, **query)

    def delete(self, path, **query):
        return self.call("DELETE", path, **query)

    def request(self, method, path, body=None, key=None):
        """Sends a request as a client of the gateway. Returns the status and the body."""
        connection = http.client.HTTPConnection(self.data.hostname, self.data.port, timeout=program.TIMEOUT)
        try:
            headers = {"Authorization": "Bearer " + (key or self.info["api_key"]), "Content-Type": "application/json"}
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def chat(self, text="Hi", key=None, **fields):
        body = {"model": "mock-model", "messages": [{"role": "user", "content": text}], **fields}
        return self.request("POST", "/v1/chat/completions", json.dumps(body), key)

    def ask(self, text="Hi", key=None):
        status, body = self.chat(text, key)
        if status != 200:
            raise AssertionError(f"{status} {body}")
        return json.loads(body)["choices"][0]["message"]["content"]

    def key(self, name):
        return next(key for key in self.get("/keys")["keys"] if key["name"] == name)


def eventually(test, condition, what):
    """Waits up to ten seconds until the condition holds; otherwise fails the test."""
    deadline = time.monotonic() + 10
    while not condition():
        if time.monotonic() > deadline:
            test.fail(what)
        time.sleep(0.002)
