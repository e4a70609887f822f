"""Tests of mock_gateway.py with the program $MOCK_GATEWAY_BIN. helpers/run.sh runs them."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
import types
import urllib.parse
from pathlib import Path

import pytest

from mock_gateway import GatewayError, MockGateway

SECONDS = 20  # a timeout for tests that hang; it does not pace them


def post(place, text, **fields):
    """The status and the JSON body of a chat request, sent through plain sockets as a new call, and not as a retry."""
    address = urllib.parse.urlsplit(place.base_url)
    body = {"model": "mock-model", "messages": [{"role": "user", "content": text}], **fields}
    headers = {"Authorization": f"Bearer {place.api_key}", "Content-Type": "application/json", "x-stainless-retry-count": "0"}
    with contextlib.closing(http.client.HTTPConnection(address.netloc, timeout=SECONDS)) as connection:
        connection.request("POST", f"{address.path}/chat/completions", json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, json.load(response)


def ask(place, text):
    """The text of the reply."""
    status, answer = post(place, text)
    assert status == 200, answer
    return answer["choices"][0]["message"]["content"]


@contextlib.contextmanager
def asking(place, text):
    """A future of the text of a reply, for a request that is under way."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        yield pool.submit(ask, place, text)


def is_running(pid):
    """Whether the process runs and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def assert_ends(pid):
    deadline = time.monotonic() + SECONDS
    while is_running(pid):
        assert time.monotonic() < deadline, f"process {pid} is still there"
        time.sleep(0.01)


def script_file(folder, name, text):
    """A program that runs a shell script."""
    file = folder / name
    file.write_text("#!/bin/sh\n" + text)
    file.chmod(0o755)
    return str(file)


# --- Using the helper in a test ---------------------------------------------------------------------------------------


def test_the_environment_leads_to_the_scope_and_around_proxies(gateway):
    assert os.environ["OPENAI_BASE_URL"] == gateway.base_url
    assert os.environ["OPENAI_API_BASE"] == gateway.base_url  # LangChain reads this one first
    assert os.environ["OPENAI_API_KEY"] == gateway.api_key
    assert "127.0.0.1" in os.environ["NO_PROXY"].split(",")


@pytest.mark.parametrize(
    "given, upper, lower",
    [
        ({}, "localhost,127.0.0.1", "localhost,127.0.0.1"),
        ({"NO_PROXY": ".corp"}, ".corp,127.0.0.1", ".corp,127.0.0.1"),
        ({"no_proxy": ".corp"}, ".corp,127.0.0.1", ".corp,127.0.0.1"),
        ({"NO_PROXY": "a", "no_proxy": "b"}, "a,127.0.0.1", "b,127.0.0.1"),
        ({"NO_PROXY": "*"}, "*", "*"),
    ],
)
def test_what_goes_around_proxies_still_does(mock_gateway_server, monkeypatch, given, upper, lower):
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name, hosts in given.items():
        monkeypatch.setenv(name, hosts)
    with mock_gateway_server.scope("proxies") as gateway:
        assert (gateway.env["NO_PROXY"], gateway.env["no_proxy"]) == (upper, lower)


def test_a_stub_counts_its_calls_until_it_is_removed(gateway):
    older = gateway.stub(reply="older")
    newer = gateway.stub({"reply": "newer"}, name="newer")
    assert [ask(gateway, "Hi") for _ in range(2)] == ["newer", "newer"]
    assert (older.calls, newer.calls) == (0, 2)
    newer.remove()
    assert ask(gateway, "Hi") == "older"


def test_a_stub_is_named_by_the_line_that_mounts_it(mock_gateway_server):
    def here():
        return f"test_mock_gateway.py:{sys._getframe(1).f_lineno}"

    scope = mock_gateway_server.scope("unmet")
    one, place = scope.stub(when={"user_says": "Hi"}, reply="Hello.", expect=1), here()
    assert one._control("GET", one._path)["title"] == f"the stub at {place}"
    both, places = scope.stubs([{"name": "a", "when": {"user_says": "a"}, "reply": "a"}, {"reply": "b"}]), here()
    titles = [stub._control("GET", stub._path)["title"] for stub in both]
    assert titles == [f'"a" ({places})', f'the stub at {places} (key is "{scope.id}")']
    own = scope.stub(reply="c", source="agent.yaml:3")
    assert own._control("GET", own._path)["title"] == "the stub at agent.yaml:3"
    with pytest.raises(AssertionError) as wrong:
        scope.close()
    assert f"expectation not met  the stub at {place}  expected 1 call, got 0" in str(wrong.value)


def test_a_warning_about_a_stub_names_the_line_that_mounts_it(gateway, capsys):
    line = sys._getframe().f_lineno + 1
    gateway.stubs([{"when": {"user_says": "Hi"}, "reply": "a"}, {"in_state": {"machine": "login", "state": "ended"}, "reply": "b"}])
    told = capsys.readouterr().err
    assert f'test_mock_gateway.py:{line}: /stubs/1/in_state: {{"machine": "login", "state": "ended"}} names two' in told
    assert told.count("\n") == 1


def test_a_stub_is_named_by_its_whole_path_from_elsewhere_and_from_nowhere(gateway, monkeypatch, tmp_path):
    for folder in [tmp_path / "elsewhere", tmp_path / "nowhere"]:
        folder.mkdir()
        monkeypatch.chdir(folder)
        if folder.name == "nowhere":
            folder.rmdir()
        stub = gateway.stub(reply="Hello.")
        assert stub._control("GET", stub._path)["file"] == __file__


def test_a_wait_for_calls_ends_with_the_last_of_them_or_fails(gateway):
    stub = gateway.stub(reply="Hello.", name="greeting")
    with pytest.raises(AssertionError, match="greeting"):
        stub.wait(within="10ms")
    with asking(gateway, "Hi") as answer:
        stub.wait()
        assert answer.result() == "Hello."


def test_failures_and_limits_of_a_scope_are_its_own_until_they_end(gateway, mock_gateway_server):
    with mock_gateway_server.scope("another") as another:
        for each in (gateway, another):
            each.stub(reply="Hello.")
        for begin, status, end in [
            (lambda: gateway.fail(failure="overloaded", times=1), 529, lambda: None),
            (gateway.disable, 403, gateway.enable),
            (lambda: gateway.limit("2/1h"), 429, lambda: gateway.limit(None)),
            (lambda: gateway.limit_tokens("1/1h"), 429, lambda: gateway.limit_tokens(None)),
        ]:
            begin()
            statuses = [post(gateway, "Hi")[0] for _ in range(3 if status == 429 else 1)]
            assert (statuses[-1], post(another, "Hi")[0]) == (status, 200)
            end()
            assert post(gateway, "Hi")[0] == 200


def test_the_journal_has_more_than_a_page_of_the_servers(gateway, mock_gateway_server):
    with mock_gateway_server.scope("another") as another:
        for each in (gateway, another):
            each.stub(reply="Hello.")
        ask(another, "not of this scope")
    for number in range(201):
        ask(gateway, f"question {number}")
    ids = [exchange["id"] for exchange in gateway.journal()]
    assert len(ids) == 201
    assert ids == sorted(ids, reverse=True)
    for filters, expected in [
        ({"limit": 3}, ids[:3]),
        ({"limit": 200}, ids[:200]),
        ({"before": ids[-3]}, ids[-2:]),
        ({"text": "question 7", "status": 200, "limit": 1}, [ids[201 - 80]]),
    ]:
        assert [exchange["id"] for exchange in gateway.journal(**filters)] == expected
    assert {exchange["id"] for exchange in gateway.journal(after=0)} == set(ids)


def test_the_journal_has_more_bytes_than_a_page_of_the_servers(gateway):
    gateway.stub(reply="Hello.")
    for _ in range(9):
        ask(gateway, "x" * (1 << 20))
    assert len(gateway.journal(limit=9)) == 9


def test_state_machines_of_two_scopes_do_not_meet(gateway, mock_gateway_server):
    with mock_gateway_server.scope("another") as another:
        for each in (gateway, another):
            each.stub(in_state={"an order/1": "paid"}, reply="On its way.")
        gateway.set_state("an order/1", "paid")
        assert (gateway.state("an order/1"), another.state("an order/1")) == ("paid", "started")
        assert ask(gateway, "Hi") == "On its way."


def test_a_gate_holds_replies_until_they_are_let_pass(gateway):
    gateway.stub(reply={"text": "one two", "hold": {"gate": "first", "before_token": 1}})
    gate = gateway.gate("first")
    with asking(gateway, "a") as first:
        gate.wait()
        gate.wait(what="delivered")
        gate.release()
        assert first.result() == "one two"
    with asking(gateway, "b") as second:
        gate.wait(count=2)
        gate.open()
        assert second.result() == "one two"
    assert ask(gateway, "c") == "one two"
    with pytest.raises(AssertionError, match="3 of 9"):
        gate.wait(count=9, within="10ms")


def test_the_test_answers_what_it_is_asked(gateway):
    gateway.stub(when={"user_says": "sum"}, reply={"ask": True})
    gateway.limit_concurrent(1)
    with asking(gateway, "the sum of 2 and 3") as answer:
        [question] = gateway.asked()
        assert post(gateway, "too many")[0] == 429
        gateway.limit_concurrent(None)
        assert question["request"]["messages"][0]["content"] == "the sum of 2 and 3"
        gateway.answer(question["exchange"], {"json_text": {"sum": 5}})
        assert answer.result() == '{"sum":5}'


def test_keys_go_through_their_states(mock_gateway_server):
    key = mock_gateway_server.create_key(name="billing")
    client = types.SimpleNamespace(base_url=mock_gateway_server.base_url, api_key=key["secret"])
    for change, status in [("disable_key", 403), ("enable_key", 200), ("delete_key", 401)]:
        getattr(mock_gateway_server, change)(key["id"])
        assert post(client, "Hi")[0] == status


def test_requests_are_counted_after_the_fact(gateway):
    gateway.stub(when={"user_says": "Hi"}, reply="Hello.")
    for text in ("Hi there", "Hi all"):
        ask(gateway, text)
    assert gateway.count() == 2
    assert gateway.count({"user_says": "there"}) == 1
    assert gateway.count({"user_says": "Hi"}, status=429) == 0


def test_what_is_a_note_fails_and_says_nothing(gateway, capsys):
    gateway.stub(reply="Hello.")
    assert post(gateway, "Hi", service_tier="auto")[0] == 200
    assert [finding["severity"] for finding in gateway.server.control("GET", "/review", scope=gateway.id)["findings"]] == ["note"]
    gateway.close()
    assert capsys.readouterr().err == ""


def test_a_manual_clock_is_moved(tmp_path):
    script = tmp_path / "manual.json"
    script.write_text(json.dumps({"mock_gateway": 1, "gateway": {"clock": "manual"}}))
    with MockGateway.start(scripts=[script]) as server, server.scope("slow") as gateway:
        gateway.stub(reply="Hello.")
        gateway.limit("1/1h")
        assert [post(gateway, "Hi")[0] for _ in range(2)] == [200, 429]
        server.advance("1h")
        assert ask(gateway, "Hi") == "Hello."


def test_two_hundred_tests_at_once_do_not_meet(mock_gateway_server):
    start = threading.Barrier(200, timeout=SECONDS)

    def one(number):
        with mock_gateway_server.scope(f"test {number}") as gateway:
            start.wait()
            stub = gateway.stub(when={"user_says": "Who?"}, reply=f"number {number}", expect=2)
            answers = {ask(gateway, "Who?") for _ in range(2)}
            stub.wait(2)
            return answers == {f"number {number}"} and len(gateway.journal()) == 2 and stub.calls == 2

    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        assert all(pool.map(one, range(200)))


# --- Mistakes ---------------------------------------------------------------------------------------------------------


def test_a_misspelt_field_is_the_servers_error(gateway):
    with pytest.raises(GatewayError, match=r'unknown key "user_say"; did you mean "user_says"\?') as caught:
        gateway.stubs([{"reply": "Hello."}, {"when": {"user_say": "Hi"}, "reply": "Hello."}])
    assert "/stubs/1/when/user_say" in str(caught.value)
    assert caught.value.code == "invalid_script"
    assert [problem["pointer"] for problem in caught.value.problems] == ["/stubs/1/when/user_say"]
    gateway.stub(reply="the only one")
    assert len(gateway.control("GET", "/stubs")["stubs"]) == 1


def test_what_is_no_json_is_not_sent(gateway):
    with pytest.raises(TypeError):
        gateway.stub(reply=lambda request: "Hello.")
    with pytest.raises(ValueError):
        gateway.stub(reply={"text": "Hello.", "extra": {"cost": float("nan")}})


def test_what_is_wrong_is_raised_when_the_scope_is_closed(mock_gateway_server):
    with pytest.raises(AssertionError, match="greeting"):
        with mock_gateway_server.scope("unmet") as gateway:
            gateway.stub(name="greeting", reply="Hello.", expect=1)
    with pytest.raises(ZeroDivisionError):  # the first error counts
        with mock_gateway_server.scope("unmet") as gateway:
            gateway.stub(name="greeting", reply="Hello.", expect=1)
            1 / 0
    assert not [scope for scope in mock_gateway_server.control("GET", "/scopes")["scopes"] if scope["name"] == "unmet"]


def test_what_the_test_has_looked_at_is_not_raised(mock_gateway_server):
    with mock_gateway_server.scope("looked at") as gateway:
        gateway.stub(when={"user_says": "Hi"}, reply="Hello.")
        assert post(gateway, "something else")[0] == 422
        assert not gateway.verify()["ok"]
        assert post(gateway, "Hi", mood="calm")[0] == 200
        assert [finding["code"] for finding in gateway.review()["findings"]] == ["unknown_field"]


def test_what_the_test_has_looked_at_does_not_count_in_a_report_of_the_program():
    for looks in True, False:
        server = MockGateway.start(flags=["--fail-on", "error"])
        gateway = server.scope("mine")
        gateway.stub(reply="Hello.", expect=2)
        ask(gateway, "Hi")
        if looks:
            assert not gateway.verify()["ok"]
            gateway.close()
            server.stop()
        else:
            with pytest.raises(AssertionError, match="expected 2 calls, got 1"):
                gateway.close()
            with pytest.raises(GatewayError, match="exit code 1"):
                server.stop()


def test_what_is_wrong_once_more_is_raised(mock_gateway_server):
    with pytest.raises(AssertionError, match=r"\Aunknown_field \(exchange \d+\): [^\n]*\Z"):
        with mock_gateway_server.scope("once more") as gateway:
            gateway.stub(reply="Hello.")
            post(gateway, "Hi", mood="calm")
            assert not gateway.review()["ok"]
            post(gateway, "Hi", mood="calm")


LIMITED = {"replies": [{"failure": "rate_limited", "retry_after": "3600s"}, "Hello."], "expect": 2}


def test_a_call_that_may_be_meant_is_told_and_not_raised(mock_gateway_server, capsys):
    with mock_gateway_server.scope("asks again") as gateway:
        gateway.stub(LIMITED)
        assert [post(gateway, "Hi")[0] for _ in range(2)] == [429, 200]
    told = capsys.readouterr().err
    assert told.startswith("1 finding in ") and "\nasked_again_early (exchange " in told and "Retry-After was 3600 s" in told, told
    assert told.count("\n") == 2


def test_what_is_raised_stands_beside_what_may_be_meant(mock_gateway_server):
    with pytest.raises(AssertionError, match=r"\Aexpectation not met[^\0]*\n\n1 finding in [^\n]*\nasked_again_early \(exchange "):
        with mock_gateway_server.scope("asks again, and wrong") as gateway:
            gateway.stub({**LIMITED, "expect": 3})
            assert [post(gateway, "Hi")[0] for _ in range(2)] == [429, 200]


def test_an_unmet_expectation_that_was_looked_at_may_get_another_explanation(mock_gateway_server):
    unmet = {"when": {"user_says": "Hi"}, "reply": "Hello.", "expect": 1}
    with mock_gateway_server.scope("explained") as gateway:
        gateway.stubs([unmet, {"reply": "Sorry?"}])
        [before] = gateway.verify()["problems"]
        ask(gateway, "Good morning")
        [after] = mock_gateway_server.control("GET", "/verify", scope=gateway.id)["problems"]
        assert after["message"] != before["message"]
    with pytest.raises(AssertionError, match="expected 1 call, got 0"):
        with mock_gateway_server.scope("another stub") as gateway:
            gateway.stub(unmet)
            gateway.verify()
            gateway.stub(unmet)


# --- pytest -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def suite(pytester, monkeypatch):
    """Runs pytest on a file with this code, in a process of its own."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))

    def run(code, *arguments):
        pytester.makepyfile("    from test_mock_gateway import LIMITED, ask, post\n" + code)
        return pytester.runpytest_subprocess("-p", "mock_gateway", "-p", "no:cacheprovider", *arguments)

    return run


