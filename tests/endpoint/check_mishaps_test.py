"""Tests of `mock-gateway check`: the session of mishaps, in which one client plays one turn after the other.

Usage: check_mishaps_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Uses only Python's standard library.

A session takes about 5 s. So a normal run tests each bug once, and bugs that show in different turns share a session.
tests/catalogue/mishaps_test.cpp tests each bad habit alone. MOCK_GATEWAY_TEST_ALL=1 adds the exhaustive part: a session
for each bug, for each unknown job and for each further failure of a driver; more seeds; --strict; and the command that
is printed for the default seed.
"""

import concurrent.futures
import itertools
import json
import re
import shlex
from pathlib import Path

import program
from checking import ANSWER, CHECKOUT, SCENARIOS, TURNS, TURNS_OF_STREAMS, check, check_driver, client, driver, only, Folder
from program import IS_EXHAUSTIVE, execute

SESSION = ["--group", "mishaps"]
CAREFUL = client(words=["--driver"])


def all_at_once(run, cases):
    """Returns the result of each run. Runs several sessions in parallel, because they mostly wait."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(run, cases))


class Sessions(Folder):
    """The base class of these tests. `check` does not repeat a session whose failures are all in the baseline."""

    numbers = itertools.count()

    def session(self, of, *flags, known=(), **options):
        baseline = ["--baseline", self.write(f"known-{next(self.numbers)}", "".join(line + "\n" for line in known))]
        return check_driver(*SESSION, *baseline, *flags, of=of, environment=self.environment, **options)

    def assert_found(self, done, lines):
        """Checks that exactly these lines are failures."""
        self.assertEqual(done.bad(), set(lines), done.said)
        self.assertEqual((done.code, done.report["stale"]), (0, []), done.said)


class Careful(Sessions):
    RUNS = [["--seed", "2"], [], ["--seed", "1", "--plain"], ["--seed", "2", "--plain"]]
    MORE_SEEDS = [["--seed", "3"], ["--seed", "4"]]

    def test_a_careful_client_passes_and_the_seed_decides_order_and_texts(self):
        cases = self.RUNS + self.MORE_SEEDS * IS_EXHAUSTIVE
        runs = all_at_once(lambda flags: self.session(CAREFUL, *flags), cases)
        for flags, done in zip(cases, runs):
            with self.subTest(flags):
                self.assert_careful(done)
        two, usual, one, two_again = (self.played(done) for done in runs[:4])
        self.assertEqual(usual, one)
        self.assertEqual(two, two_again)
        self.assertNotEqual(one, two)
        for rows in one, two:
            names = [name for name, _ in rows]
            self.assertEqual((names[0], names[-2:]), ("first-answer", ["rotated-key", "last-answer"]))
            self.assertEqual(sorted(names), sorted(set(TURNS) - set(TURNS_OF_STREAMS)))
            numbers = [int(re.match(r"Turn (\d+):", text)[1]) for name, text in rows if text]
            self.assertEqual(numbers, sorted(numbers), "the rows stand in the order in which they were played")
        texts = [{name: text.partition(": ")[2] for name, text in rows if text} for rows in (one, two)]
        self.assertNotEqual(*(text["first-answer"] for text in texts))

    def assert_careful(self, done):
        self.assert_found(done, [])
        forms = done.report["forms"]
        self.assertEqual(set(done.cells), {(name, form) for name in TURNS for form in forms
                                           if form == "streamed" or name not in TURNS_OF_STREAMS})
        self.assertEqual(done.report["counts"]["skipped"], 0)
        kinds = done.kinds()
        for form in forms:
            for name in "first-answer", "rate-limited", "server-error", "bad-gateway", "rotated-key", "last-answer":
                self.assertEqual(kinds[f"{name} {form}"], "ok", done.said)
            for name in "unauthorized", "disabled-key", "length":
                self.assertEqual(kinds[f"{name} {form}"], "error", done.said)

    @staticmethod
    def played(done):
        return [(cell["scenario"], cell["text"]) for cell in done.report["cells"] if cell["form"] == "plain"]

    def test_the_page_and_a_report_agree_on_each_turn(self):
        """Uses a client that fails in every turn, so that the report contains all turns."""
        code = """
for job in jobs:
    answer = outcome_of(job)
    if answer.get("text", ANSWER) != ANSWER: answer["text"] = "Nobody said this."
    say(job, answer)
