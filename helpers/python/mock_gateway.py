"""Starts mock-gateway for tests and talks to its control API. One file, the standard library, Python 3.9 or newer.

With pytest 8 or newer, `pytest_plugins = ["mock_gateway"]` in conftest.py, or `-p mock_gateway`:

    def test_retries(gateway):
        gateway.stub(when={"user_says": "Hi"}, replies=[{"failure": "rate_limited", "retry_after": "2s"}, "Hello."])
        assert ask(OpenAI(), "Hi") == "Hello."

`gateway` is a Scope with an API key for one test. OPENAI_BASE_URL and OPENAI_API_KEY are set while the test runs. Its
stubs answer requests with this key only, so tests may run in parallel. After the test function, the gateway verifies
and reviews the requests with this key. Problems fail the test, unless the test has already read them. All tests
of a process share one server. For other settings, define its fixture in a conftest.py, or several:

    @pytest.fixture(scope="session")
    def mock_gateway_server() -> Iterator[MockGateway]:
        with MockGateway.start(scripts=["agent.jsonc"], flags=["--profile", "openai"]) as server:
            yield server

Without pytest: `with MockGateway.start() as server, server.scope("x") as gateway:`. Stubs, failures and keys have the
same fields as in scripts. If the server refuses a call, the helper raises a GatewayError with its text.
(PYTEST_DONT_REWRITE: a conftest.py may import this file first.)
"""

from __future__ import annotations

import contextlib
import http.client
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any, Callable, Generator, Iterator, Mapping, Sequence
from urllib.parse import quote, urlencode, urlsplit

# Makes pytest show only the lines of the test.
__tracebackhide__ = lambda error: error.errisinstance((GatewayError, AssertionError))

Fields = Mapping[str, Any]  # of a stub, a failure or another object in a script


class GatewayError(Exception):
    """The program did not start or answer, or it refused a request. Then `code` and `problems` are the server's."""
    def __init__(self, message: str, code: str | None = None, problems: Sequence[Fields] = ()) -> None:
        super().__init__(message)
        self.code, self.problems = code, problems


