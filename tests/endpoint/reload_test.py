"""Tests of scripts that change while the program serves them.

Usage: reload_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
"""

import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
import unittest

import program
import serve_test
from serve_test import MORE_THAN_A_PIPE_HOLDS, TIMEOUT, Endpoint

EDITS = int(os.environ.get("MOCK_GATEWAY_EDITS", "200" if program.IS_EXHAUSTIVE else "50"))


def script(*stubs, **sections):
    return json.dumps({"mock_gateway": 1, "stubs": list(stubs), **sections}, indent=1)


def content(answer):
    return json.loads(answer[1])["choices"][0]["message"]["content"]


class Reload(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "demo.json")

    def write(self, text, path=None):
        """Replaces the file as many editors do, with a rename."""
        draft = os.path.join(self.folder, "draft")
        with open(draft, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path or self.path)

    def wait_for(self, condition, limit=TIMEOUT):
        began = time.monotonic()
        while not condition():
            self.assertLess(time.monotonic() - began, limit)
            time.sleep(0.002)
        return time.monotonic() - began

    def said(self, endpoint, text):
        return any(text in line for line in endpoint.log)

    def test_a_changed_file_is_served_without_a_restart(self):
        self.write(script({"reply": "old"}))
        with Endpoint("--script", self.path) as endpoint:
            self.assertEqual(content(endpoint.chat()), "old")
            self.write(script({"reply": "new"}))
            self.wait_for(lambda: content(endpoint.chat()) == "new")
            with open(self.path, "w", encoding="utf-8") as file:  # in place
                file.write(script({"reply": "newer"}))
            self.wait_for(lambda: content(endpoint.chat()) == "newer")

    def test_a_broken_file_changes_nothing_is_reported_and_is_served_once_it_is_fixed(self):
        self.write(script({"reply": "old"}))
        with Endpoint("--script", self.path) as endpoint:
            self.write('{"mock_gateway": 1, "stubs": [{"repply": "new"}]}')
            told = self.wait_for(lambda: self.said(endpoint, 'did you mean "reply"?'))
            self.wait_for(lambda: self.said(endpoint, "the previous version is still served"))
            self.assertEqual(content(endpoint.chat()), "old")
            self.write(script({"reply": "new"}))
            self.wait_for(lambda: self.said(endpoint, "the scripts are valid again"))
            self.assertEqual(content(endpoint.chat()), "new")
            self.write(script({"reply": "newer"}))
            self.wait_for(lambda: self.said(endpoint, "the scripts have changed and were reloaded"))
            self.assertEqual(content(endpoint.chat()), "newer")
            self.assertFalse(self.said(endpoint, "take effect at the next start"))
            os.remove(self.path)
            self.wait_for(lambda: sum("the previous version is still served" in line for line in endpoint.log) == 2)
            self.assertEqual(content(endpoint.chat()), "newer")
        # The documented limit is 300 ms; a busy machine may take longer.
        self.assertLess(told, 5)

    def test_a_file_that_appears_in_a_folder_is_served(self):
        self.write(script({"when": {"user_says": "Hi"}, "reply": "first"}))
        with Endpoint("--script", self.folder) as endpoint:
            self.assertEqual(content(endpoint.chat()), "first")
            self.write(script({"reply": "earlier by its name"}), os.path.join(self.folder, "a.jsonc"))
            self.wait_for(lambda: content(endpoint.chat()) == "earlier by its name")
            os.remove(os.path.join(self.folder, "a.jsonc"))
            self.wait_for(lambda: content(endpoint.chat()) == "first")

    def test_with_no_reload_the_initial_script_stays(self):
        self.write(script({"reply": "old"}))
        with Endpoint("--script", self.path, "--no-reload") as endpoint, Endpoint("--script", self.path) as other:
            self.write(script({"reply": "new"}))
            self.wait_for(lambda: content(other.chat()) == "new")
            self.assertEqual(content(endpoint.chat()), "old")

    def test_sighup_rereads_the_scripts_and_does_not_end_the_program(self):
        self.write(script({"reply": "old"}))
        with Endpoint("--script", self.path) as endpoint:
            endpoint.process.send_signal(signal.SIGHUP)
            self.wait_for(lambda: self.said(endpoint, "the scripts have changed and were reloaded"))
            self.assertEqual(content(endpoint.chat()), "old")
            self.assertEqual(endpoint.end(signal.SIGTERM)[0], 0)

    def test_a_change_already_read_after_sighup_is_not_read_again(self):
        def is_served(line):
            return "the scripts have changed and were reloaded" in line

        self.write(script({"reply": "old"}))
        others = os.path.join(self.folder, "others.json")
        self.write(script({"reply": "old"}), others)
        with Endpoint("--script", self.path) as endpoint, Endpoint("--script", others) as other:
            for edit in range(5):
                self.write(script({"reply": str(edit)}))
                endpoint.process.send_signal(signal.SIGHUP)
                self.wait_for(lambda: content(endpoint.chat()) == str(edit))
                # Waits until another program has noticed two changes, in which time this program has checked its file.
                for word in f"{edit}, one", f"{edit}, other":
                    self.write(script({"reply": word}), others)
                    self.wait_for(lambda: content(other.chat()) == word)
            # The program may notice one or two changes before the signal arrives, and then reads them twice.
            self.assertLess(sum(map(is_served, endpoint.log)), 8, endpoint.log)

    def test_sighup_changes_nothing_with_no_reload(self):
        self.write(script({"reply": "old"}))
        with Endpoint("--script", self.path, "--no-reload") as endpoint:
            self.write(script({"reply": "new"}))
            endpoint.process.send_signal(signal.SIGHUP)
            self.assertEqual(content(endpoint.chat()), "old")
            self.assertEqual(endpoint.end(signal.SIGTERM)[0], 0)
            self.assertFalse(self.said(endpoint, "the scripts have changed"))

    def test_a_report_lists_the_first_twenty_failed_edits(self):
        report = os.path.join(self.folder, "report")
        self.write(script({"reply": "old"}))
        with Endpoint("--script", self.path, "--report", "json:" + report, "--fail-on", "never") as endpoint:
            for edit in range(1, 23):
                self.write(script({f"reply_{edit:02}": "x"}))
                if edit % 2:
                    endpoint.process.send_signal(signal.SIGHUP)
                self.wait_for(lambda: self.said(endpoint, f"reply_{edit:02}"))
                self.wait_for(lambda: self.said(endpoint, f"reply_{edit:02}") and
                              "the previous version is still served" in endpoint.log[-1])
            self.assertEqual(endpoint.end(signal.SIGTERM)[0], 0)
        with open(report, encoding="utf-8") as file:
            errors = json.load(file)["reload_errors"]
        self.assertEqual(len(errors), 20)
        self.assertIn("reply_01", errors[0])

    def test_a_changed_file_is_served_even_if_its_messages_are_not_read(self):
        self.write(script({"reply": "old"}))
        with Endpoint("--script", self.path, read_log=False) as endpoint:
            endpoint.list_models(MORE_THAN_A_PIPE_HOLDS)
            self.write(script({"reply": "new"}, {"reply": "hidden, and warned of"}))
            self.wait_for(lambda: content(endpoint.chat()) == "new", TIMEOUT / 2)
            endpoint.process.send_signal(signal.SIGHUP)
            self.assertEqual(endpoint.end(signal.SIGTERM)[0], 0)

    def test_settings_of_the_start_wait_for_the_next_start(self):
        self.write(script({"reply": "old"}, gateway={"seed": 1}))
        with Endpoint("--script", self.path) as endpoint:
            self.write(script({"reply": "new"}, gateway={"seed": 2}))
            self.wait_for(lambda: self.said(endpoint, "take effect at the next start"))
            self.assertEqual(content(endpoint.chat()), "new")

    def test_unchanged_failures_are_not_forced_again(self):
        failures = [{"failure": 503, "times": 1}]
        self.write(script({"reply": "old"}, failures=failures))
        with Endpoint("--script", self.path) as endpoint:
            self.assertEqual(endpoint.status(), 503)
            self.assertEqual(content(endpoint.chat()), "old")
            self.write(script({"reply": "new"}, failures=failures))
            answers = []
            self.wait_for(lambda: answers.append(endpoint.chat()) or content(answers[-1]) == "new")
            self.assertEqual({answer[0].status for answer in answers}, {200})

    def test_many_edits_under_load_lose_no_request_mix_no_versions_and_keep_counts(self):
        """Two stubs reply with the same word, which differs in each version. The third stub never changes, and its
        sequence continues."""
        choice = random.Random(7)
        turns = [str(turn) for turn in range(5000)]

        def version(word):
            return script({"when": {"user_says": "count"}, "replies": turns},
                          {"when": {"user_says": "one"}, "reply": word}, {"reply": word})

        self.write(version("0"))
        problems, counted = [], []
        allowed = {"0"}
        ended = threading.Event()
        with Endpoint("--script", self.path) as endpoint:
            endpoint.watchdog.cancel()  # the load test takes longer than other tests

            def ask(question):
                while not ended.is_set():
                    before = set(allowed)
                    response, text = endpoint.chat(messages=[{"role": "user", "content": question}])
                    if response.status != 200:
                        problems.append((response.status, text))
                    elif question == "count":
                        counted.append(int(content((response, text))))
                    elif content((response, text)) not in before | set(allowed):
                        problems.append(text)

            clients = [threading.Thread(target=ask, args=(question,)) for question in ("one", "other", "count")]
            for client in clients:
                client.start()
            try:
                good = 0
                for edit in range(1, EDITS + 1):
                    if choice.random() < 0.5:
                        self.write(choice.choice(['{"mock_gateway": 1', '{"stubs": []}', "", '{"mock_gateway": 1, "stubs": [{}]}']))
                        continue
                    good = edit
                    allowed.add(str(edit))
                    self.write(version(str(edit)))
                    if choice.random() < 0.5:
                        self.wait_for(lambda: content(endpoint.chat()) == str(good))
                        allowed.intersection_update({str(good)})
                allowed.add("end")
                self.write(version("end"))
                self.wait_for(lambda: content(endpoint.chat()) == "end")
            finally:
                ended.set()
                for client in clients:
                    client.join()
            self.assertEqual(problems, [])
            # A sequence repeats its last reply.
            self.assertEqual(counted, [min(turn, len(turns) - 1) for turn in range(len(counted))])
            self.assertGreater(len(counted), 10)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        serve_test.PROGRAM = sys.argv[1]
    program.main(threads=4)
