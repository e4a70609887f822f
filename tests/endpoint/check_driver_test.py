"""Tests of `mock-gateway check`: the driver protocol, and that no process is left behind.

Usage: check_driver_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
"""

import collections
import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import program
from checking import CHECKOUT, command, driver, client, only, check, check_driver, Folder
from program import TIMEOUT, runs

KEYWORDS = {"$ref", "anyOf", "type", "const", "enum", "required", "properties", "items", "pattern", "minLength", "minItems",
            "minimum", "description"}
TYPES = {"object": dict, "array": list, "string": str, "null": type(None), "integer": int}


def problems(value, schema, root, place="it"):
    """Returns why a value does not match a schema that uses only KEYWORDS, and which of its keys are in no schema."""
    assert set(schema) <= KEYWORDS, set(schema) - KEYWORDS
    if "$ref" in schema:
        return problems(value, functools.reduce(lambda part, key: part[key], schema["$ref"].split("/")[1:], root), root, place)
    if "anyOf" in schema:
        found = [problems(value, one, root, place) for one in schema["anyOf"]]
        return [] if [] in found else min(found, key=len)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and (not isinstance(value, tuple(TYPES[name] for name in types)) or isinstance(value, bool)):
        return [f"{place}: {value!r} is no {types}"]
    found = []
    if "const" in schema and (value != schema["const"] or type(value) is not type(schema["const"])):
        found.append(f"{place}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place}: {value!r} is not in {schema['enum']}")
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0) or not re.search(schema.get("pattern", ""), value):
            found.append(f"{place}: {value!r}")
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            found.append(f"{place}: too short")
        for index, item in enumerate(value):
            found += problems(item, schema.get("items", {}), root, f"{place}[{index}]")
    elif isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{place}: no {name}" for name in schema.get("required", []) if name not in value]
        for name, item in value.items():
            found += problems(item, properties.get(name, {}), root, f"{place}.{name}")
    elif isinstance(value, int) and value < schema.get("minimum", value):
        found.append(f"{place}: {value}")
    return found