def test_what_is_wrong_fails_the_test_that_it_belongs_to(suite):
    result = suite(
        """
    def test_before(gateway):
        gateway.stub(reply="Hello.", expect=1)
        assert ask(gateway, "Hi") == "Hello."
    def test_unmet(gateway):
        gateway.stub(name="greeting", when={"user_says": "Hi"}, reply="Hello.", expect=1)
    def test_unmatched_and_failed(gateway):
        gateway.stub(when={"user_says": "Hi"}, reply="Hello.")
        assert ask(gateway, "Good morning") == "Hello."
    def test_after(gateway):
        gateway.stub(reply="Hello.")
        assert ask(gateway, "Hi") == "Hello."
    """,
        "-rA",
    )
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*_ test_unmet _*", "*greeting*", "*_ test_unmatched_and_failed _*", "*AssertionError*",
                                 "*- Captured mock-gateway call -*", "*Good morning*"])
    result.stdout.fnmatch_lines_random(["PASSED *::test_before", "PASSED *::test_after"])


def test_a_test_that_expects_a_429_and_asks_again_passes(suite):
    code = """
    def test_asks_again(gateway):
        gateway.stub(LIMITED)
        assert [post(gateway, "Hi")[0] for _ in range(2)] == [429, 200]
    def test_asks_again_and_looks(gateway):
        gateway.stub(LIMITED)
        assert [post(gateway, "Hi")[0] for _ in range(2)] == [429, 200]
        review = gateway.review()
        assert review["ok"] and [finding["code"] for finding in review["findings"]] == ["asked_again_early"]
    """
    result = suite(code, "-rA", "-W", "error")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*_ test_asks_again _*", "*- Captured mock-gateway call -*", "asked_again_early *"])
    assert result.stdout.str().count("asked_again_early (exchange") == 1  # the test that read the findings does not print them again