""".replace("ANSWER", repr(ANSWER))
        done = self.session(driver(code), "--stream", known=[f"{name} streamed wrong" for name in TURNS])
        self.assert_found(done, [f"{name} streamed wrong" for name in TURNS])
        page = (CHECKOUT / "docs/catalogue.md").read_text(encoding="utf-8")
        table = re.search(r"^\| turn \|.*\n\|---.*\n((?:\|.*\n)+)", page, re.MULTILINE)[1]
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
        self.assertEqual([row[0].strip("`") for row in rows], TURNS)
        for name, gateway, expected in rows:
            cell = done.cells[name.strip("`"), "streamed"]
            self.assertEqual(cell["expected"].replace("answer or error", "either"), expected, name)
            self.assertTrue(cell["reference"], name)
            self.assertIn(f"\n  the gateway {gateway.replace('`', '')}\n  a good client ", cell["why"].replace("`", ""), name)

    def test_a_single_turn_is_reported_but_all_turns_are_played(self):
        code = "for job in jobs: log(job['job']); say(job, outcome_of(job))"
        done = check_driver("--plain", *only("rotated-key"), of=driver(code), environment=self.environment)
        self.assertEqual((done.code, done.kinds()), (0, {"rotated-key plain": "ok"}), done.said)
        jobs = self.logged()
        self.assertEqual((jobs.count("use_key"), jobs.count("abandon")), (2, 2), jobs)
        self.assertEqual(jobs.count("ask"), 2 + len(TURNS) - len(TURNS_OF_STREAMS) - 2,
                         "one of the preflight, and one at another address")

    def test_skipped_turns_are_not_reported_and_the_largest_seed_works(self):
        done = self.session(CAREFUL, "--plain", "--skip", "server-error", "--skip", "length", "--seed", "9" * 18)
        self.assert_found(done, [])
        self.assertEqual({name for name, _ in done.cells}, set(TURNS) - set(TURNS_OF_STREAMS) - {"server-error", "length"})

    def test_a_command_cannot_play_a_session(self):
        done = check("--plain", *only("rotated-key", "early-hints"), of=client())
        self.assertEqual(done.code, 0, done.said)
        self.assertEqual(done.kinds(), {"rotated-key plain": "skipped", "early-hints plain": "ok"})
        self.assertIn("--driver", done.cells["rotated-key", "plain"]["why"])

    def test_own_scenarios_and_sweeps_cannot_play_a_session(self):
        code = "for job in jobs: log(job['job']); say(job, outcome_of(job))"
        for flags in (["--catalogue", str(SCENARIOS), "--only", "crlf-line-ends"], ["--sweep", "a b", "--at-most", "3"],
                      ["--splits", "a b", "--at-most", "3"]):
            with self.subTest(flags):
                done = check_driver("--stream", *flags, of=driver(code), environment=self.environment)
                self.assertEqual(done.code, 0, done.said)
                self.assertFalse({cell["group"] for cell in done.report["cells"]} & {"mishaps"})
                self.assertLessEqual(set(self.logged()), {"hello", "stream"})

    def test_flags_that_cannot_be_combined(self):
        for flags, said in [(["--seed", "2", "--sweep", "a"], "--seed"), (["--seed", "2", "--splits", "a"], "--seed"),
                            (["--seed", "2", "--catalogue", str(SCENARIOS)], "--seed"), (["--seed", "x"], "--seed"),
                            (["--seed", "1.5"], "--seed"), (["--seed=-1"], "--seed"), (["--seed", "010"], "--seed"), (["--seed", "1" * 19], "--seed"),
                            (["--seed", ""], "--seed"), (["--group", "mishap"], '"mishaps"'),
                            (["--group", "mishaps", "--catalogue", str(SCENARIOS)], "there is no group mishaps"),
                            (["--only", "rotated-kee"], 'did you mean "rotated-key"?'),
                            (["--skip", "rotated-kee"], 'did you mean "rotated-key"?')]:
            with self.subTest(flags):
                done = execute("check", "--driver", *flags, "--", *CAREFUL)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"\Amock-gateway: [^\n]+\n\Z")
                self.assertIn(said, done.stderr)
        done = execute("check", "--seed", "2", "--", *client())
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("--seed is for the mishaps", done.stderr)
        self.assertIn("--driver", done.stderr)


class Bugs(Sessions):
    """Tests that each bug is found in its turn and in no other turn."""

    BUGS = [  # the bug, the failures in a session of streams, and words of the report
        ("server-error-is-final", ["server-error streamed error"], "a good client retries"),
        ("kept-connection-is-trusted", ["closed-before-answer streamed error"], "before the first byte of the answer"),
        ("unended-event-is-dropped", ["unended-last-event streamed error"], "without a blank line"),
        ("done-is-needed", ["unended-last-event streamed error"], "the stream has no [DONE]"),
        ("length-is-whole", ["length streamed wrong"], "says that the answer was cut"),
        ("key-is-kept", ["rotated-key streamed error", "last-answer streamed error"], "uses the new key"),
        ("key-is-global", ["last-answer streamed error"], "a call to another address, with another key"),
        ("stream-is-left-open", ["cancelled-stream streamed hang"], "still connected a second after"),
        ("bad-gateway-is-final", ["bad-gateway streamed error"], "proxy's HTML page"),
        ("half-event-is-kept", ["server-error streamed error"], "after cut-answer"),
        ("waits-after-give-up", ["abandoned-wait streamed hang"], "the call did not end when its caller ended it"),
        ("retries-after-give-up", ["abandoned-wait streamed wrong"], "the caller ended the call, but got the whole answer"),
        ("error-has-key", ["unauthorized streamed finding key_told",
                           "disabled-key streamed finding key_told"], "contains the key"),
        ("abandoned-call-goes-on", ["abandoned-call streamed hang"], "still connected a second after"),
        ("retries-401", ["unauthorized streamed finding retried_final_error"], 'retried after 401 "unauthorized"'),
        ("ignores-retry-after", ["rate-limited streamed finding retry_after_ignored",
                                 "unavailable streamed finding retry_after_ignored",
                                 "abandoned-wait streamed finding retry_after_ignored",
                                 "rate-limited-until-date streamed finding retry_after_ignored"], "Retry-After"),
        ("no-error-on-cut", ["cut-answer streamed loss"], "closes the connection in the middle of the answer"),
        ("empty-on-error", ["unauthorized streamed loss", "disabled-key streamed loss"], "answers 401")]

    # Bugs that show in different turns and do not affect each other.
    TOGETHER = [
        ["server-error-is-final", "kept-connection-is-trusted", "unended-event-is-dropped", "length-is-whole", "key-is-kept",
         "stream-is-left-open", "bad-gateway-is-final", "waits-after-give-up", "no-error-on-cut"],
        ["done-is-needed", "key-is-global", "half-event-is-kept", "retries-after-give-up", "abandoned-call-goes-on"],
        ["ignores-retry-after", "error-has-key"], ["empty-on-error", "retries-401"]]

    def test_each_bug_is_found_in_its_turn(self):
        self.assertEqual(sorted(sum(self.TOGETHER, [])), sorted(bug for bug, *_ in self.BUGS))
        groups = self.TOGETHER + [[bug] for bug, *_ in self.BUGS] * IS_EXHAUSTIVE
        self.assert_bugs_are_found("--stream", groups, {bug: lines for bug, lines, _ in self.BUGS})

    def test_bugs_in_plain_calls_too(self):
        lines_of = {"abandoned-call-goes-on": ["abandoned-call plain hang"], "no-error-on-cut": ["cut-answer plain loss"],
                    "key-is-kept": ["rotated-key plain error", "last-answer plain error"],
                    "server-error-is-final": ["server-error plain error"],
                    "kept-connection-is-trusted": ["closed-before-answer plain error"]}
        self.assert_bugs_are_found("--plain", [list(lines_of)] + [[bug] for bug in lines_of] * IS_EXHAUSTIVE, lines_of)

    def assert_bugs_are_found(self, form, groups, lines_of):
        """Plays a session for each group of bugs."""
        known = [sum((lines_of[bug] for bug in group), []) for group in groups]
        runs = all_at_once(lambda case: self.session(client(*case[0], words=["--driver"]), form, known=case[1]),
                           list(zip(groups, known)))
        for group, lines, done in zip(groups, known, runs):
            for bug in group:
                with self.subTest(bug, beside=len(group) - 1):
                    self.assertLessEqual(set(lines_of[bug]), done.bad(), done.said)
                    for line in lines_of[bug]:
                        name, _, kind, *code = line.split()
                        self.assertIn(code[0] if code else kind.upper(), done.row(name), done.said)
            with self.subTest(group):
                self.assert_found(done, lines)

    def test_a_key_that_the_client_reveals_is_found_in_any_call_and_can_be_ignored(self):
        """The key may also be the new key, and the client may be a command."""
        code = """