class DriverProtocol(Folder):
    ECHO = ("for job in jobs:\n    answer = outcome_of(job)\n    log([os.getpid(), job, answer])\n    say(job, answer)\n"
            "log('ended')")

    # Code of a driver. `later` is false in its first process, which the preflight uses and which behaves correctly.
    LATER = """
mark = os.environ["LOG"] + ".mark"
later = os.path.exists(mark)
open(mark, "w").close()
"""

    def later(self, code, *flags):
        """Runs `code` when a driver gets the job of a scenario. Returns the verdict on the scenario, and the run."""
        done = check_driver("--plain", *flags, *only("bad-request"), environment=self.environment, of=driver(
            f"{self.LATER}for job in jobs:\n"
            f"    if later and job['job'] == 'ask':\n        {code}\n"
            "    else: say(job, outcome_of(job))"))
        return done.kinds()["bad-request plain"], done

    def test_a_driver_that_prints_endlessly_hangs(self):
        kind, done = self.later("while True: print('x')", "--timeout", "1s")
        self.assertEqual((kind, done.code), ("hang", 1), done.said)

    def test_an_endlessly_nested_answer_is_invalid(self):
        kind, done = self.later(
            "print('{\"id\": %d, \"text\": \"\", \"more\": %s}' % (job['id'], '[' * 50000 + ']' * 50000), flush=True)")
        self.assertEqual((kind, done.code), ("crash", 1), done.said)

    def test_an_answer_without_a_text_is_reported(self):
        kind, done = self.later("say(job, {'error': 'it failed'})")
        self.assertEqual((kind, done.code), ("crash", 1), done.said)
        self.assertIn("text is missing", done.stdout)

    def test_jobs_and_answers_match_the_schema(self):
        schema = json.loads((CHECKOUT / "docs/driver-protocol.schema.json").read_text(encoding="utf-8"))
        done = check_driver("--tools", "--jobs", "1", "--timeout", "7s",
                            *only("early-hints", "text-before-tool-call", "usage-on-finish-chunk"),
                            of=driver(self.ECHO), environment=self.environment)
        self.assertEqual(done.code, 0, done.said)
        seen = [entry for entry in self.logged() if entry != "ended"]
        self.assertEqual(self.logged()[-1], "ended", "it ends by itself when stdin closes")
        jobs = [job for _, job, _ in seen]
        for pid in {pid for pid, *_ in seen}:
            of_one = [job for one, job, _ in seen if one == pid]
            self.assertEqual((of_one[0]["job"], of_one[0]["protocol"]), ("hello", 1))
            self.assertEqual([job["job"] for job in of_one].count("hello"), 1)
            self.assertEqual(len({job["id"] for job in of_one}), len(of_one))
        listed = schema["$defs"]["call"]["properties"]
        for _, job, answer in seen:
            for kind, value in ("job", job), ("answer", {"id": job["id"], **answer}):
                self.assertEqual(problems(value, {"$ref": f"#/$defs/{kind}"}, schema), [])
            if job["job"] != "hello":
                self.assertLessEqual(set(job), set(listed), "the page lists every key")
                self.assertEqual((job["timeout_ms"], job["model"]), (7000, "mock-model"))
        self.assertTrue(any("tools" in job for job in jobs))
        self.assertEqual([job["job"] for job in jobs if "include_usage" in job], ["stream"])
        self.assertTrue(any("tools" not in job and job["job"] == "ask" for job in jobs))
        self.assertEqual({job["job"] for job in jobs}, {"hello", "ask", "stream"})

    def test_requested_usage_is_lost_if_the_answer_denies_it(self):
        """Null means that there was no usage; an answer without the key makes no statement."""
        for change, kind in (("", "ok"), ("answer['usage'] = None", "loss"), ("answer.pop('usage', None)", "ok"),
                             ("job.pop('include_usage', None)", "ok")):
            with self.subTest(change):
                before, after = (change, "") if change.startswith("job") else ("", change)
                code = f"for job in jobs:\n    {before or 'pass'}\n    answer = outcome_of(job)\n    {after or 'pass'}\n    say(job, answer)"
                lines = [f"usage-on-finish-chunk streamed {kind}"] if kind == "loss" else []
                done = check_driver("--stream", *self.known(*lines), *only("usage-on-finish-chunk"), of=driver(code))
                self.assertEqual((done.kinds(), done.code), ({"usage-on-finish-chunk streamed": kind}, 0), done.said)

    def test_the_schema_explains_mistakes(self):
        schema = json.loads((CHECKOUT / "docs/driver-protocol.schema.json").read_text(encoding="utf-8"))
        ask = {"id": 1, "job": "ask", "base_url": "http://x/v1", "api_key": "k", "model": "m", "prompt": "", "timeout_ms": 1}
        for kind, value, fits in [
                ("job", ask, True), ("job", {**ask, "job": "cancel"}, False), ("job", {**ask, "tools": []}, False),
                ("job", {**ask, "job": "stream", "include_usage": True}, True),
                ("job", {**ask, "job": "stream", "include_usage": False}, False),
                ("job", {**ask, "id": "1"}, False), ("job", {"id": 1, "job": "hello", "protocol": 2}, False),
                ("answer", {"id": 1, "text": ""}, True), ("answer", {"id": 1}, False), ("answer", {"text": ""}, False),
                ("answer", {"id": 1, "text": "", "error": None, "usage": None, "tool_calls": None}, True),
                ("answer", {"id": 1, "text": None}, False), ("answer", {"id": 1, "unknown": True}, True),
                ("answer", {"id": 1, "text": "", "tool_calls": [{"name": "f", "arguments": {}}]}, False),
                ("answer", {"id": 1, "text": "", "error": True}, False), ("answer", {"id": 1, "client": "x"}, True)]:
            self.assertEqual(not problems(value, {"$ref": f"#/$defs/{kind}"}, schema), fits, value)

    def test_the_name_of_the_client_is_in_the_reports(self):
        done = check_driver("--plain", *only("early-hints"), of=client(words=["--driver"]))
        self.assertEqual(done.report["client"], {"name": "check_client", "version": "1.0"})
        done = check_driver("--plain", *only("early-hints"), of=client("no-hello", words=["--driver"]))
        self.assertEqual(done.code, 0, done.said)

    def test_a_job_that_a_driver_does_not_know_is_not_judged(self):
        done = check_driver("--plain", *only("early-hints", "bad-request"), of=driver(
            "for job in jobs:\n    answer = outcome_of(job)\n"
            "    say(job, {'unknown': True} if answer.get('error') else answer)"))
        self.assertEqual((done.code, done.kinds()), (0, {"early-hints plain": "ok", "bad-request plain": "skipped"}), done.said)
        self.assertIn("ask", done.cells["bad-request", "plain"]["why"])
        self.assertIn("?", done.row("bad-request"))
        done = check_driver(*only("early-hints"), of=client("no-stream", words=["--driver"]))
        self.assertEqual(done.kinds()["early-hints plain"], "ok", done.said)
        self.assertEqual(done.kinds().get("early-hints streamed", "skipped"), "skipped", done.said)

    def test_output_of_a_library_is_ignored(self):
        done = check_driver(*only("early-hints", "bad-request"), of=client("prints-noise", words=["--driver"]))
        self.assertEqual((done.code, done.bad()), (0, set()), done.said)

    BAD = [("print('{not json', flush=True)", "{not json"), ("say(job, {'text': 21})", "21"),
           ("say(job, {'text': 'x', 'tool_calls': 'none'})", "tool_calls"), ("say(job, {'text': 'x', 'usage': 7})", "usage"),
           ("say({'id': 4711}, {'text': 'x'})", "4711"), ("say(job, {'error': 7})", "error"),
           ("say(job, {'text': 'x', 'error': ['no', 'text']})", "error"), ("say(job, {})", "text")]

    def test_an_invalid_answer_is_shown(self):
        """Tests a driver that gives another bad answer for each of these scenarios, in the order of the catalogue."""
        names = ["bad-request", "choices-empty", "choices-null", "content-filter-400", "context-overflow-as-code",
                 "context-overflow-code-400", "empty-200", "error-is-a-string"]
        done = check_driver("--plain", "--jobs", "1", *self.known(*(f"{name} plain crash" for name in names)),
                            *only(*names, "early-hints"), environment=self.environment, of=driver(
            f"bad = {[code for code, _ in self.BAD]!r}\n"
            "for job in jobs:\n    answer = outcome_of(job)\n    if answer.get('error'):\n        log('bad')\n"
            "        with open(os.environ['LOG']) as file: exec(bad[len(file.readlines()) - 1])\n    else: say(job, answer)"))
        self.assertEqual((done.code, done.report["stale"]), (0, []), done.said)
        for name, (code, shown) in zip(names, self.BAD, strict=True):
            with self.subTest(code):
                self.assertIn(shown, json.dumps(done.cells[name, "plain"]), done.said)
        self.assertEqual(done.kinds()["early-hints plain"], "ok", done.said)

    def test_a_hanging_driver_is_ended_and_replaced(self):
        code = ("for job in jobs:\n    answer = outcome_of(job)\n    log([os.getpid(), job['job'], bool(answer.get('error'))])\n"
                "    if answer.get('error'): signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)\n"
                "    say(job, answer)")
        began = time.monotonic()
        done = check_driver("--plain", "--jobs", "1", "--timeout", "2s", *self.known("bad-request plain hang"),
                            *only("bad-request", "early-hints", "unknown-fields"), of=driver(code),
                            environment=self.environment)
        self.assertEqual(done.code, 0, done.said)
        self.assertEqual(done.kinds(), {"bad-request plain": "hang", "early-hints plain": "ok", "unknown-fields plain": "ok"},
                         done.said)
        hung = {pid for pid, _, error in self.logged() if error}
        pids = {pid for pid, *_ in self.logged()}
        self.assertGreater(len(pids - hung) + len(hung), 1)
        self.assertTrue(all(any(pid == seen and job == "hello" for seen, job, _ in self.logged()) for pid in pids))
        self.assertLess(time.monotonic() - began, TIMEOUT)
        for pid in pids:
            self.assertFalse(runs(pid))

    def test_a_driver_that_exits_has_crashed(self):
        for how, shown in ("os.abort()", "signal 6"), ("sys.exit(7)", "7"), ("os.close(1); time.sleep(1000)", ""):
            with self.subTest(how):
                done = check_driver("--plain", "--jobs", "1", "--timeout", "2s", *only("bad-request", "unknown-fields"),
                                    of=driver("for job in jobs:\n    answer = outcome_of(job)\n"
                                              f"    if answer.get('error'): print('last words', file=sys.stderr); {how}\n"
                                              "    say(job, answer)"))
                self.assertEqual(done.code, 1, done.said)
                self.assertIn(done.kinds()["bad-request plain"], ["crash"] if shown else ["crash", "hang"])
                self.assertEqual(done.kinds()["unknown-fields plain"], "ok", done.said)
                self.assertIn(shown, done.stdout)
                self.assertIn("last words", json.dumps(done.cells["bad-request", "plain"]) + done.stdout)

    def test_calls_that_belong_together_use_one_process_and_one_client(self):
        done = check_driver("--jobs", "1", *only("closed-when-reused", "connection-close"), of=driver(self.ECHO),
                            environment=self.environment)
        self.assertEqual((done.code, done.bad()), (0, set()), done.said)
        seen = [entry for entry in self.logged() if entry != "ended"]
        self.assertLessEqual(len({pid for pid, *_ in seen}), 2, "one for the preflight")
        addresses = collections.Counter(job["base_url"] for _, job, _ in seen if job["job"] != "hello")
        self.assertEqual(sorted(addresses.values())[-4:], [2, 2, 2, 2])

    def test_a_client_without_kept_connections_is_not_judged_where_one_is_required(self):
        done = check_driver("--plain", *only("closed-when-reused", "early-hints"),
                            of=client("connects-anew", words=["--driver"]))
        self.assertEqual(done.code, 0, done.said)
        self.assertIn(done.kinds()["closed-when-reused plain"], ("ok", "skipped"))

    def test_several_drivers_in_parallel(self):
        code = self.ECHO.replace("\nlog('ended')", "")
        names = only("slow-first-token", "early-hints", "unknown-fields", "done-inside-text", "escaped-characters")
        done = check_driver("--jobs", "2", *names, of=driver(code), environment=self.environment)
        self.assertEqual((done.code, done.bad()), (0, set()), done.said)
        self.assertGreaterEqual(len({pid for pid, *_ in self.logged()}), 2)

    def test_a_driver_that_continues_after_its_stdin_closed_is_ended(self):
        done = check_driver("--plain", "--jobs", "1", *only("early-hints"), environment=self.environment, of=driver(
            "log(os.getpid())\nfor job in jobs: say(job, outcome_of(job))\ntime.sleep(1000)"))
        self.assertEqual(done.code, 0, done.said)
        for pid in self.logged():
            self.assertFalse(runs(pid))


