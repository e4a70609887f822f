"""Tests that `mock-gateway check` finds the twenty bugs of tests/bugs, in a client in another language.

Usage: check_bugs_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
"""

import concurrent.futures
import re

import check_client
import program
from checking import CHECKOUT, check_driver, client, only, Folder

# For each bug of tests/bugs/client.hpp: the --bug of check_client.py, and the lines that report the bug.
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
    # Not retry-after-ms, which requests 50 ms: on a busy machine even an immediate retry takes that long.
    "retry_after_is_ignored": ("ignores-retry-after", ["rate-limited-then-answer streamed finding retry_after_ignored"]),
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

# The bugs that `check` does not find, where they would show, and why it does not find them.
PASSED = {
    "first_choice_alone_is_read": (None, [], "a job asks for one choice: n is never 2"),
    "call_ids_are_made_up": (None, [], "a job has one message: no result of a tool goes back"),
}

ALL = {**{name: (bug, sorted({line.split()[0] for line in lines})) for name, (bug, lines) in FOUND.items()},
       **{name: (bug, cells) for name, (bug, cells, _) in PASSED.items()}}

# Bugs that show in different places and do not affect each other share a client. These bugs need their own clients.
APART = [["carriage_return_stays", "finish_reason_is_the_end", "unauthorized_is_retried"], ["stall_is_waited_for"]]
TOGETHER = [[name for name in FOUND if name not in sum(APART, [])], *APART]


class Bugs(Folder):
    def checked(self, names):
        """Checks the scenarios where the bugs show. Known failures are not repeated."""
        baseline = self.write(names[0], "".join(line + "\n" for name in names for line in FOUND[name][1]))
        return check_driver("--stream", "--tools", "--timeout", "5s", "--baseline", baseline,
                            *only(*(scenario for name in names for scenario in ALL[name][1])),
                            of=client(*(FOUND[name][0] for name in names), words=["--driver"]))

    def test_the_table_has_every_bug(self):
        header = (CHECKOUT / "tests/bugs/client.hpp").read_text(encoding="utf-8")
        names = re.search(r"enum class Bug \{(.*?)\};", header, re.DOTALL)[1]
        self.assertEqual(sorted(re.findall(r"^ *(\w+),", names, re.MULTILINE)), sorted(ALL))
        self.assertFalse(set(FOUND) & set(PASSED))
        self.assertLessEqual({bug for bug, _ in ALL.values() if bug}, set(check_client.BUGS))

    def test_each_bug_is_found_where_it_shows(self):
        self.assertEqual(sorted(sum(TOGETHER, [])), sorted(FOUND))
        with concurrent.futures.ThreadPoolExecutor(len(TOGETHER)) as pool:
            runs = list(pool.map(self.checked, TOGETHER))
        for names, done in zip(TOGETHER, runs):
            for name in names:
                with self.subTest(name):
                    self.assertLessEqual(set(FOUND[name][1]), done.bad(), done.said)
            with self.subTest(names):
                found = {line for name in names for line in FOUND[name][1]}
                self.assertEqual((done.bad(), done.code, done.report["stale"]), (found, 0, []), done.said)


if __name__ == "__main__":
    program.main()