def test_a_test_that_outlives_its_server_fails_for_itself(suite):
    result = suite("""
    import os, signal
    def test_killed(gateway):
        os.kill(gateway.server.control("GET", "")["pid"], signal.SIGKILL)
        assert 1 == 2
    """)
    result.assert_outcomes(failed=1, errors=1)  # and the server's fixture reports how it ended
    result.stdout.fnmatch_lines(["*ended with exit code -9*", "*assert 1 == 2*", "*does not answer DELETE *"])


def test_a_test_keeps_its_own_result_beside_what_is_wrong(suite):
    result = suite("""
    import pytest
    @pytest.fixture
    def skips(gateway):
        gateway.stub(reply="Hello.", expect=1)
        return pytest.importorskip("agent_of_another_platform")
    @pytest.fixture
    def fails(gateway):
        gateway.stub(name="greeting", reply="Hello.", expect=1)
        1 / 0
    @pytest.mark.xfail(strict=True)
    def test_unmet(gateway):
        gateway.stub(reply="Hello.", expect=1)
    def test_skipped(gateway):
        pytest.skip("not today")
    def test_of_a_fixture_that_skips(skips):
        pass
    def test_of_a_fixture_that_fails(fails):
        pass
    """)
    result.assert_outcomes(xfailed=1, skipped=2, errors=1)
    result.stdout.fnmatch_lines(["*ZeroDivisionError*", "*- Captured mock-gateway setup -*", "*greeting*"])