for job in jobs:
    answer = outcome_of(job)
    if "text" in answer: answer["error"] = "sent with " + job["api_key"]
    say(job, answer) if answer.get("text") != ANSWER else say(job, {**answer, "error": None})
""".replace("ANSWER", repr(ANSWER))
        told = {f"{name} plain finding key_told" for name in TURNS if name not in TURNS_OF_STREAMS}
        for flags, found in [([], told)] + [(["--without-finding", "key_told"], set())] * IS_EXHAUSTIVE:
            with self.subTest(flags):
                done = check_driver(*SESSION, "--plain", "--fail-on", "never", *flags, of=driver(code))
                self.assertEqual({line for line in done.bad() if "key_told" in line}, found, done.said)
        for flags, code, bad in (([], 1, {"bad-request plain finding key_told"}), (["--without-finding", "key_told"], 0, set())):
            with self.subTest(flags):
                done = check("--plain", *only("bad-request"), *flags, of=client("error-has-key"))
                self.assertEqual((done.code, done.bad()), (code, bad), done.said)
                words = [cell["again"] for cell in done.report["cells"]]
                self.assertTrue(all(("--without-finding key_told" in word) == bool(flags) for word in words), words)

    def test_the_details_of_a_failed_turn(self):
        cases = [case for case in self.BUGS if case[0] in ("stream-is-left-open", "retries-401", "server-error-is-final")]
        found = [lines[0] for _, lines, _ in cases]
        done = check_driver("--stream", *only(*(line.split()[0] for line in found)), "--seed", "5",
                            of=client(*(bug for bug, *_ in cases), words=["--driver"]))
        self.assertEqual((done.code, done.bad()), (1, set(found)), done.said)
        self.assertEqual(done.stdout.count("again: "), len(cases), done.stdout)
        for bug, _, words in cases:
            with self.subTest(bug):
                self.assertIn(words, done.stdout)
        places = re.findall(r"the turn +\d+ of 17, after [a-z-]+ \(seed 5\)", done.stdout)
        self.assertEqual(len(places), 2, "a finding has no turn\n" + done.stdout)

    def test_the_text_of_another_turn_is_wrong(self):
        code = """
