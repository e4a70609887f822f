#!/usr/bin/env python3
"""Measures how many small mistakes the tests find: a mutation score. Run: tests/mutation/mutate.py --seed 1 --sample
300

It draws mutants from the bodies of all functions of src/ and endpoint/, and builds a copy of the checkout that contains
each behind a switch. It finds the test cases that reach a mutant, and runs them, the fastest first, until one fails. A
mutant is killed if a case fails twice with it and passes in between without it, or hangs. Mutants that do not compile
are replaced by the next ones drawn. It prints the score, the survivors and their diffs, and writes them as JSON. A file
can list survivors that are equivalent to the original program, with reasons: --resume --equivalent FILE.json prints the
score of the others.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import suite
from mutated_tree import CHECKOUT, Tree, difference
from operators import find_mutants

KILLED = ("killed", "timeout")


def sources():
    paths = sorted(path for folder in ("src", "endpoint") for path in (CHECKOUT / folder).rglob("*.[ch]pp"))
    return {path.relative_to(CHECKOUT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def identities(mutants, texts):
    """Returns {identity: mutant}. A mutant keeps its identity in other commits if its line and its change are equal."""
    seen, named = {}, {}
    for mutant in mutants:
        text = texts[mutant.file]
        key = (mutant.file, mutant.operator, " ".join(text[mutant.start:mutant.end].split()),
               " ".join(mutant.mutated(text).split()), text.splitlines()[mutant.line - 1].strip())
        seen[key] = seen.get(key, 0) + 1
        named[json.dumps([*key, seen[key]])] = mutant
    return named


def say(text):
    print(text, flush=True)


def build(tree, drawn, named, count, texts):
    """Builds the tree with the first `count` drawn mutants that compile. Returns {number: identity}, refused."""
    waiting = [key for key in drawn if key in named]
    numbers = {}
    alone, refused, compiled = [], [], set()
    number = 0
    while True:
        while waiting and len(numbers) + len(alone) < count:
            number += 1
            numbers[number] = waiting.pop(0)
        # Of mutants blamed together, tries one per file at a time.
        tried, files = {}, set()
        for key in list(alone):
            if named[key].file not in files:
                files.add(named[key].file)
                alone.remove(key)
                number += 1
                tried[number] = key
        current = {**numbers, **tried}
        tree.write({item: named[key] for item, key in current.items()}, texts)
        output = tree.compile()
        if output is None:
            absent = tree.left_out({item: named[key] for item, key in current.items() if item not in compiled}, texts)
            numbers = {item: key for item, key in current.items() if item not in absent}
            refused += [current[item] for item in sorted(absent)]
            compiled |= set(current)
            if not alone and (len(numbers) >= count or not waiting):
                return numbers, refused
            continue
        blamed, together = set(), set()
        for group in tree.blamed(output):
            if len(group) == 1:
                blamed |= group
            else:
                together |= group
        together -= blamed
        if not blamed and not together:
            sys.exit(f"the mutated tree does not build, and no mutant is where the errors are; see {tree.root.parent}/build.log")
        if not blamed and all(item in tried for item in together):
            blamed, together = together, set()
        refused += [current[item] for item in sorted(blamed)]
        alone += [current[item] for item in sorted(together)]
        numbers = {item: key for item, key in current.items() if item not in blamed | together}
        say(f"{len(blamed)} mutants do not compile, {len(together)} are tried again")


def find_reach(tests, count, jobs):
    """Runs each case once without a mutant, and records its duration and what it reaches. Returns those that pass."""
    cases = [case for test in tests for case in test.cases()]

    def measure(case):
        with tempfile.NamedTemporaryFile(prefix="reached-") as file:
            file.truncate(count + 1)
            outcome, case.seconds = suite.run([case], 300, reached=file.name)
            file.seek(0)
            case.reaches = {number for number, byte in enumerate(file.read()) if byte}
        return outcome

    with ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(measure, cases))
    for case, outcome in zip(cases, outcomes):
        if outcome != "passed":
            say(f"left out, since it does not pass without a mutant: {case.test.name} {case.name}")
    return [case for case, outcome in zip(cases, outcomes) if outcome == "passed"]


def judge(number, cases):
    """Judges a mutant. Returns (state, what killed it)."""
    reaching = [case for case in cases if number in case.reaches]
    if not reaching:
        return "unreached", ""
    for batch in suite.batches(reaching):
        limit = suite.limit_for(batch)
        for _ in range(3):
            outcome, _ = suite.run(batch, limit, number)
            if outcome == "passed":
                break
            if suite.run(batch, limit)[0] != "passed":
                continue  # it also fails without the mutant: run it again
            again, _ = suite.run(batch, limit, number)
            if again != "passed":
                names = batch[0].name if len(batch) == 1 else f"{len(batch)} cases"
                return "timeout" if again == "timeout" else "killed", f"{batch[0].test.name}: {names}"
    return "survived", ""


def note_equivalent(results, reasons):
    """Records which mutants are equivalent, {identity: reason}, and no others. Returns the errors in that list."""
    entries = {entry["identity"]: entry for entry in results["mutants"]}
    for entry in entries.values():
        entry.pop("equivalent", None)
    wrong = []
    for identity, reason in reasons.items():
        entry = entries.get(identity)
        if not isinstance(reason, str) or not reason.strip():
            wrong.append("without a reason: " + identity)
        elif entry is None:
            wrong.append("no mutant of this run: " + identity)
        elif entry["state"] in KILLED:
            wrong.append(f"not the same program, since a test sees it ({entry['by']}): {identity}")
        else:
            entry["equivalent"] = reason
    return wrong


def report(results):
    same = [entry for entry in results["mutants"] if "equivalent" in entry and entry["state"] not in KILLED]
    others = [entry for entry in results["mutants"] if entry not in same]
    states = [entry["state"] for entry in others]
    judged = [state for state in states if state != "waiting"]
    dead = sum(state in KILLED for state in judged)
    for entry in others + same:
        if entry["state"] in ("survived", "unreached"):
            why = f"the same program: {entry['equivalent']}" if entry in same else entry["state"]
            say(f"\n{entry['file']}:{entry['line']}: {entry['operator']} ({why})")
            say("\n".join("  " + line for line in entry["diff"]))
    say(f"\n{dead} of {len(judged)} mutants die: {100 * dead / max(1, len(judged)):.1f} % ({states.count('timeout')} of them "
        f"by a hang); {states.count('survived')} survive, {states.count('unreached')} are reached by no test, "
        f"{states.count('waiting')} wait. {len(same)} more are the same program. Drawn with the seed {results['seed']} from "
        f"{results['possible']}; {len(results['refused'])} more did not compile.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", default="1", help="any text; the same seed draws the same mutants of the same commit")
    parser.add_argument("--sample", type=int, default=300, help="how many mutants that compile (300)")
    parser.add_argument("--again", metavar="JSON", help="the mutants of an earlier run instead of a new sample")
    parser.add_argument("--survivors", action="store_true", help="with --again: only those that lived; the others stay")
    parser.add_argument("--resume", action="store_true", help="go on with the build and the results that there are")
    parser.add_argument("--equivalent", metavar="JSON", help="which mutants are the same program: an object from their "
                        "identity, as the results have it, to the reason; the score is of the others")
    parser.add_argument("--tests", default="", metavar="REGEX", help="only the ctest tests whose names fit")
    parser.add_argument("--only-build", action="store_true", help="stop before any test is run")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="compilers and tests at a time (2)")
    parser.add_argument("--folder", default=str(CHECKOUT / "build" / "mutation"), help="where all is written")
    options = parser.parse_args()

    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    reasons = json.loads(Path(options.equivalent).read_text(encoding="utf-8")) if options.equivalent else None
    tree = Tree(folder, options.jobs)
    texts = sources()

    def save():
        path.with_suffix(".new").write_text(json.dumps(results, indent=1, ensure_ascii=False), encoding="utf-8")
        path.with_suffix(".new").replace(path)

    def decide_all(waiting):
        tests = suite.tests_of(tree, options.tests)
        cases = find_reach(tests, max((entry["number"] for entry in waiting), default=0), options.jobs)
        say(f"{len(cases)} cases of {len(tests)} tests take {sum(case.seconds for case in cases):.0f} s")

        lock = threading.Lock()
        begin = time.monotonic()

        def decide(entry):
            state, by = judge(entry["number"], cases)
            with lock:
                entry.update(state=state, by=by)
                done = sum(item["state"] != "waiting" for item in waiting)
                say(f"{time.monotonic() - begin:6.0f} s {done:4}/{len(waiting)} {state:9} {entry['file']}:{entry['line']} "
                    f"{entry['operator']}{' by ' + by if by else ''}")
                save()

        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(decide, waiting))

    if options.resume:
        results = json.loads(path.read_text(encoding="utf-8"))
    else:
        named = identities([mutant for file, text in texts.items() for mutant in find_mutants(file, text)], texts)
        earlier = json.loads(Path(options.again).read_text(encoding="utf-8")) if options.again else None
        decided = []
        if earlier:
            drawn = [entry["identity"] for entry in earlier["mutants"]
                     if not (options.survivors and entry["state"] in KILLED)]
            decided = [entry for entry in earlier["mutants"] if options.survivors and entry["state"] in KILLED]
            gone = [key for key in drawn if key not in named]
            for key in gone:
                say("gone, since the code is another: " + key)
            options.seed, options.sample = earlier["seed"], len(drawn) - len(gone)
        else:
            drawn = list(named)
            random.Random(options.seed).shuffle(drawn)
        tree.copy()
        tree.configure()
        numbers, refused = build(tree, drawn, named, options.sample, texts)
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=CHECKOUT, check=True, capture_output=True,
                                text=True).stdout.strip()
        results = {"seed": options.seed, "commit": commit, "possible": len(named), "refused": refused, "mutants": decided + [
            {"number": number, "file": named[key].file, "line": named[key].line, "operator": named[key].operator,
             "diff": difference(texts[named[key].file], named[key]), "state": "waiting", "by": "", "identity": key}
            for number, key in sorted(numbers.items())]}
        save()
    if options.only_build:
        return
    waiting = [entry for entry in results["mutants"] if entry["state"] == "waiting"]
    if waiting:
        decide_all(waiting)
    if reasons is not None:
        for wrong in note_equivalent(results, reasons):
            say(wrong)
        save()
    report(results)


if __name__ == "__main__":
    main()
