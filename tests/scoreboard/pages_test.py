"""What the scoreboard makes of reports: what counts as bad, which happenings are one, and where links lead."""

import json
import re
import sys
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import pages  # noqa: E402

SCENARIO = {
    "name": "cut-short",
    "group": "breaks",
    "description": "cuts the text",
    "good_client": "reports it",
    "reference": "RFC 9112",
    "expected": "error",
    "text": "It is 21 degrees.",
    "tool_calls": [],
    "usage": None,
}
GOOD = {**SCENARIO, "name": "whole", "expected": "answer"}


def cell(**other):
    return {
        "scenario": "cut-short",
        "form": "streamed",
        "kind": "loss",
        "good": False,
        "flaky": False,
        "expected": "error",
        "why": "",
        "text": "It is",
        "tool_calls": [],
        "finish_reason": None,
        "usage": None,
        "told": "",
        "findings": [],
        **other,
    }


def board(*lists, titles=("one", "two <2>")):
    names = ["one", "two"][: len(lists)]
    clients = [
        {"name": name, "title": title, "package": name, "driver": f"{name}.py", "calls": "`create()`"}
        for name, title in zip(names, titles)
    ]
    reports = {
        name: {
            "client": {"name": name, "version": "1.0"},
            "runtime": "Python 3",
            "date": "2026-01-02",
            "version": "0.1.0",
            "remarks": [],
            "cells": cells,
        }
        for name, cells in zip(names, lists)
    }
    return pages.Board(clients, reports, [SCENARIO, GOOD])


class Kinds(unittest.TestCase):
    def kind(self, **other):
        return pages.Cell(cell(**other), SCENARIO).kind

    def test_an_error_is_bad_only_where_there_was_an_answer(self):
        self.assertEqual(self.kind(kind="error", expected="answer"), "ERROR")
        self.assertIsNone(self.kind(kind="error", good=True))

    def test_what_is_right_but_for_a_finding(self):
        findings = [{"code": "retried_final_error", "severity": "error", "message": "m"}]
        self.assertEqual(self.kind(kind="error", findings=findings), "finding")
        self.assertEqual(self.kind(kind="ok", findings=findings), "finding")

    def test_skipped_and_flaky_calls_are_not_bad(self):
        self.assertIsNone(self.kind(kind="skipped"))
        self.assertIsNone(self.kind(flaky=True))

    def test_counts_add_up(self):
        entry = board([cell(), cell(form="plain", kind="ok", good=True), cell(scenario="whole", kind="skipped")]).entries[0]
        self.assertEqual((entry.judged, entry.right, dict(entry.counts)), (2, 1, {"LOSS": 1}))

    def test_who_was_told_of_an_error_is_counted_where_that_is_right(self):
        cells = [cell(form="plain", kind="error", good=True), cell(kind="error", expected="answer")]
        entry = board(cells).entries[0]
        self.assertEqual((entry.right, entry.told, dict(entry.counts)), (1, 1, {"ERROR": 1}))


class Happenings(unittest.TestCase):
    def test_who_saw_the_same_stands_together(self):
        found = board([cell(), cell(form="plain")], [cell()]).happenings(SCENARIO)
        self.assertEqual(
            found, [("LOSS", "the text `It is`, and no error", ["one (plain and streamed)", "two <2> (streamed)"])]
        )

    def test_ports_and_moments_do_not_tell_happenings_apart(self):
        one, two = (cell(kind="wrong", told=f"no 127.0.0.1:{port} after {port / 1000:.3f} s") for port in (4001, 4002))
        self.assertEqual(len(board([one], [two]).happenings(SCENARIO)), 1)

    def test_a_text_is_shortened_and_stays_on_its_line(self):
        what = pages.Cell(cell(text="a\n`b`" * 40), SCENARIO).happened
        self.assertNotIn("\n", what)
        self.assertEqual(what.count("`"), 2)


