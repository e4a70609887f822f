"""Tests of `mock-gateway check`: whether it finds the twenty bugs of tests/bugs, in a client of another language.

Usage: check_bugs_test.py [PROGRAM], else the program that MOCK_GATEWAY_BIN names. Python's standard library only.
"""

import concurrent.futures
import re

import check_client
import program
from checking import CHECKOUT, check_driver, client, only, Folder

# By the names of tests/bugs/client.hpp: the --bug of check_client.py, and what tells of it.
FOUND = {
    "line_feed_alone_ends_a_line": ("line-feed-alone-ends-a-line", ["lone-cr-line-ends streamed error"]),
    "carriage_return_stays": ("carriage-return-stays", ["crlf-line-ends streamed error", "lone-cr-line-ends streamed error"]),
    "unended_event_is_dropped": ("unended-event-is-dropped", ["unended-last-event streamed error"]),
    "done_is_needed": ("done-is-needed", ["done-missing streamed error"]),
    "closed_connection_is_the_end": ("no-error-on-cut", [
        "closed-in-stream streamed loss", "reset-in-stream streamed loss", "closed-inside-event streamed loss"]),
    "length_is_whole": ("length-is-whole", ["finish-reason-length streamed wrong"]),
    "error_event_is_passed_over": ("error-event-is-passed-over", [
        "error-event-in-stream streamed loss", "error-event-named streamed loss"]),
    "each_read_is_decoded": ("splits-utf8", [
        "character-split-across-reads streamed wrong", "one-write-per-byte streamed wrong"]),
    "parallel_calls_are_joined": ("parallel-calls-are-joined", ["tool-calls-interleaved streamed wrong"]),
    "unauthorized_is_retried": ("retries-401", ["key-invalid streamed finding retried_final_error"]),
    "retry_after_is_ignored": ("ignores-retry-after", [
        "rate-limited-then-answer streamed finding retry_after_ignored",
        "retry-after-ms streamed finding retry_after_ignored"]),
    "server_error_is_final": ("server-error-is-final", ["server-error streamed error"]),
    "key_is_kept": ("key-is-kept", ["rotated-key streamed error"]),
    "stream_is_left_open": ("stream-is-left-open", [
        "open-after-done streamed finding stream_left_open", "cancelled-stream streamed hang"]),
    "stall_is_waited_for": ("hang", ["stalled-after-headers streamed hang", "stalled-body streamed hang"]),
    "kept_connection_is_trusted": ("kept-connection-is-trusted", ["closed-before-answer streamed error"]),
    "finish_reason_is_the_end": ("finish-reason-is-the-end", [
        "usage-chunk-without-choices streamed loss", "usage-null-in-every-chunk streamed loss"]),
    "comments_are_parsed": ("comments-are-parsed", [
        "comment-keep-alives streamed error", "pings-before-first-token streamed error"]),
}

# The others, where they would show, and why `check` passes them.
PASSED = {
    "first_choice_alone_is_read": (None, [], "a job asks for one choice: n is never 2"),
    "call_ids_are_made_up": (None, [], "a job has one message: no result of a tool goes back"),
}

ALL = {**{name: (bug, sorted({line.split()[0] for line in lines})) for name, (bug, lines) in FOUND.items()},
       **{name: (bug, cells) for name, (bug, cells, _) in PASSED.items()}}


class Bugs(Folder):
    def checked(self, name):
        """What is judged where the bug shows. What is known to be bad is not called again."""
        bug, scenarios = ALL[name]
        baseline = self.write(name, "".join(line + "\n" for line in FOUND.get(name, ("", []))[1]))
        return check_driver("--stream", "--tools", "--timeout", "5s", "--baseline", baseline, *only(*scenarios),
                            of=client(bug, words=["--driver"]))

    def checked_at_once(self, names):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return zip(names, pool.map(self.checked, names))

    def test_the_table_has_every_bug(self):
        header = (CHECKOUT / "tests/bugs/client.hpp").read_text(encoding="utf-8")
        names = re.search(r"enum class Bug \{(.*?)\};", header, re.DOTALL)[1]
        self.assertEqual(sorted(re.findall(r"^ *(\w+),", names, re.MULTILINE)), sorted(ALL))
        self.assertFalse(set(FOUND) & set(PASSED))
        self.assertLessEqual({bug for bug, _ in ALL.values() if bug}, set(check_client.BUGS))

    def test_it_is_found_where_it_shows(self):
        for name, done in self.checked_at_once(list(FOUND)):
            with self.subTest(name):
                self.assertEqual((done.bad(), done.code), (set(FOUND[name][1]), 0), done.said)

    def test_a_careful_client_passes_there(self):
        names = sorted({scenario for _, scenarios in ALL.values() for scenario in scenarios})
        done = check_driver("--stream", "--tools", *only(*names), of=client(words=["--driver"]))
        self.assertEqual((done.bad(), done.code), (set(), 0), done.said)
        self.assertEqual(done.report["counts"]["skipped"], 0, done.said)
        self.assertEqual({name for name, _ in done.cells}, set(names))

    def test_those_that_it_passes(self):
        """When one of these fails, the bug is found: it belongs in the other table."""
        for name, done in self.checked_at_once([name for name, (bug, *_) in PASSED.items() if bug]):
            with self.subTest(name):
                self.assertEqual((done.bad(), done.code), (set(), 0), done.said)
                self.assertEqual(done.report["counts"]["skipped"], 0, done.said)


if __name__ == "__main__":
    program.main()