first = {}
for job in jobs:
    answer = outcome_of(job)
    if answer.get("text"): answer["text"] = first.setdefault(job["base_url"], answer["text"])
    say(job, answer)
"""
        told = ["closed-before-answer", "rate-limited", "rate-limited-until-date", "server-error",
                "bad-gateway", "unavailable", "length", "rotated-key", "last-answer"]
        done = self.session(driver(code), "--plain", known=[f"{name} plain wrong" for name in told])
        self.assert_found(done, [f"{name} plain wrong" for name in told])

    def test_effects_of_a_stopped_call_are_failures_of_the_next_turn(self):
        code = """
rest = ""
for job in jobs:
    answer = outcome_of(job)
    if "text" in answer: answer["text"], rest = rest + answer["text"], answer["text"] if job["job"] == "cancel" else ""
    say(job, answer)
"""
        done = check_driver(*SESSION, "--stream", of=driver(code))
        names = [name for name, _ in done.cells]
        self.assertEqual(done.bad(), {f"{names[names.index('cancelled-stream') + 1]} streamed wrong"}, done.said)

    def test_a_client_that_cannot_stop_a_call_receives_the_unwanted_reply(self):
        code = """
for job in jobs:
    if job.pop("after_tokens", None): job["job"] = "stream"
    if job["job"] == "abandon": job["job"] = "stream" if job["stream"] else "ask"
    say(job, outcome_of(job, "hang"))