class Written(unittest.TestCase):
    def setUp(self):
        self.board = board([cell(), cell(scenario="whole", expected="answer", kind="ok", good=True)], [cell()])

    def test_a_cell_of_the_markdown_leads_to_what_happened(self):
        text = pages.markdown(self.board)
        self.assertEqual(set(re.findall(r"\]\(#([^)]*)\)", text)), {"cut-short"})
        self.assertEqual(re.findall(r'<a id="([^"]*)">', text), ["cut-short"])
        self.assertIn("| [cut-short](#cut-short) | [·\N{NO-BREAK SPACE}L](#cut-short) | [·\N{NO-BREAK SPACE}L](#cut-short) |", text)

    def test_a_scenario_that_nobody_fails_has_no_row(self):
        text = pages.markdown(self.board)
        self.assertIn("All clients are right in `whole`.", text)
        self.assertNotIn("[whole]", text)

    def test_what_happened_is_said_once(self):
        for text in (pages.markdown(self.board), pages.html(self.board)):
            self.assertEqual(text.count("and no error"), 1)

    def test_links_of_the_html_lead_to_sections_and_titles_are_escaped(self):
        text = pages.html(self.board)
        self.assertLessEqual(set(re.findall(r'href="#([^"]*)"', text)), set(re.findall(r'id="([^"]*)"', text)))
        self.assertNotIn("<2>", text)

    def test_a_badge_is_xml_and_says_how_many_are_right(self):
        root = ET.fromstring(pages.badge(self.board.entries[0]))
        self.assertEqual([one.text for one in root.iter("{http://www.w3.org/2000/svg}text")], ["mock_gateway check", "1 of 2"])

    def test_a_client_without_a_report_is_said_to_be_missing(self):
        one = board([cell()])
        one.missing = ["three"]
        self.assertIn("Not run: three.", pages.markdown(one))


class Notes(unittest.TestCase):
    def test_a_note_stands_where_its_client_fails_and_others_are_listed(self):
        one = board([cell()], [cell()])
        one.notes = [{"scenarios": ["cut-short"], "clients": ["one"], "note": "It does not look."}]
        self.assertEqual(one.why(SCENARIO), [(["one"], "It does not look.")])
        self.assertEqual(one.without_note(), [("two <2>", "cut-short")])
        self.assertIn("<br>Why: It does not look.\n", pages.markdown(one))

    def test_those_of_the_file_are_about_clients_that_there_are(self):
        names = {one["name"] for one in json.loads((HERE / "clients.json").read_text(encoding="utf-8"))}
        for note in json.loads((HERE / "notes.json").read_text(encoding="utf-8")):
            self.assertLessEqual(set(note.get("clients", [])), names, note["note"])


class Clients(unittest.TestCase):
    def test_each_has_a_driver_packages_and_a_name_of_its_own(self):
        clients = json.loads((HERE / "clients.json").read_text(encoding="utf-8"))
        self.assertEqual(len({one["name"] for one in clients}), len(clients))
        for one in clients:
            self.assertTrue((HERE.parent.parent / "examples" / "check" / one["driver"]).is_file(), one["name"])
            self.assertTrue("packages" not in one or (HERE / "packages" / one["packages"]).is_dir(), one["name"])

    def test_each_driver_is_on_the_scoreboard(self):
        clients = json.loads((HERE / "clients.json").read_text(encoding="utf-8"))
        folder = HERE.parent.parent / "examples" / "check"
        ours = ("README.md", "careful_", "careless_")  # the page, and the pairs of no package
        drivers = {path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith(ours)}
        self.assertEqual(drivers, {one["driver"] for one in clients})

    def test_no_timeout_is_longer_than_the_gateways_hold_an_answer(self):
        for one in json.loads((HERE / "clients.json").read_text(encoding="utf-8")):
            self.assertLess(int(one.get("timeout", "12s").removesuffix("s")), 120, one["name"])

    def test_a_baseline_is_of_the_version_that_is_installed(self):
        clients = {one["name"]: one for one in json.loads((HERE / "clients.json").read_text(encoding="utf-8"))}
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
