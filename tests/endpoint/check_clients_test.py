"""Tests of the failures that `mock-gateway check` finds in clients: in the catalogue, in sweeps and in splits.

Usage: check_clients_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.
The client under test is check_client.py, with or without a bug; other commands and drivers are a few lines of Python
here.
"""

import collections
import json
import shlex

import program
from checking import (ANSWER, TURNS, TURNS_OF_STREAMS, Folder, check, check_driver, client, command, driver, only)
from program import execute


class Clients(Folder):
    """Tests that a bug is found and named where it shows, and that the same client without the bug passes."""

    maxDiff = None

    def test_a_careful_client_passes_the_whole_catalogue(self):
        whole = check_driver("--tools", of=client(words=["--driver"]))
        self.assertEqual(whole.bad(), set(), whole.said)
        self.assertEqual(whole.code, 0, whole.said)
        self.assertFalse(whole.report["failed"])
        scenarios = json.loads(execute("scenarios", "--json").stdout)
        expected = {(one["name"], form) for one in scenarios for form in ("plain", "streamed")
                    if form == "streamed" or not one["needs_stream"]}
        turns = {id for id, cell in whole.cells.items() if cell["group"] == "mishaps"}
        self.assertEqual(turns, {(name, form) for name in TURNS for form in ("plain", "streamed")
                                 if form == "streamed" or name not in TURNS_OF_STREAMS})
        self.assertEqual(set(whole.cells), expected | turns)
        kinds = collections.Counter(cell["kind"] for cell in whole.report["cells"])
        self.assertEqual({kind: count for kind, count in whole.report["counts"].items() if count}, dict(kinds))
        skipped = {cell["scenario"] for cell in whole.report["cells"] if cell["kind"] == "skipped"}
        # A client that sends no Expect header cannot reach this scenario.
        self.assertLessEqual(skipped, {"early-status-under-expect"})
        self.assertGreater(kinds["ok"], 100)
        self.assertGreater(kinds["error"], 60)

    BUGS = [  # the bug, the scenarios where it shows, and the lines that report it
        ("no-error-on-cut", ["closed-in-stream", "reset-in-stream", "closed-after-done"],
         {"closed-in-stream plain loss", "closed-in-stream streamed loss", "reset-in-stream plain loss",
          "reset-in-stream streamed loss"}),
        ("loses-last-event-without-blank-line", ["last-event-without-blank-line", "final-blank-line-missing"],
         {"last-event-without-blank-line streamed loss"}),
        ("done-anywhere", ["done-inside-text", "data-after-done"], {"done-inside-text streamed error"}),
        ("empty-on-error", ["bad-request", "key-disabled"],
         {f"{name} {form} loss" for name in ("bad-request", "key-disabled") for form in ("plain", "streamed")}),
        ("crlf", ["crlf-line-ends", "multi-line-data"], {"crlf-line-ends streamed error"}),
        ("choices-are-assumed", ["usage-chunk-without-choices"], {"usage-chunk-without-choices streamed error"}),
        ("retries-401", ["key-invalid", "key-disabled"],
         {"key-invalid plain finding retried_final_error", "key-invalid streamed finding retried_final_error"}),
        ("ignores-retry-after", ["rate-limited-then-answer", "retry-after-zero"],
         {f"rate-limited-then-answer {form} finding retry_after_ignored" for form in ("plain", "streamed")}),
        ("key-in-query", ["id-fields"], {"id-fields streamed finding key_in_query"}),
        ("crash", ["error-as-html", "bad-request"], {"error-as-html plain crash", "error-as-html streamed crash"})]

    # Bugs that show in different scenarios and do not affect each other.
    TOGETHER = [["no-error-on-cut", "loses-last-event-without-blank-line", "empty-on-error", "ignores-retry-after", "crash"],
                ["done-anywhere", "crlf", "choices-are-assumed", "retries-401"], ["key-in-query"]]
    OF_COMMANDS = ["no-error-on-cut", "ignores-retry-after", "crash"]

    def test_bugs_of_a_driver_are_found_and_named(self):
        self.assertEqual(sorted(sum(self.TOGETHER, [])), sorted(bug for bug, *_ in self.BUGS))
        for bugs in self.TOGETHER:
            self.assert_found(bugs, lambda where: check_driver(*where, of=client(*bugs, words=["--driver"])))

    def test_bugs_of_a_command_are_found_and_named(self):
        self.assert_found(self.OF_COMMANDS, lambda where: check("--plain", *where, of=client(*self.OF_COMMANDS)), ["plain"])

    def assert_found(self, bugs, check_where, forms=("plain", "streamed")):
        """Checks that exactly the lines of each bug are reported."""
        rows = [(bug, where, {line for line in found if line.split()[1] in forms})
                for bug, where, found in self.BUGS if bug in bugs]
        bad = check_where(only(*dict.fromkeys(name for _, where, _ in rows for name in where)))
        for bug, _, found in rows:
            with self.subTest(bug):
                self.assertLessEqual(found, bad.bad(), bad.said)
                for line in found:
                    name, form, kind, *code = line.split()
                    self.assertIn(code[0] if code else kind.upper(), bad.row(name), bad.said)
        with self.subTest(bugs):
            self.assertEqual((bad.bad(), bad.code), (set().union(*(found for *_, found in rows)), 1), bad.said)

    def test_bugs_that_are_warnings_are_found_if_warnings_count(self):
        cases = [("ignores-body-delay", "retry-delay-in-body", "retry_delay_in_body_ignored"),
                 ("retries-daily-quota", "daily-quota", "daily_quota_retried")]
        bad = check_driver("--fail-on", "warning", *only(*(name for _, name, _ in cases)),
                           of=client(*(bug for bug, *_ in cases), words=["--driver"]))
        found = {f"{name} {form} finding {code}" for _, name, code in cases for form in ("plain", "streamed")}
        self.assertEqual((bad.bad(), bad.code), (found, 1), bad.said)
        names = ["retry-delay-in-body", "daily-quota", "redirect-307", "reset-as-duration"]
        good = check_driver("--fail-on", "warning", *only(*names), of=client(words=["--driver"]))
        self.assertEqual((good.bad(), good.code), (set(), 0), good.said)
        self.assertEqual(good.kinds()["redirect-307 plain"], "ok")
        told = check_driver(*only("redirect-307"), of=client("redirect-is-final", words=["--driver"]))
        self.assertEqual((told.bad(), told.kinds()["redirect-307 plain"]), (set(), "error"), told.said)

    def test_the_same_client_without_the_bugs_passes(self):
        where = sorted({name for bug, names, _ in self.BUGS for name in names if bug in self.OF_COMMANDS} | {"id-fields"})
        good = check("--stream", *only(*where), of=client())
        self.assertEqual((good.bad(), good.code), (set(), 0), good.said)
        self.assertEqual(good.kinds()["closed-in-stream streamed"], "error")
        self.assertEqual(good.kinds()["id-fields streamed"], "ok")
        good = check("--outcome", "json", *only("closed-in-stream", "retry-after-ms"), of=client(words=["--outcome-json"]))
        self.assertEqual((good.bad(), good.code), (set(), 0), good.said)

    def test_a_call_that_never_ends_is_a_hang(self):
        hung = check_driver("--plain", "--timeout", "2s", *self.known("stalled-before-headers plain hang"),
                            *only("stalled-before-headers", "slow-first-token"), of=client("hang", words=["--driver"]))
        self.assertEqual((hung.bad(), hung.code), ({"stalled-before-headers plain hang"}, 0), hung.said)
        self.assertIn("HANG", hung.row("stalled-before-headers"))
        self.assertEqual(hung.kinds()["slow-first-token plain"], "ok")
        hung = check("--plain", "--timeout", "6s", *self.known("stalled-body plain hang"), *only("stalled-body"),
                     of=client("hang"))
        self.assertEqual((hung.bad(), hung.code), ({"stalled-body plain hang"}, 0), hung.said)
        self.assertIn("HANG", hung.row("stalled-body"))
        self.assertLess(hung.cells["stalled-body", "plain"]["seconds"], 12)

    def test_the_details_of_a_failed_call(self):
        bad = check("--stream", *only("closed-in-stream"), of=client("no-error-on-cut"))
        scenario = next(one for one in json.loads(execute("scenarios", "--json").stdout)
                        if one["name"] == "closed-in-stream")
        for part in ("Zürich 21 °C, ", scenario["text"], scenario["description"], scenario["good_client"],
                     scenario["reference"], "again: mock-gateway check "):
            self.assertIn(part, bad.stdout)
        cell = bad.cells["closed-in-stream", "streamed"]
        self.assertEqual((cell["text"], cell["told"], cell["reference"]), ("Zürich 21 °C, ", "", scenario["reference"]))
        told = check("--plain", *only("crlf-line-ends", "bad-request"), of=command(
            "if scenario == 'bad-request': print('half', flush=True); check_client.command([], None, False); "
            "sys.exit('the user was told')\ngo()"))
        self.assertIn("the user was told", told.cells["bad-request", "plain"]["told"], told.said)
        self.assertIn("the user was told", told.stdout)
        self.assertEqual(told.kinds()["bad-request plain"], "wrong", "half is nothing that anybody said")

    def test_equal_failures_are_reported_once_with_all_names(self):
        names = ["created-as-text", "created-float", "created-null", "delta-null", "role-empty"]
        code = """
for job in jobs:
    answer = outcome_of(job)
    if answer.get("text", ANSWER) != ANSWER: answer = {"text": "", "error": "no answer today"}
    say(job, answer)
""".replace("ANSWER", repr(ANSWER))
        done = check_driver("--stream", *only(*names), of=driver(code))
        self.assertEqual((done.code, len(done.bad())), (1, 5), done.said)
        others = ", ".join(f"{cell['scenario']} streamed" for cell in done.report["cells"][1:])
        self.assertIn(f"\n  the same in 4 others: {others}\n", done.stdout)
        self.assertEqual(done.stdout.count("error shown: no answer today"), 1, done.stdout)
        few = check_driver("--stream", *only(*names[:3]), of=driver(code))
        self.assertNotIn("the same in", few.stdout)
        self.assertEqual(few.stdout.count("error shown: no answer today"), 3, few.stdout)

    def test_an_empty_answer_that_a_client_passes_on_gets_a_remark(self):
        code = """
for job in jobs:
    answer = outcome_of(job)
    say(job, answer if answer.get("text") else {"text": ""})
"""
        done = check_driver("--stream", *only("empty-turn", "reasoning-only-turn"), of=driver(code))
        self.assertEqual((done.code, done.bad()), (0, set()), done.said)
        self.assertEqual(done.stdout.count("ok      remark: the caller got an empty answer and no error\n"), 2, done.stdout)