class MockGateway:
    """A running mock-gateway. It ends with stop(), or with this process, even if the process is killed."""
    base_url: str
    api_key: str
    _info: dict[str, Any]

    def __init__(self, process: Any, log: IO[bytes]) -> None:
        self._process, self._log = process, log
        self._slots = threading.BoundedSemaphore(32)  # the server accepts 64 connections
        os.register_at_fork(after_in_child=process.stdin.close)  # a forked child must not keep the server alive

    @classmethod
    def start(cls, scripts: Sequence[str | os.PathLike[str]] = (), flags: Sequence[str] = (),
              within: float = 30) -> MockGateway:
        """Returns when the program serves. `scripts` are files or folders of scripts, `flags` other flags of
        `mock-gateway serve`, such as ["--profile", "openai"]. Raises GatewayError, after at most `within` seconds."""
        program = os.environ.get("MOCK_GATEWAY_BIN") or _program_of_package() or "mock-gateway"
        command = [program, "serve", "--port=0", "--control=0", "--print=json", "--until-eof", "--quiet", *flags]
        command += [f"--script={os.fspath(script)}" for script in scripts]
        log, pipe = tempfile.TemporaryFile(), subprocess.PIPE
        try:  # a separate session: Ctrl-C ends the tests, which still need the program for their last requests
            process: Any = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, start_new_session=True)
        except OSError as error:
            log.close()
            hint = "Set MOCK_GATEWAY_BIN to the program mock-gateway, put it on PATH, or install its package."
            raise GatewayError(f"cannot run {program}: {error.strerror}. {hint}") from None
        server = cls(process, log)
        late = threading.Timer(within, server._end)
        late.start()
        line = process.stdout.readline()
        late.cancel()
        try:
            server._info = json.loads(line)
            server.base_url, server.api_key = server._info["base_url"], server._info["api_key"]
            if server.control("GET", "")["instance"] == server._info["instance"]:
                return server
            problem = "another process has its control port"
        except (ValueError, LookupError, TypeError, GatewayError) as error:
            problem = f"{error} in the stdout {line.decode(errors='replace')!r}"
        with process.stdin, process.stdout, log:
            code = f"its exit code is {server._end(grace=1)}, its stderr:"
            raise GatewayError(f"{program} did not start within {within} s: {problem}; {code}\n{server.stderr()}")

    def stop(self) -> None:
        """Ends the program. Unless its exit code is 0, raises a GatewayError that contains its stderr."""
        if self._process.stdin.closed:
            return
        self._process.stdin.close()
        with self._process.stdout, self._log:
            if code := self._end(grace=10):
                raise GatewayError(f"mock-gateway ended with exit code {code}\n{self.stderr()}")

    def _end(self, grace: float = 0) -> int:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return int(self._process.wait(grace))
        os.killpg(self._process.pid, signal.SIGKILL)
        return int(self._process.wait())

    def stderr(self) -> str:
        """What the program has written to stderr."""
        return os.pread(self._log.fileno(), 1 << 20, 0).decode(errors="replace").strip()

    def control(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Sends a request to the control API: control("GET", "/journal", limit=1). Returns the JSON or the text of the
        response. Raises GatewayError for status 400 and above."""
        target = f"/control/v1{path}?{urlencode(query)}".rstrip("?")
        headers = {"Authorization": f"Bearer {self._info['control_token']}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(urlsplit(self._info["control_url"]).netloc, timeout=90)
        with self._slots, contextlib.closing(connection):
            try:
                connection.request(method, target, None if body is None else json.dumps(body, allow_nan=False), headers)
                response = connection.getresponse()
                answer: Any = response.read().decode()
            except (OSError, http.client.HTTPException) as error:
                said = "" if self._log.closed else f"; its exit code is {self._process.poll()}\n{self.stderr()}"
                raise GatewayError(f"mock-gateway does not answer {method} {target}: {error!r}{said}") from error
        if "json" in response.headers["Content-Type"]:
            answer = json.loads(answer)
        if response.status >= 400:
            raise GatewayError(answer["message"], answer["code"], answer["problems"])
        return answer

    # Each method sends one request. `mock-gateway openapi` prints its fields and responses.
    def scope(self, name: str) -> Scope:
        return Scope(self, self.control("POST", "/scopes", {"name": name.encode(errors="replace").decode()}))
    def create_key(self, **fields: Any) -> Any: return self.control("POST", "/keys", fields)  # with its "id" and "secret"
    def disable_key(self, key_id: str) -> Any: return self.control("POST", f"/keys/{key_id}/disable")
    def enable_key(self, key_id: str) -> Any: return self.control("POST", f"/keys/{key_id}/enable")
    def delete_key(self, key_id: str) -> Any: return self.control("DELETE", f"/keys/{key_id}")
    def advance(self, by: str) -> Any: return self.control("POST", "/clock/advance", {"by": by})  # moves a manual clock, by "60s"
    def __enter__(self) -> MockGateway: return self
    def __exit__(self, *error: object) -> None: self.stop()


class Scope:
    """A key of a server with its own stubs, failures, states, gates and requests."""
    def __init__(self, server: MockGateway, facts: Fields) -> None:
        self.server, self._is_open = server, True
        self.id: str = facts["id"]  # ID of the key
        self.base_url: str = facts["base_url"]
        self.api_key: str = facts["api_key"]
        self._seen: set[tuple[Any, ...]] = set()
        self.env: dict[str, str] = {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_BASE": self.base_url}  # for a client's process
        self.env.update({"OPENAI_API_KEY": self.api_key, **_around_proxies()})

    def control(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        return self.server.control(method, path, body, scope=self.id, **query)

    def stub(self, *document: Fields, **fields: Any) -> Stub:
        """Mounts a stub: stub(when={"user_says": "Hi"}, reply="Hello.", expect=1), or a dict with these keys."""
        return self.stubs([dict(*document, **fields)])[0]

    def stubs(self, documents: Sequence[Fields]) -> list[Stub]:
        """Mounts all stubs or none. The first matching stub answers. Stubs of later calls come before those of earlier
        calls. Prints warnings about likely mistakes."""
        line = _line_of_test()
        documents = [{"source": line, **each} if isinstance(each, dict) else each for each in documents]
        mounted = self.control("POST", "/stubs", {"stubs": documents})
        for warning in mounted["warnings"]:
            print(f"{line}: {warning['pointer']}: {warning['message']}", file=sys.stderr)
        return [Stub(self.server.control, f"/stubs/{facts['id']}") for facts in mounted["stubs"]]

    # disable(): requests with this key get 403 until enable(). limit("2/1m"): requests above this get 429; limit(None)
    # removes the limit.
    def disable(self) -> None: self.server.disable_key(self.id)
    def enable(self) -> None: self.server.enable_key(self.id)
    def limit(self, rate: str | None) -> None: self.server.control("PATCH", f"/keys/{self.id}", {"limit": rate})
    # The same for tokens: limit_tokens("6000/1m").
    def limit_tokens(self, rate: str | None) -> None:
        self.server.control("PATCH", f"/keys/{self.id}", {"limit_tokens": rate})
    # The same for requests at a time: limit_concurrent(2).
    def limit_concurrent(self, most: int | None) -> None:
        self.server.control("PATCH", f"/keys/{self.id}", {"limit_concurrent": most})
    # Forces a failure with the fields of `failures` in scripts: fail(failure="overloaded", times=2).
    def fail(self, *document: Fields, **fields: Any) -> None: self.control("POST", "/failures", dict(*document, **fields))
    # verify(): unmet expectations. review(): mistakes of the client. Returned ones no longer fail the test.
    def verify(self) -> dict[str, Any]: return self._look_at("/verify", "problems")
    def review(self) -> dict[str, Any]: return self._look_at("/review", "findings")

    def count(self, when: Fields | None = None, **filters: Any) -> int:
        """How many requests fit the matchers, whether or not a stub answered them: count({"user_says": "Hi"})."""
        counted = self.control("POST", "/journal/count", {} if when is None else {"when": when}, **filters)
        return int(counted["count"])

    def journal(self, **filters: Any) -> list[dict[str, Any]]:
        """The exchanges, newest first: journal(status=429, text="Hi"). All of them, or the newest `limit`."""
        page, limit = self.control("GET", "/journal", **filters), int(filters.get("limit", 1 << 62))
        found: list[dict[str, Any]] = page["exchanges"]
        while page["more"] and len(found) < limit:
            rest = {"after": page["cursor"]} if "after" in filters else {"before": found[-1]["id"]}
            page = self.control("GET", "/journal", **{**filters, **rest})
            found += page["exchanges"]
        return found[:limit]

    def state(self, machine: str) -> str: return str(self.control("GET", f"/states/{quote(machine, '')}")["state"])
    def set_state(self, machine: str, state: str) -> None: self.control("PUT", f"/states/{quote(machine, '')}", {"state": state})
    def gate(self, name: str) -> Gate: return Gate(self.control, f"/gates/{quote(name, '')}")
    # Waits for a request whose reply is `ask` and returns all. answer() replies to one, in the form that stubs use.
    def asked(self, wait: str = "5s") -> list[Any]: return list(self.control("GET", "/asked", wait=wait)["asked"])
    def answer(self, exchange: int, reply: Any) -> None: self.server.control("POST", f"/asked/{exchange}", {"reply": reply})

    def close(self, say: Callable[[str], Any] = lambda text: print(text, file=sys.stderr)) -> None:
        """Removes the scope from the server. Raises AssertionError for problems that the test has not read. Prints
        findings that do not fail a test, such as asked_again_early."""
        if self._is_open:
            self._is_open = False
            # If the test has read the scope's problems, the program's report leaves the scope out.
            answer = self.server.control("DELETE", f"/scopes/{self.id}", {"counts": False} if self._seen else None)
            found = answer["verify"]["problems"] + answer["review"]["findings"]
            unseen = [each for each in found if _identity(each) not in self._seen and each.get("severity") != "note"]
            text = answer["message"] if unseen == found else "\n".join(map(_text, unseen))
            if any(each.get("fails_review", True) for each in unseen):
                raise AssertionError(text)
            if unseen:
                say(text)

    def __enter__(self) -> Scope: return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        with contextlib.suppress(*((AssertionError, GatewayError) if error else ())):
            self.close()

    def _look_at(self, path: str, those: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.control("GET", path)
        self._seen.update(map(_identity, answer[those]))
        return answer


class Stub:
    """A mounted stub. wait() returns when it has answered this many requests, or raises AssertionError."""
    def __init__(self, control: Callable[..., Any], path: str) -> None: self._control, self._path = control, path
    def wait(self, calls: int = 1, within: str = "5s") -> None: _wait(self, calls=calls, within=within)
    def remove(self) -> None: self._control("DELETE", self._path)
    @property
    def calls(self) -> int: return int(self._control("GET", self._path)["calls"])


class Gate:
    """A gate: replies wait there until release() lets one pass, or open() all. wait() returns when this many have
    reached it, or, with "delivered", when clients have received everything before it; else it raises AssertionError."""
    def __init__(self, control: Callable[..., Any], path: str) -> None: self._control, self._path = control, path
    def wait(self, count: int = 1, within: str = "5s", what: str = "reached") -> None:
        _wait(self, **{"for": what, "count": count, "within": within})
    def release(self) -> None: self._control("POST", f"{self._path}/release")
    def open(self) -> None: self._control("POST", f"{self._path}/open")


def _program_of_package() -> str | None:
    """The program in the installed package mock-gateway. Its folder need not be on PATH."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("mock-gateway") or ():
            if file.name == "mock-gateway" and os.access(path := file.locate(), os.X_OK):
                return os.fspath(path)
    return None


def _line_of_test() -> str:
    """The line that called this file, for reports: "tests/test_agent.py:12"."""
    frame: Any = sys._getframe()
    while frame.f_back and frame.f_code.co_filename == _line_of_test.__code__.co_filename:
        frame = frame.f_back
    file = frame.f_code.co_filename
    with contextlib.suppress(OSError):  # a test may have removed its working directory
        relative = os.path.relpath(file)
        file = file if relative.startswith("..") else relative
    return f"{file}:{frame.f_lineno}"


def _around_proxies() -> dict[str, str]:
    """Clients read either variable, and some prefer one. If only one is set, both start from its value."""
    upper, lower = os.environ.get("NO_PROXY"), os.environ.get("no_proxy")
    lists = {"NO_PROXY": upper or lower or "localhost", "no_proxy": lower or upper or "localhost"}
    return {name: hosts if hosts == "*" else f"{hosts},127.0.0.1" for name, hosts in lists.items()}


def _identity(wrong: Fields) -> tuple[Any, ...]:
    """Distinguishes problems and findings that have the same text."""
    if wrong.get("kind") == "unmet expectation":  # later requests change its explanation, but not its first line
        return wrong["stub"]["id"], wrong["message"].partition("\n")[0]
    return wrong.get("code"), wrong["message"], *wrong["exchanges"]


def _text(wrong: Fields) -> str:
    exchanges = ", ".join(map(str, wrong["exchanges"]))
    return f"{wrong['code']} (exchange {exchanges}): {wrong['message']}" if "code" in wrong else wrong["message"]


def _wait(waited: Stub | Gate, **query: Any) -> None:
    answer = waited._control("GET", f"{waited._path}/wait", **query)
    if not answer["reached"]:
        raise AssertionError(answer["message"])


with contextlib.suppress(ImportError):
    import pytest
    if getattr(pytest, "version_tuple", (0,))[0] < 8:  # the package may be installed for its program only
        raise ImportError
    _scopes = pytest.StashKey[list[Scope]]()

    def scope_of(request: pytest.FixtureRequest, server: MockGateway) -> Scope:
        """A scope that is verified and reviewed after the test of pytest's `request`."""
        scope = server.scope(request.node.nodeid)
        request.node.stash.setdefault(_scopes, []).append(scope)
        request.addfinalizer(scope.close)
        return scope

    @pytest.fixture(scope="session")
    def mock_gateway_server() -> Iterator[MockGateway]:
        with MockGateway.start() as server:
            yield server

    @pytest.fixture
    def gateway(request: pytest.FixtureRequest, mock_gateway_server: MockGateway,
                monkeypatch: pytest.MonkeyPatch) -> Scope:
        scope = scope_of(request, mock_gateway_server)
        for name, value in scope.env.items():
            monkeypatch.setenv(name, value)
        return scope

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from _beside_failures(item, "setup"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
        result = yield from _beside_failures(item, "call")
        if problems := list(_problems(item, "call")):
            pytest.fail("\n".join(problems), pytrace=False)
        return result

    def _beside_failures(item: pytest.Item, phase: str) -> Generator[None, Any, Any]:
        """Keeps an earlier failure or skip as the test's result: the problems become a section of its report."""
        try:
            return (yield)
        except BaseException:
            for problem in _problems(item, phase):
                item.add_report_section(phase, "mock-gateway", problem)
            raise

    def _problems(item: pytest.Item, phase: str) -> Iterator[str]:
        """Problems that fail the test. Other findings become a section of the report, which pytest -rA shows."""
        for scope in item.stash.get(_scopes, []):
            try:
                scope.close(lambda text: item.add_report_section(phase, "mock-gateway", text))
            except (AssertionError, GatewayError) as error:
                yield str(error)