# --- Baselines, flaky scenarios ---------------------------------------------------------------------------------------




@unittest.skipUnless(os.path.exists("/proc/self/stat"), "without /proc")
class LeftBehind(Folder):
    # Starts a process of each kind that is hard to end, and logs the process IDs when all of them ignore signals.
    SPREAD = """
sleep = shutil.which("sleep")
def deaf(then=lambda: None, bare=False):
    read, write = os.pipe()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        then()
        os.write(write, str(os.getpid()).encode())
        os.closerange(0, 64)
        if bare: os.execve(sleep, ["sleep", "1000"], {})
        while True: signal.pause()
    os.close(write)
    return int(os.read(read, 20))
def daemon():
    os.setsid()
    if os.fork(): os._exit(0)
def spread(bare=True):
    pids = {"child": deaf(), "group": deaf(os.setpgrp), "session": deaf(os.setsid), "daemon": deaf(daemon)}
    if bare: pids["without a variable"] = deaf(daemon, bare=True)
    log(pids)
"""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.forget)

    def forget(self):
        """Ends the processes of a run, so that they do not affect the next."""
        for pid in self.pids():
            if runs(pid):
                os.kill(pid, signal.SIGKILL)
        (self.folder / "log").unlink(missing_ok=True)

    def pids(self):
        return [pid for entry in self.logged() for pid in (entry.values() if isinstance(entry, dict) else [entry])]

    def assert_nothing_is_left(self, at_once=False):
        self.assertTrue(self.pids(), "nothing was started")
        deadline = time.monotonic() + (0 if at_once else 10)
        while left := [pid for pid in self.pids() if runs(pid)]:
            self.assertLess(time.monotonic(), deadline, f"{left} of {self.logged()} are left")
            time.sleep(0.01)

    def test_a_signal_while_a_driver_starts(self):
        code = "import os, time\nwith open(os.environ['LOG'], 'a') as log: log.write(f'{os.getpid()}\\n')\ntime.sleep(60)"
        process = subprocess.Popen([program.PROGRAM, "check", "--driver", "--", sys.executable, "-c", code],
                                   env={**os.environ, **self.environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with process:
            deadline = time.monotonic() + TIMEOUT
            while not self.pids():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            process.terminate()
            process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assert_nothing_is_left(at_once=True)

    def test_processes_that_check_did_not_start_stay(self):
        words = [program.PROGRAM, "check", "--plain", *only("bad-request"), "--", *client()]
        script = 'sleep 60 > /dev/null 2>&1 & echo $! > "$LOG"; exec "$@"'
        done = subprocess.run(["sh", "-c", script, "sh", *words], env={**os.environ, **self.environment}, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(all(runs(pid) for pid in self.pids()), "it has ended a process of its parent")

    def test_processes_of_a_command_are_ended(self):
        done = check("--plain", *only("early-hints", "unknown-fields"), environment=self.environment, of=command(
            self.SPREAD + "if scenario == 'early-hints': spread()\ngo()"))
        self.assert_nothing_is_left(at_once=True)
        self.assertEqual(done.kinds(), {"early-hints plain": "ok", "unknown-fields plain": "ok"}, done.said)

    def test_processes_of_a_hanging_command_are_ended(self):
        done = check("--plain", "--timeout", "6s", *self.known("early-hints plain hang"), *only("early-hints"),
                     environment=self.environment, of=command(self.SPREAD + """
if scenario == "early-hints":
    spread()
    log(os.getpid())
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.close(1), os.close(2)
    while True: signal.pause()
go()"""))
        self.assert_nothing_is_left(at_once=True)
        self.assertEqual(done.kinds(), {"early-hints plain": "hang"}, done.said)

    def test_a_child_that_keeps_a_commands_pipes_is_ended(self):
        began = time.monotonic()
        done = check("--plain", *only("early-hints"), environment=self.environment, of=command(
            "if scenario == 'early-hints': log(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid)\ngo()"))
        self.assert_nothing_is_left(at_once=True)
        self.assertEqual(done.kinds(), {"early-hints plain": "ok"}, done.said)
        self.assertLess(time.monotonic() - began, 15, "its end is that of its process, not that of its pipes")

    def test_a_command_that_closes_its_pipes_and_continues_is_ended(self):
        done = check("--plain", *only("early-hints"), environment=self.environment, of=command(
            "if scenario == 'early-hints':\n    check_client.command([], None, False); sys.stdout.flush()\n"
            "    os.close(1); os.close(2); time.sleep(0.3); os._exit(3)\ngo()"))
        self.assertEqual(done.kinds(), {"early-hints plain": "error"}, "the exit status counts\n" + done.said)

    def test_processes_of_a_driver_are_ended(self):
        done = check_driver("--plain", "--jobs", "1", *only("bad-request"), environment=self.environment, of=driver(
            self.SPREAD + "for job in jobs:\n    answer = outcome_of(job)\n    if answer.get('error'): spread()\n"
            "    say(job, answer)"))
        self.assert_nothing_is_left(at_once=True)
        self.assertEqual(done.code, 0, done.said)

    def started(self, *flags, of):
        """Runs `check` with a client that has logged the processes that it started."""
        process = subprocess.Popen([program.PROGRAM, "check", "--plain", *flags, "--", *of], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **self.environment})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + TIMEOUT
        while not any(isinstance(entry, int) for entry in self.logged()) and process.poll() is None:
            self.assertLess(time.monotonic(), deadline, "the client logged nothing")
            time.sleep(0.01)
        return process

    WAITS = SPREAD + "if scenario == 'early-hints': spread(); log(os.getpid()); time.sleep(1000)\ngo()"
    DRIVER_WAITS = SPREAD + """
for job in jobs:
    answer = outcome_of(job)
    if answer.get("error"): spread(); log(os.getpid()); time.sleep(1000)
    say(job, answer)
"""

    def test_a_signal_ends_a_command_and_everything_that_it_started(self):
        for number in signal.SIGTERM, signal.SIGINT:
            self.forget()
            with self.subTest(number):
                process = self.started(*only("early-hints", "unknown-fields"), of=command(self.WAITS))
                process.send_signal(number)
                process.communicate(timeout=TIMEOUT)
                self.assertIn(process.returncode, (128 + number, -number))
                self.assert_nothing_is_left(at_once=True)

    def test_a_signal_ends_a_driver(self):
        process = self.started("--driver", "--jobs", "1", *only("bad-request"), of=driver(self.DRIVER_WAITS))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT)
        self.assertIn(process.returncode, (128 + signal.SIGTERM, -signal.SIGTERM))
        self.assert_nothing_is_left(at_once=True)

    @unittest.skipUnless(sys.platform == "linux", "the system does not end the commands of a check that is gone")
    def test_sigkill_of_check_ends_its_direct_children(self):
        waits = "log(os.getpid()); time.sleep(1000)"
        for flags, of in (([], command(waits)), (["--driver", "--jobs", "1"], driver("for job in jobs: " + waits))):
            self.forget()
            with self.subTest(flags):
                process = self.started(*flags, *only("early-hints"), of=of)
                process.kill()
                self.assert_nothing_is_left()

    def test_verdicts_before_a_signal_are_reported(self):
        path = self.folder / "report.json"
        process = self.started("--jobs", "1", "--report", f"json:{path}", *only("unknown-fields", "early-hints"), of=command(
            "if scenario == 'early-hints': log(os.getpid()); time.sleep(1000)\ngo()"))
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=TIMEOUT)
        self.assertIn(process.returncode, (128 + signal.SIGINT, -signal.SIGINT), stderr)
        if path.exists():
            report = json.loads(path.read_text(encoding="utf-8"))
            self.assertTrue(report["failed"])
            self.assertNotIn("hang", {cell["kind"] for cell in report["cells"]})


# --- The page and the examples ----------------------------------------------------------------------------------------




if __name__ == "__main__":
    program.main(threads=4)