class SweepsAndSplits(Folder):
    def test_a_careful_client_passes_every_step_of_a_sweep(self):
        for flag, text in ("--sweep", "one two"), ("--splits", "Zürich 21"):
            with self.subTest(flag):
                done = check_driver(flag, text, "--at-most", "30", of=client(words=["--driver"]))
                self.assertEqual((done.code, done.bad()), (0, set()), done.said)
                self.assertGreater(len(done.cells), 10)
                self.assertEqual({form for _, form in done.cells}, {"plain", "streamed"} & {form for _, form in done.cells})
                chunked = [form for name, form in done.cells if name.endswith("of the body, into two HTTP chunks")]
                self.assertEqual(chunked, ["streamed"] * (30 if flag == "--splits" else 0))

    def test_a_client_that_takes_a_break_for_the_end_is_found(self):
        done = check_driver("--stream", "--sweep", "one two three", "--at-most", "30",
                            of=client("no-error-on-cut", words=["--driver"]))
        self.assertEqual(done.code, 1, done.said)
        self.assertIn("loss", {cell["kind"] for cell in done.report["cells"]})
        self.assertIn("LOSS", done.stdout)

    def test_a_client_that_decodes_each_read_separately_is_found_and_the_printed_command_repeats_it(self):
        done = check_driver("--stream", "--splits", "Zürich", of=client("splits-utf8", words=["--driver"]))
        self.assertEqual(done.code, 1, done.said)
        self.assertEqual({cell["kind"] for cell in done.report["cells"]}, {"ok", "wrong"}, done.said)
        parts = shlex.split(next(cell["again"] for cell in done.report["cells"] if not cell["good"]))
        self.assertIn("--splits", parts)
        self.assertEqual(execute(*parts[1:]).returncode, 1)

    def test_a_sweep_can_be_limited(self):
        done = check_driver("--stream", "--sweep", "one two three", "--at-most", "5", of=client(words=["--driver"]))
        self.assertEqual((done.code, len(done.cells)), (0, 5), done.said)


if __name__ == "__main__":
    program.main(threads=4)
