"""Checks how the scoreboard counts calls, and that its files are consistent. Run:
python3 tests/scoreboard/pages_test.py"""

import json
import re
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import pages  # noqa: E402

CALL = {"form": "streamed", "kind": "loss", "good": False, "flaky": False, "expected": "error", "findings": []}
FINDING = {"code": "retried_final_error", "severity": "error", "message": "m"}


class Counts(unittest.TestCase):
    def test_each_call_counts_for_the_result_that_its_caller_saw(self):
        for call, kind in [
            ({}, "LOSS"),
            ({"kind": "error", "expected": "answer"}, "ERROR"),
            ({"kind": "error", "good": True}, None),
            ({"kind": "error", "findings": [FINDING]}, "finding"),
            ({"kind": "ok", "findings": [FINDING]}, "finding"),
            ({"kind": "skipped"}, None),
            ({"flaky": True}, None),
        ]:
            with self.subTest(call):
                self.assertEqual(pages.Cell({**CALL, "scenario": "any", **call}, {}).kind, kind)

    def test_counts_add_up(self):
        client = {"name": "one", "title": "one", "calls": "`create()`"}
        calls = [{}, {"kind": "ok", "good": True}, {"kind": "error", "good": True}, {"kind": "skipped"}]
        names = [str(number) for number in range(len(calls))]
        report = {"client": {"version": "1.0"}, "runtime": "", "date": "", "version": "", "remarks": [],
                  "cells": [{**CALL, "scenario": name, **call} for name, call in zip(names, calls)]}
        entry = pages.Entry(client, report, dict.fromkeys(names, {}))
        self.assertEqual((entry.judged, entry.right, entry.told, dict(entry.counts)), (3, 2, 1, {"LOSS": 1}))


def read(name):
    return json.loads((HERE / name).read_text(encoding="utf-8"))


class Notes(unittest.TestCase):
    def test_each_note_names_clients_of_the_scoreboard(self):
        names = {one["name"] for one in read("clients.json")}
        for note in read("notes.json"):
            self.assertLessEqual(set(note.get("clients", [])), names, note["note"])


class Clients(unittest.TestCase):
    def test_each_has_a_unique_name_and_its_driver_and_packages_exist(self):
        clients = read("clients.json")
        self.assertEqual(len({one["name"] for one in clients}), len(clients))
        for one in clients:
            self.assertTrue((HERE.parent.parent / "examples" / "check" / one["driver"]).is_file(), one["name"])
            self.assertTrue("packages" not in one or (HERE / "packages" / one["packages"]).is_dir(), one["name"])

    def test_each_driver_is_on_the_scoreboard(self):
        clients = read("clients.json")
        folder = HERE.parent.parent / "examples" / "check"
        ours = ("README.md", "careful_", "careless_")  # the README, and the clients without a package
        drivers = {path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith(ours)}
        self.assertEqual(drivers, {one["driver"] for one in clients})

    def test_no_timeout_is_longer_than_the_gateways_guard(self):
        for one in read("clients.json"):
            self.assertLess(int(one.get("timeout", "12s").removesuffix("s")), 120, one["name"])

    def test_a_baseline_belongs_to_the_installed_version(self):
        clients = {one["name"]: one for one in read("clients.json")}
        baselines = list((HERE / "baselines").iterdir())
        self.assertGreater(len(baselines), 0)
        for file in baselines:
            one = clients[file.stem]
            version = re.match(rf"# {re.escape(one['package'])} (\S+) on {one['language']} ", file.read_text(encoding="utf-8"))
            self.assertIsNotNone(version, file.name)
            pinned = [path.read_text(encoding="utf-8") for path in (HERE / "packages" / one["packages"]).iterdir()]
            self.assertTrue(any(version[1] in text for text in pinned), file.name)


if __name__ == "__main__":
    unittest.main()
