"""Tests of --journal, which writes each exchange as a line of JSON. Also tests that files and stderr lines are complete
if write() accepts only a part at a time.

Usage: journal_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
"""

import http.client
import json
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.environ.get("MOCK_GATEWAY_BIN", "mock-gateway")
TIMEOUT = 20  # seconds; a timeout for tests that hang
KEY = "sk-0123456789abcdefghijklmnop"
# A library whose write() accepts a few bytes at a time.
SHORT_WRITES = os.environ.get("MOCK_GATEWAY_SHORT_WRITES", "")


class Endpoint:
    """A running mock-gateway that is ready."""

    def __init__(self, *flags, **options):
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen([PROGRAM, "--port", "0", "--key", KEY, *flags], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True, **options)
        printed = ""
        for line in self.process.stdout:
            printed += line
            if line == "ready\n":
                break
        found = re.search(r"base URL  http://127\.0\.0\.1:(\d+)/v1", printed)
        if not found:
            raise AssertionError("never ready: " + self.end())
        self.port = int(found[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
        self.errors.close()

    def end(self):
        """Ends the program and returns its stderr."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(TIMEOUT)
        self.process.stdout.close()
        self.errors.seek(0)
        return self.errors.read()

    def ask(self, text="Hi", headers=()):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        body = json.dumps({"model": "mock-model", "messages": [{"role": "user", "content": text}]})
        connection.request("POST", "/v1/chat/completions", body, {"Authorization": "Bearer " + KEY,
                                                                   "Content-Type": "application/json", **dict(headers)})
        status = connection.getresponse().status
        connection.close()
        return status


def refused(*flags):
    """Returns the exit code and stderr of a program that fails to start."""
    result = subprocess.run([PROGRAM, "--port", "0", *flags], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=TIMEOUT)
    return result.returncode, result.stderr


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n")


def entries_of(path):
    lines = lines_of(path)
    assert lines.pop() == "", "the last line is not ended"
    return [json.loads(line) for line in lines]


def exchanges_of(path):
    return [entry for entry in entries_of(path) if "id" in entry]


class Journal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "journal.jsonl")

    def wait_until_written(self):
        """Waits for the line of the first exchange, which is written only after the client has its response."""
        deadline = time.monotonic() + TIMEOUT
        while len(lines_of(self.path)) < 3:  # the first line describes the run
            self.assertLess(time.monotonic(), deadline, "nothing was written while it runs")
            time.sleep(0.001)

    def test_each_exchange_is_a_line_after_its_end(self):
        with Endpoint("--journal", self.path) as endpoint:
            self.assertEqual(endpoint.ask("one"), 200)
            self.wait_until_written()
            self.assertEqual(endpoint.ask("two"), 200)
            endpoint.end()
        exchanges = exchanges_of(self.path)
        self.assertEqual([exchange["id"] for exchange in exchanges], [1, 2])
        self.assertEqual([exchange["outcome"] for exchange in exchanges], ["completed"] * 2)
        self.assertEqual([exchange["request"]["body"]["json"]["messages"][0]["content"] for exchange in exchanges],
                         ["one", "two"])
        self.assertTrue(all(exchange["ended"] for exchange in exchanges))

    def test_the_journal_contains_no_secret(self):
        with Endpoint("--journal", self.path) as endpoint:
            endpoint.ask("my key is " + KEY, {"X-Debug": KEY})
            endpoint.end()
        text = lines_of(self.path)[1]
        self.assertIn("my key is sk-***", text)
        self.assertNotIn("0123456789abc", text)

    def test_only_the_owner_can_read_the_file(self):
        earlier = os.umask(0)
        try:
            with Endpoint("--journal", self.path):
                self.assertEqual(stat.S_IMODE(os.lstat(self.path).st_mode), 0o600)
        finally:
            os.umask(earlier)

    def test_existing_lines_stay_and_a_truncated_line_is_terminated(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write('{"id": 7}\n{"id": 8, "cu')
        with Endpoint("--journal", self.path) as endpoint:
            endpoint.ask()
            endpoint.end()
        lines = lines_of(self.path)
        self.assertEqual(lines[:2], ['{"id": 7}', '{"id": 8, "cu'])
        self.assertEqual(list(json.loads(lines[2])), ["run", "began", "version", "host", "pid"])
        self.assertEqual(json.loads(lines[3])["id"], 1)
        self.assertEqual(lines[4:], [""])

    def test_each_run_begins_with_a_line_that_its_exchanges_refer_to(self):
        info = self.path + ".info"
        runs = []
        for texts in ("one", "two"), ("three",):
            with Endpoint("--journal", self.path, "--info-file", info) as endpoint:
                with open(info, encoding="utf-8") as file:
                    runs.append(json.load(file))
                for text in texts:
                    self.assertEqual(endpoint.ask(text), 200)
        entries = entries_of(self.path)
        self.assertEqual(["id" in entry for entry in entries], [False, True, True, False, True])
        self.assertEqual([entry["run"] for entry in entries], [runs[0]["instance"]] * 3 + [runs[1]["instance"]] * 2)
        for begin, run in (entries[0], runs[0]), (entries[3], runs[1]):
            self.assertEqual((begin["pid"], begin["version"]), (run["pid"], run["version"]))
            self.assertRegex(begin["began"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
        # A client may have the second response before the first exchange ends and is written.
        self.assertEqual([sorted(entry["id"] for entry in part) for part in (entries[1:3], entries[4:])], [[1, 2], [1]])

    def test_programs_that_share_the_file_can_be_distinguished(self):
        with Endpoint("--journal", self.path) as one, Endpoint("--journal", self.path) as other:
            for _ in range(2):
                self.assertEqual((one.ask("of one"), other.ask("of the other")), (200, 200))
        entries = entries_of(self.path)
        pids = {entry["run"]: entry["pid"] for entry in entries if "pid" in entry}
        self.assertEqual(set(pids.values()), {one.process.pid, other.process.pid})
        for exchange in exchanges_of(self.path):
            text = exchange["request"]["body"]["json"]["messages"][0]["content"]
            self.assertEqual(pids[exchange["run"]], one.process.pid if text == "of one" else other.process.pid)

    def test_no_line_contains_the_token_of_the_control_api(self):
        info = self.path + ".info"
        for environment in {}, {"MOCK_GATEWAY_CONTROL_TOKEN": 'chosen-"token"-0123456789'}:
            with Endpoint("--journal", self.path, "--info-file", info, "--control", "0",
                          env={**os.environ, **environment}) as endpoint:
                with open(info, encoding="utf-8") as file:
                    token = json.load(file)["control_token"]
                self.assertEqual(endpoint.ask(f"my token is {token}.", {"X-Debug": token}), 200)
                said = endpoint.end()
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
            self.assertIn("my token is ***.", text)
            self.assertIn("POST /v1/chat/completions 200", said)
            for form in token, json.dumps(token)[1:-1], token[5:]:
                self.assertNotIn(form, text)
                self.assertNotIn(form, said)

    def test_nothing_is_written_through_a_link(self):
        victim = self.path + ".victim"
        for target in victim, os.path.join(self.path + ".nowhere"):
            with open(victim, "w", encoding="utf-8") as file:
                file.write("precious\n")
            os.symlink(target, self.path)
            self.assertEqual(refused("--journal", self.path),
                             (2, f"mock-gateway: --journal: cannot write {self.path}: it is a symbolic link, and the program does not write through links\n"))
            self.assertEqual(lines_of(victim), ["precious", ""])
            self.assertFalse(os.path.exists(self.path + ".nowhere"))
            os.unlink(self.path)

    def test_a_file_that_is_not_regular_is_refused_at_once(self):
        os.mkfifo(self.path)
        for path in self.path, os.path.dirname(self.path), "/dev/full":
            code, said = refused("--journal", path)
            self.assertEqual(code, 2)
            self.assertIn(f"--journal: cannot write {path}: ", said)
            self.assertEqual(said.count("\n"), 1, said)
        code, said = refused("--journal", os.path.join(self.path, "below"))
        self.assertEqual((code, said.count("\n")), (2, 1), said)

    def test_a_full_disk_is_reported_once_and_ends_nothing(self):
        limit = 4000  # bytes; enough for a line or two

        def with_little_room():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        with Endpoint("--journal", self.path, preexec_fn=with_little_room) as endpoint:
            self.assertEqual(endpoint.ask("x" * 500), 200)
            self.wait_until_written()
            for _ in range(9):
                self.assertEqual(endpoint.ask("x" * 500), 200)
            said = endpoint.end()
        self.assertEqual(said.count("--journal: cannot write"), 1, said)
        self.assertLessEqual(os.path.getsize(self.path), limit)
        self.assertEqual(lines_of(self.path).pop(), "", "a line is cut")
        self.assertEqual(json.loads(lines_of(self.path)[1])["id"], 1)

    @unittest.skipUnless(hasattr(resource, "prlimit"), "the system cannot change another process's limits")
    def test_lines_are_complete_again_once_the_disk_has_space(self):
        limit = 2500  # bytes; about the third line is cut

        def with_little_room():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

        def wait_for(condition, what):
            deadline = time.monotonic() + TIMEOUT
            while not condition():
                self.assertLess(time.monotonic(), deadline, what)
                time.sleep(0.001)

        with Endpoint("--journal", self.path, preexec_fn=with_little_room) as endpoint:
            for _ in range(4):
                self.assertEqual(endpoint.ask("x" * 500), 200)
            wait_for(lambda: b"cannot write" in os.pread(endpoint.errors.fileno(), 1 << 20, 0), "the disk never was full")
            full = lines_of(self.path)
            self.assertEqual(full.pop(), "", "a line is cut")
            resource.prlimit(endpoint.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
            self.assertEqual(endpoint.ask("last"), 200)
            said = endpoint.end()
        self.assertEqual(said.count("--journal: cannot write"), 1, said)
        lines = lines_of(self.path)
        self.assertEqual(lines[:len(full)], full)
        self.assertEqual(lines.pop(), "")
        after = [json.loads(line)["request"]["body"]["json"]["messages"][0]["content"] for line in lines[len(full):]]
        # The lines are ordered by end. An exchange may end after its client has sent the next request.
        self.assertIn("last", after)

    def test_the_line_of_a_run_contains_its_host(self):
        with Endpoint("--journal", self.path) as endpoint:
            endpoint.end()
        self.assertEqual(entries_of(self.path)[0]["host"], socket.gethostname())

    @unittest.skipUnless(SHORT_WRITES, "MOCK_GATEWAY_SHORT_WRITES names no library")
    def test_lines_written_in_parts_are_complete(self):
        info, port = self.path + ".info", self.path + ".port"
        with Endpoint("--journal", self.path, "--info-file", info, "--port-file", port,
                      env={**os.environ, "LD_PRELOAD": SHORT_WRITES}) as endpoint:
            with open(info, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["base_url"], f"http://127.0.0.1:{endpoint.port}/v1")
            with open(port, encoding="utf-8") as file:
                self.assertEqual(file.read(), f"{endpoint.port}\n")
            for number in range(3):
                self.assertEqual(endpoint.ask(f"request {number}"), 200)
            said = endpoint.end()
        self.assertEqual(sorted(exchange["request"]["body"]["json"]["messages"][0]["content"]
                                for exchange in exchanges_of(self.path)), [f"request {number}" for number in range(3)])
        self.assertRegex(said, r"\A(\d{4}-\d\d-\d\dT[\d:.]+Z #\d POST /v1/chat/completions 200 [^\n]+\n){3}\Z")


class Replica(Endpoint):
    """A running mock-gateway that writes the journal to stdout."""

    def __init__(self, *flags, stdout=subprocess.PIPE):
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            info = os.path.join(folder, "info")
            self.process = subprocess.Popen([PROGRAM, "--port", "0", "--key", KEY, "--journal", "-", "--info-file", info,
                                             *flags], stdin=subprocess.DEVNULL, stdout=stdout, stderr=self.errors)
            deadline = time.monotonic() + TIMEOUT
            while not os.path.exists(info):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError("never ready: " + self.end())
                time.sleep(0.001)
            with open(info, encoding="utf-8") as file:
                self.info = json.load(file)
        self.port = int(self.info["base_url"].split(":")[2].split("/")[0])

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(TIMEOUT)
        if self.process.stdout:
            self.process.stdout.close()
        self.errors.seek(0)
        return self.errors.read()

    def end_and_read(self):
        """Ends the program. Returns the entries of its stdout, and its stderr."""
        self.process.send_signal(signal.SIGTERM)
        text = self.process.stdout.read().decode()
        lines = text.split("\n")
        assert lines.pop() == "", "the last line is not ended"
        return [json.loads(line) for line in lines], self.end()


class JournalOnStdout(unittest.TestCase):
    """Tests of --journal -, which is for tools that collect the output of replicas."""

    def texts(self, entries):
        return [entry["request"]["body"]["json"]["messages"][0]["content"] for entry in entries if "id" in entry]

    def test_stdout_has_exactly_one_line_of_json_per_exchange(self):
        with Replica("--control", "0") as replica:
            for text in "one", "two":
                self.assertEqual(replica.ask(text), 200)
            entries, said = replica.end_and_read()
        self.assertEqual(list(entries[0]), ["run", "began", "version", "host", "pid"])
        self.assertEqual([entry["run"] for entry in entries], [replica.info["instance"]] * 3)
        self.assertEqual(sorted(self.texts(entries)), ["one", "two"])
        # Output that is on stdout without this flag is on stderr.
        self.assertIn(f"base URL  http://127.0.0.1:{replica.port}/v1\n", said)
        self.assertIn("\nready\n", said)
        self.assertNotIn("missing", said)

    def test_lines_appear_while_the_program_runs(self):
        with Replica("--quiet") as replica:
            self.assertEqual(replica.ask("one"), 200)
            self.assertIn("began", json.loads(replica.process.stdout.readline()))
            self.assertEqual(self.texts([json.loads(replica.process.stdout.readline())]), ["one"])

    def test_a_late_reader_gets_every_line_complete(self):
        asked = [f"{number} " + "x" * 2000 for number in range(100)]  # exceeds the capacity of a pipe
        with Replica("--quiet") as replica:
            for text in asked:
                self.assertEqual(replica.ask(text), 200)
            entries, said = replica.end_and_read()
        self.assertEqual(sorted(self.texts(entries)), sorted(asked))
        self.assertNotIn("missing", said)

    def test_without_a_reader_clients_are_served_and_the_program_ends(self):
        count = 100
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        with Replica(stdout=writer) as replica:
            os.close(writer)
            for number in range(count):
                self.assertEqual(replica.ask(f"{number} " + "x" * 2000), 200)
            began = time.monotonic()
            said = replica.end()
            self.assertLess(time.monotonic() - began, 10)
        os.set_blocking(reader, False)
        whole = os.read(reader, 1 << 20).split(b"\n")[1:-1]  # without the line of the run, and the truncated line
        self.assertGreater(len(whole), 0)
        for line in whole:
            json.loads(line)
        self.assertEqual(said.count("--journal: cannot write to stdout: it has no reader"), 1, said)
        self.assertIn(f"--journal: {count - len(whole)} exchanges are missing", said)

    def test_with_a_slow_reader_exchanges_beyond_the_queue_are_dropped_without_delay(self):
        count, batch = 12_000, 500  # more than the queue of lines holds
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        with Replica("--quiet", stdout=writer) as replica:
            os.close(writer)
            with socket.create_connection(("127.0.0.1", replica.port), TIMEOUT) as connection:
                request = f"GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode()
                for _ in range(count // batch):
                    connection.sendall(request * batch)
                    answers = b""
                    while answers.count(b'"object":"list"') < batch:
                        part = connection.recv(1 << 16)
                        self.assertTrue(part, "the connection was closed")
                        answers += part
            said = replica.end()
        os.set_blocking(reader, False)
        whole = os.read(reader, 1 << 20).split(b"\n")[1:-1]
        self.assertEqual(said.count("--journal: cannot write to stdout: it has no reader"), 1, said)
        self.assertIn(f"--journal: {count - len(whole)} exchanges are missing", said)

    def test_clients_are_served_after_the_reader_has_gone(self):
        reader, writer = os.pipe()
        with Replica(stdout=writer) as replica:
            os.close(writer)
            os.close(reader)
            for _ in range(3):
                self.assertEqual(replica.ask(), 200)
            said = replica.end()
        self.assertEqual(replica.process.returncode, 0)
        self.assertEqual(said.count("--journal: cannot write to stdout: Broken pipe"), 1, said)
        self.assertIn("--journal: 3 exchanges are missing", said)

    def test_other_output_on_stdout_is_refused(self):
        alone = "stdout carries only the journal; "
        for flags, said in ((("--print", "json"), alone + "use --info-file FILE instead of --print json"),
                            (("--report", "json:-"), alone + "name a file for the report")):
            self.assertEqual(refused("--journal", "-", *flags), (2, f"mock-gateway: --journal -: {said}\n"))
        result = subprocess.run([PROGRAM, "run", "--journal", "-", "--", "true"], capture_output=True, text=True,
                                timeout=TIMEOUT)
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (2, "", "mock-gateway: --journal -: stdout belongs to CMD; name a file\n"))


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = sys.argv.pop(1)
    unittest.main()