# --- The program ------------------------------------------------------------------------------------------------------


def test_the_program_of_its_package_comes_after_the_variable_and_before_the_path(monkeypatch, tmp_path):
    """The metadata that pip writes for an installed package."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mock-gateway").symlink_to(os.environ["MOCK_GATEWAY_BIN"])
    about = tmp_path / "mock_gateway-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mock-gateway\nVersion: 1\n")
    (about / "RECORD").write_text("mock_gateway/__init__.py,,\nbin/mock-gateway,,\n")
    script_file(tmp_path, "mock-gateway", "exit 3\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("MOCK_GATEWAY_BIN", "")
    with pytest.raises(GatewayError, match="mock-gateway did not start"):
        MockGateway.start()
    monkeypatch.syspath_prepend(tmp_path)
    with MockGateway.start() as server:
        assert server.base_url.endswith("/v1")
    monkeypatch.setenv("MOCK_GATEWAY_BIN", script_file(tmp_path, "another", "exit 3\n"))
    with pytest.raises(GatewayError, match="another did not start"):
        MockGateway.start()


def test_a_program_that_is_not_there_is_named_with_the_remedy(monkeypatch, tmp_path):
    monkeypatch.delenv("MOCK_GATEWAY_BIN")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GatewayError, match="cannot run mock-gateway: No such file .* Set MOCK_GATEWAY_BIN"):
        MockGateway.start()
    file = tmp_path / "no-program"
    file.write_text("")
    monkeypatch.setenv("MOCK_GATEWAY_BIN", str(file))
    with pytest.raises(GatewayError, match="no-program: Permission denied"):
        MockGateway.start()


def test_another_program_is_not_taken_for_it(monkeypatch, tmp_path):
    monkeypatch.setenv("MOCK_GATEWAY_BIN", script_file(tmp_path, "another", "echo ready\necho not me >&2\nexit 3\n"))
    with pytest.raises(GatewayError, match=r"(?s)another did not start .*'ready.n'; its exit code is 3.*not me"):
        MockGateway.start()


def test_a_server_of_another_process_is_not_taken_for_it(monkeypatch, tmp_path, mock_gateway_server):
    info = {**mock_gateway_server._info, "instance": "another"}
    monkeypatch.setenv("MOCK_GATEWAY_BIN", script_file(tmp_path, "another", f"echo '{json.dumps(info)}'\ncat\n"))
    with pytest.raises(GatewayError, match="another process has its control port"):
        MockGateway.start()


def test_a_start_that_takes_too_long_is_given_up(monkeypatch, tmp_path):
    # The sleep inherits the shell's stdout: readers see no end of file while it runs.
    slow = script_file(tmp_path, "slow", f"sleep 1000 &\necho $! >{tmp_path}/pid\nwait\n")
    monkeypatch.setenv("MOCK_GATEWAY_BIN", slow)
    with pytest.raises(GatewayError, match=r"did not start within 2 s"):
        MockGateway.start(within=2)
    assert_ends(int((tmp_path / "pid").read_text()))


def test_a_program_that_crashes_is_told_with_its_exit_code():
    server = MockGateway.start()
    os.kill(server.control("GET", "")["pid"], signal.SIGKILL)
    with pytest.raises(GatewayError, match="does not answer GET /control/v1/stubs"):
        while True:
            server.control("GET", "/stubs")
    with pytest.raises(GatewayError, match="ended with exit code -9"):
        server.stop()
    server.stop()


def test_a_stopped_server_is_gone():
    server = MockGateway.start()
    pid = server.control("GET", "")["pid"]
    server.stop()
    assert not is_running(pid)
    with pytest.raises(GatewayError, match="does not answer GET /control/v1/stubs"):
        server.control("GET", "/stubs")


def run_script(code, **options):
    """A separate Python process that imports the helper; the test reads its stdout as it comes."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", "import os, signal, time\nfrom mock_gateway import *\n" + code]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, **options)


