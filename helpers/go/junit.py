"""Converts the output of `go test -json` to a JUnit report. Also prints the output of failed tests to stderr."""

import collections
import json
import sys
import xml.etree.ElementTree as ET

suite = ET.Element("testsuite", name="go")
printed = collections.defaultdict(list)
failed = False
for line in sys.stdin:
    event = json.loads(line)
    name, action = event.get("Test", ""), event["Action"]
    if action in ("output", "build-output"):
        printed[name].append(event["Output"])
    elif action in ("pass", "fail", "skip") and name:
        case = ET.SubElement(suite, "testcase", classname="go", name=name, time=str(event["Elapsed"]))
        if action != "pass":
            ET.SubElement(case, "failure" if action == "fail" else "skipped").text = "".join(printed[name])
    if action in ("fail", "build-fail"):
        failed = True
        sys.stderr.write("".join(printed[name]))
ET.ElementTree(suite).write(sys.stdout, encoding="unicode")
sys.exit(failed)