"""
        lines = [f"{name} streamed wrong" for name in ("cancelled-stream", "abandoned-call", "abandoned-wait")]
        self.assert_found(self.session(driver(code), "--stream", known=lines), lines)

    # The gateway counts the requests of that turn but does not judge them.
    def test_a_client_that_retries_after_its_caller_gave_up_is_found(self):
        lines = ["abandoned-call plain wrong", "abandoned-wait plain wrong", "abandoned-wait plain finding retry_after_ignored"]
        done = self.session(client("abandoned-call-is-repeated", words=["--driver"]), "--plain", known=lines)
        self.assertEqual((done.code, done.report["stale"]), (0, []), done.said)
        self.assertEqual(done.bad(), {*lines, "abandoned-call plain finding resent_after_own_timeout"}, done.said)
        for name in "abandoned-call", "abandoned-wait":
            self.assertEqual(done.cells[name, "plain"]["requests"], 2, done.said)


class UnknownJobs(Sessions):
    TURNS = {"cancel": ["cancelled-stream"], "abandon": ["abandoned-call", "abandoned-wait"], "use_key": ["rotated-key"]}

    def test_an_unknown_job_is_not_judged_and_the_others_are(self):
        cases = [list(self.TURNS)] + [[job] for job in self.TURNS] * IS_EXHAUSTIVE
        runs = all_at_once(lambda jobs: self.session(
            client(*("no-" + job.replace("_", "-") for job in jobs), words=["--driver"])), cases)
        for jobs, done in zip(cases, runs):
            with self.subTest(jobs):
                self.assert_found(done, [])
                grey = {cell["scenario"]: cell["why"] for cell in done.report["cells"] if cell["kind"] == "skipped"}
                self.assertEqual(grey, {name: f"the driver does not know the job {job}"
                                        for job in jobs for name in self.TURNS[job]})
                for job in jobs:
                    self.assertIn("?", done.row(self.TURNS[job][0]))
                    self.assertIn(f"the driver does not know the job {job}", done.stdout)
                self.assertEqual(done.kinds()["last-answer streamed"], "ok", "the client did not continue with its key")


class FailingDrivers(Sessions):
    """Tests of a driver that fails at a job: the turn fails, and the session continues with a restarted driver."""

    TURNS = {"use_key": ["rotated-key"], "cancel": ["cancelled-stream"], "abandon": ["abandoned-call", "abandoned-wait"]}
    # For each session: the code with which the driver fails at a job, the kind of failure, and words of the message.
    CASES = [{"use_key": ("os.abort()", "crash", "signal 6"), "cancel": ("time.sleep(1000)", "hang", "within 3s"),
              "abandon": ("say(job, {})", "crash", "text is missing")},
             {"use_key": ("say(job, {'error': 'no keys here'})", "crash", "no keys here"), "cancel": ("sys.exit(7)", "crash", "7"),
              "abandon": ("say(job, {'text': 'Hello.'})", "wrong", "Hello.")}]
    EXHAUSTIVE = [{"use_key": ("print('{nonsense', flush=True)", "crash", "{nonsense"),
                   "cancel": ("print('{nonsense', flush=True)", "crash", "{nonsense"),
                   "abandon": ("os.abort()", "crash", "signal 6")},
                  {"use_key": ("say(job, {'error': True})", "crash", "an error of use_key: true"),
                   "cancel": ("say(job, {'error': 'cannot stop'})", "crash", "text is missing")},
                  {"use_key": ("say({'id': 4711}, {})", "crash", "4711")},
                  {"use_key": ("time.sleep(1000)", "hang", "within 3s")}]

    def lines_of(self, case):
        lines = [f"{name} streamed {kind}" for job, (_, kind, _) in case.items() for name in self.TURNS[job]]
        # A driver that answers with an error is not restarted, and continues with its current key.
        return lines + ["last-answer streamed error"] * ("'error': " in case["use_key"][0])

    def test_a_driver_that_fails_at_a_job(self):
        def run(case):
            code = "for job in jobs:\n    answer = outcome_of(job)\n"
            code += "".join(f"    if job['job'] == {job!r}: {failure}; continue\n" for job, (failure, *_) in case.items())
            return self.session(driver(code + "    say(job, answer)\n"), "--stream", "--timeout", "3s", known=self.lines_of(case))

        cases = self.CASES + self.EXHAUSTIVE * IS_EXHAUSTIVE
        for case, done in zip(cases, all_at_once(run, cases)):
            for job, (failure, _, said) in case.items():
                with self.subTest(job=job, failure=failure):
                    self.assertIn(said, done.cells[self.TURNS[job][0], "streamed"]["why"], done.said)
            with self.subTest(case):
                self.assert_found(done, self.lines_of(case))
                self.assertIn(done.kinds()["last-answer streamed"], ("ok", "error"), done.said)

    def test_a_driver_that_refuses_only_the_new_key(self):
        """The driver knows the job, so the old key is deleted, and later jobs contain the new key."""
        code = """