@pytest.mark.parametrize("more", ["", "if os.fork() == 0: time.sleep(1000)\n"], ids=["alone", "with a fork"])
def test_a_parent_that_is_killed_leaves_no_server(more):
    code = f"server = MockGateway.start()\n{more}print(server.control('GET', '')['pid'], flush=True)\ntime.sleep(1000)"
    with run_script(code, start_new_session=True) as parent:
        try:
            pid = int(parent.stdout.readline())
            assert is_running(pid)
            os.kill(parent.pid, signal.SIGKILL)
            assert_ends(pid)
        finally:
            os.killpg(parent.pid, signal.SIGKILL)  # the fork, if there is one


def test_a_fork_does_not_end_the_server_of_its_parent():
    code = """
server = MockGateway.start()
if os.fork() == 0:
    server.stop()
    os._exit(0)
os.wait()
print(server.control("GET", "")["pid"])
server.stop()
"""
    with run_script(code) as parent:
        assert int(parent.stdout.read()) > 0
        assert parent.wait(SECONDS) == 0


def test_ctrl_c_is_for_the_tests_alone():
    code = """
signal.signal(signal.SIGINT, lambda *_: print("interrupted"))
with MockGateway.start() as server, server.scope("last") as gateway:
    os.killpg(0, signal.SIGINT)
    gateway.stub(reply="Hello.")
print("done")
"""
    with run_script(code, start_new_session=True) as parent:
        assert parent.stdout.read().split() == ["interrupted", "done"]
        assert parent.wait(SECONDS) == 0