keys = {}
for job in jobs:
    if job["job"] == "use_key" and job["api_key"] != keys[job["base_url"]]: os.abort()
    keys.setdefault(job["base_url"], job["api_key"])
    say(job, outcome_of(job))
"""
        lines = ["rotated-key plain crash"]
        done = self.session(driver(code), "--plain", known=lines)
        self.assert_found(done, lines)
        self.assertEqual(done.kinds()["last-answer plain"], "ok", done.said)


class Keys(Sessions):
    # A key that a turn before the last deleted is masked in that turn, but not in the last turn.
    def test_no_report_contains_a_key(self):
        """The client prints the key, reports it and returns it in its answer."""
        code = """
keys = {}
for job in jobs:
    if job["job"] == "hello":
        say(job, {"client": "talkative"})
        continue
    of_address = keys.setdefault(job["base_url"], [])
    if job["api_key"] not in of_address: of_address.append(job["api_key"]); log(job["api_key"])
    mine = " ".join(of_address)
    print("my keys", mine, flush=True)
    print("my keys", mine, file=sys.stderr, flush=True)
    answer = outcome_of(job)
    # In the preflight all is as it should be.
    if "error" in answer and answer["text"] != "It is 21 degrees.":
        answer |= {"text": mine + answer["text"], "error": mine, "finish_reason": mine}
        answer["tool_calls"] = [{"name": mine, "arguments": mine}]
    say(job, answer)
"""
        files = {kind: str(self.folder / f"report.{kind}") for kind in ("json", "junit", "html", "text")}
        flags = [word for kind, path in files.items() if kind != "text" for word in ("--report", f"{kind}:{path}")]
        done = execute("check", "--driver", "--plain", *SESSION, *flags, "--report", "text", "--", *driver(code),
                       env={**program.os.environ, **self.environment}, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        keys = set(self.logged())
        self.assertGreaterEqual(len(keys), 3, "that of the preflight, and the two of each session")
        texts = [Path(path).read_text(encoding="utf-8") for kind, path in files.items() if kind != "text"]
        self.assertIn("$OPENAI_API_KEY", texts[0])
        for text in [*texts, done.stdout, done.stderr]:
            self.assertEqual([key for key in keys if key in text], [])


class BaselineAndAgain(Sessions):
    KEPT = ["rotated-key plain error", "last-answer plain error"]

    def test_turns_in_a_baseline(self):
        lines = ["rotated-key plain error", "rotated-kee plain error"]
        stale = self.session(CAREFUL, "--plain", known=lines)
        self.assertEqual((stale.code, set(stale.report["stale"])), (1, set(lines)), stale.said)
        other = check("--plain", *self.known("rotated-key plain error"), *only("rotated-key", "early-hints"), of=client())
        self.assertEqual((other.code, other.report["stale"]), (0, []), "what is skipped was not run\n" + other.said)

    def test_a_written_baseline(self):
        path = self.folder / "written"
        done = check_driver(*SESSION, "--plain", "--baseline", str(path), "--write-baseline",
                            of=client("key-is-kept", words=["--driver"]))
        self.assertEqual(done.code, 0, done.said)
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        self.assertEqual(lines, sorted(self.KEPT))
        self.assertNotIn("--seed", done.cells["rotated-key", "plain"]["again"])

    def test_the_printed_command_repeats_the_session(self):
        def failed_twice(seed):
            done = check_driver("--plain", *only("rotated-key"), *(["--seed", seed] if seed else []),
                                of=client("key-is-kept", words=["--driver"]))
            cell = done.cells["rotated-key", "plain"]
            words = shlex.split(cell["again"])
            path = self.folder / f"again-{seed}.json"
            again = execute(*words[1: words.index("--")], "--report", f"json:{path}", *words[words.index("--"):],
                            encoding="utf-8")
            return cell, words, again, path

        seeds = ["7"] + [None] * IS_EXHAUSTIVE
        for seed, (cell, words, again, path) in zip(seeds, all_at_once(failed_twice, seeds)):
            with self.subTest(seed=seed):
                self.assertEqual(words[words.index("--seed") + 1] if "--seed" in words else None, seed)
                self.assertEqual(again.returncode, 1, again.stderr)
                (same,) = json.loads(path.read_text(encoding="utf-8"))["cells"]
                self.assertEqual((same["scenario"], same["why"]), ("rotated-key", cell["why"]))

    ONCE = """
mark = os.environ["LOG"] + sys.argv[1]
for job in jobs:
    answer = outcome_of(job)
    if job["job"] == "abandon" and not os.path.exists(mark):
        open(mark, "w").close()
        answer["text"] = "Nobody said this."
    say(job, answer)
"""

    def test_a_turn_that_fails_once_is_flaky(self):
        cases = [([], 0)] + [(["--strict"], 1)] * IS_EXHAUSTIVE
        runs = all_at_once(lambda case: check_driver(*SESSION, "--plain", *case[0], environment=self.environment,
                                                     of=[*driver(self.ONCE), f"mark{case[1]}"]), cases)
        for (flags, code), done in zip(cases, runs):
            with self.subTest(flags):
                self.assertEqual((done.code, done.bad()), (code, set()), done.said)
                flaky = [cell["scenario"] for cell in done.report["cells"] if cell["flaky"]]
                self.assertEqual(flaky, ["abandoned-wait"])
                self.assertIn("flaky", done.row("abandoned-wait"))


class Wire(Sessions):
    CODE = "for job in jobs:\n    answer = outcome_of(job)\n    log([job, answer])\n    say(job, answer)"

    def test_the_jobs_of_a_session_for_each_form(self):
        done = self.session(driver(self.CODE), "--timeout", "9s")
        self.assert_found(done, [])
        self.seen = self.logged()
        for check_jobs in self.check_members, self.check_addresses_and_keys, self.check_what_stopped_calls_gave:
            with self.subTest(check_jobs.__name__):
                check_jobs()

    def check_members(self):
        common = {"id": int, "job": str, "base_url": str, "api_key": str, "model": str, "prompt": str, "timeout_ms": int}
        more = {"cancel": {"after_tokens": int}, "abandon": {"after_ms": int, "stream": bool}, "use_key": {}, "ask": {},
                "stream": {}}
        jobs = [job for job, _ in self.seen if job["job"] != "hello"]
        self.assertEqual({job["job"] for job in jobs}, set(more))
        for job in jobs:
            self.assertEqual({name: type(value) for name, value in job.items()}, common | more[job["job"]])
            self.assertTrue(job["api_key"])
            self.assertEqual(job["timeout_ms"], 9000)
        self.assertTrue(all(job["after_tokens"] >= 1 for job in jobs if job["job"] == "cancel"))
        self.assertTrue(all(1 <= job["after_ms"] < 9000 for job in jobs if job["job"] == "abandon"))
        self.assertEqual(sorted(job["stream"] for job in jobs if job["job"] == "abandon"), [False, False, True, True])

    def check_addresses_and_keys(self):
        addresses = {job["base_url"] for job, _ in self.seen if job["job"] == "use_key"}
        self.assertEqual(len(addresses), 2, "a session of each form")
        for address in addresses:
            jobs = [job for job, _ in self.seen if job.get("base_url") == address and job["job"] != "hello"]
            keys = list(dict.fromkeys(job["api_key"] for job in jobs))
            self.assertEqual(len(keys), 2)
            changes = [(job["job"], keys.index(job["api_key"])) for job in jobs][-4:]
            call = changes[-1][0]
            self.assertEqual(changes, [("use_key", 0), ("use_key", 1), (call, 1), (call, 1)])
            self.assertTrue(all(job["api_key"] == keys[0] for job in jobs[:-3]))

    def check_what_stopped_calls_gave(self):
        """Checks that a client stops at the right place: each piece of text is a piece that was sent."""
        for job, answer in self.seen:
            if job["job"] == "cancel":
                self.assertRegex(answer["text"], r"\ATurn \d+")
                self.assertIsNone(answer["error"])
            elif job["job"] == "use_key":
                self.assertEqual(answer, {})


if __name__ == "__main__":
    program.main(threads=12)
