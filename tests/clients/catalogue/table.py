#!/usr/bin/env python3
"""Runs real clients through every scenario of the catalogue, and writes what became of their calls as a table.

    table.py GATEWAYS_PROGRAM [--check] [--junit FILE] [--only SCENARIO]...

Each scenario and client has a gateway of its own. A call that has not ended after the cut is cut by the client's driver
(node/catalogue_clients.mjs, python/catalogue_clients.py), whether the SDK obeys or not, and counts as a hang.
"""

import argparse
import asyncio
import collections
import difflib
import itertools
import json
import platform
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLIENTS = HERE.parent
TABLE = HERE / "TABLE.md"

# Longer than the default retries of every client need, the AI SDK's 2 s and 4 s above all.
CUT_S = 12
TIMEOUT_S = 1
# Calls at once per column; those that wait without end are not counted.
AT_ONCE = 8

Column = collections.namedtuple("Column", "key driver title streams calls")
COLUMNS = [
    Column("openai_loop", "node", "Node loop", True, "`create({stream: true})`, `chunk.choices[0]?.delta?.content`"),
    Column("openai_stream", "node", "Node stream()", True, "`.stream()`, `finalChatCompletion()`"),
    Column("openai_plain", "node", "Node plain", False, "`create()`, `choices[0].message`"),
    Column("ai_stream", "node", "AI streamText", True, "`streamText`, `fullStream`"),
    Column("ai_plain", "node", "AI generateText", False, "`generateText`"),
    Column("python_loop", "python", "Python loop", True, "`create(stream=True)`, `chunk.choices[0].delta.content`"),
    Column("python_stream", "python", "Python stream()", True, "`.stream()`, `get_final_completion()`"),
    Column("python_plain", "python", "Python plain", False, "`create()`, `choices[0].message`"),
]

MARKS = {
    "handled": "ok",
    "error surfaced": "error",
    "silent data loss": "LOSS",
    "hang": "HANG",
    "wrong answer": "WRONG",
}
IN_CALLER = "error\\*"
KINDS = ["ok", "error", IN_CALLER, "LOSS", "WRONG", "HANG"]

# A gateway in good order, as gateways.cpp scripts it: whoever does not get this is misread by its driver.
CONTROLS = {
    "text": {"text": "It is 21 degrees.", "tool_calls": []},
    "tool call": {"text": "", "tool_calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]},
}


class Program:
    """A program that answers each line of JSON with one."""

    @classmethod
    async def start(cls, *command, log):
        self = cls()
        self.name = Path(command[-1]).name
        self.process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, limit=1 << 26
        )
        return self

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def receive(self):
        line = await self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with status {await self.process.wait()}")
        answer = json.loads(line)
        if "problem" in answer:
            raise RuntimeError(f"{self.name}: {answer['problem']}")
        return answer

    async def stop(self):
        """It ends by itself when its stdin closes, or is ended."""
        self.process.stdin.close()
        try:
            return await asyncio.wait_for(self.process.wait(), 10)
        except asyncio.TimeoutError:
            self.process.kill()
            return await self.process.wait()


class Gateways(Program):
    """Answers in order."""

    _turn = None

    async def ask(self, **question):
        self._turn = self._turn or asyncio.Lock()
        async with self._turn:
            self.send(question)
            return await self.receive()


class Driver(Program):
    """Answers when a job is done."""

    def begin(self):
        self._jobs = itertools.count()
        self._waiting = {}
        self._reader = asyncio.create_task(self._read())

    async def _read(self):
        try:
            while True:
                answer = await self.receive()
                self._waiting.pop(answer["job"]).set_result(answer)
        except Exception as error:
            for waiting in self._waiting.values():
                waiting.set_exception(error)
            self._waiting = None

    async def ask(self, **job):
        if self._waiting is None:
            raise RuntimeError(f"{self.name} reads no more")
        number = next(self._jobs)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self.send({"job": number, **job})
        return await answer


class Run:
    def __init__(self, gateways, drivers):
        self.gateways = gateways
        self.drivers = drivers
        self.turns = {column.key: asyncio.Semaphore(AT_ONCE) for column in COLUMNS}

    async def call(self, column, name, calls=1, tools=False, timeout_ms=0):
        """What the driver says of the last of these calls on a gateway of their own."""
        place = await self.gateways.ask(start=name)
        try:
            answer = self.drivers[column.driver].ask(
                client=column.key,
                base_url=place["base_url"],
                api_key=place["api_key"],
                calls=calls,
                tools=tools,
                timeout_ms=timeout_ms,
                cut_ms=CUT_S * 1000,
            )
            said = await asyncio.wait_for(answer, calls * CUT_S + 20)
        except asyncio.TimeoutError:
            raise RuntimeError(f"the driver of {column.title} did not cut {name}") from None
        finally:
            await self.gateways.ask(stop=place["gateway"])
        if said["error"]:
            said["error"] = said["error"].replace(place["base_url"], "…/v1")
        return said

    async def cell(self, column, scenario, timeout_ms=0):
        """Runs one client through one scenario: what the driver said, with the verdict."""
        tools = bool(scenario["tool_calls"])
        job = self.call(column, scenario["name"], scenario["calls"], tools, timeout_ms)
        if scenario["needs_timeout"]:
            said = await job
        else:
            async with self.turns[column.key]:
                said = await job
        verdict = await self.gateways.ask(judge=scenario["name"], outcome=said["outcome"])
        return {**said, **verdict}

    async def control(self, column, what):
        said = await self.call(column, "", tools=what == "tool call")
        outcome = said["outcome"]
        calls = [{**call, "arguments": json.loads(call["arguments"])} for call in outcome["tool_calls"]]
        got = {"text": outcome["text"], "tool_calls": calls}
        if outcome["error"] or outcome["hung"] or got != CONTROLS[what]:
            raise RuntimeError(f"{column.title} on a gateway in good order, {what}: {said}")


async def run_all(gateways_program, only, log):
    gateways = await Gateways.start(gateways_program, log=log)
    scenarios = await gateways.receive()
    if only:
        scenarios = [one for one in scenarios if one["name"] in only]
    drivers = {
        "node": await Driver.start("node", str(CLIENTS / "node" / "catalogue_clients.mjs"), log=log),
        "python": await Driver.start(sys.executable, str(CLIENTS / "python" / "catalogue_clients.py"), log=log),
    }
    for driver in drivers.values():
        driver.begin()
    run = Run(gateways, drivers)
    try:
        # Also loads what the SDKs load lazily, before a call's time is taken.
        await asyncio.gather(*(run.control(column, what) for column in COLUMNS for what in CONTROLS))
        endless_first = sorted(scenarios, key=lambda scenario: not scenario["needs_timeout"])
        jobs = {
            (scenario["name"], column.key, timeout_ms): run.cell(column, scenario, timeout_ms)
            for timeout_ms in (TIMEOUT_S * 1000, 0)
            for scenario in endless_first
            for column in COLUMNS
            if (column.streams or not scenario["needs_stream"]) and (scenario["needs_timeout"] or not timeout_ms)
        }
        cells = dict(zip(jobs, await asyncio.gather(*jobs.values())))
    finally:
        for driver in drivers.values():
            await driver.stop()
        status = await gateways.stop()
    if status != 0:
        raise RuntimeError(f"the gateways ended with status {status}")
    return scenarios, cells


# --- What is written --------------------------------------------------------------------------------------------------


def kind_of(cell):
    return IN_CALLER if cell["in_caller"] and cell["kind"] == "error surfaced" else MARKS[cell["kind"]]


def mark(cell):
    if cell is None:
        return "–"
    kind = kind_of(cell)
    return kind if cell["acceptable"] else f"**{kind}**"


def excerpt(text, most=60):
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def code(text):
    """As code in Markdown, on one line."""
    text = text.replace("\r", "␍").replace("\n", "␊").replace("`", "'")
    return f"`{text}`"


def said(outcome):
    parts = []
    if outcome["text"]:
        parts.append(f"the text {code(excerpt(outcome['text']))}")
    for call in outcome["tool_calls"]:
        parts.append(f"the call {code(excerpt('%s(%s)' % (call.get('name') or '', call['arguments'])))}")
    return " and ".join(parts) or "nothing"


def what_happened(scenario, cell):
    outcome = cell["outcome"]
    whole = outcome["text"] == scenario["text"] and bool(outcome["text"] or outcome["tool_calls"])
    got = "the whole answer" if whole and not scenario["tool_calls"] else said(outcome)
    if cell["kind"] == "hang":
        return f"cut after {CUT_S} s, with {got}"
    where = ", in the caller's own code" if cell["in_caller"] else ""
    error = code(excerpt(cell["error"].splitlines()[0], 120)) + where if outcome["error"] else ""
    if cell["kind"] == "error surfaced":
        return error
    return f"{got}, then {error}" if error else f"{got}, and no error"


def markdown_row(cells):
    return "| " + " | ".join(cells) + " |"


def markdown_table(head, rows):
    return [markdown_row(head), "|" + " --- |" * len(head), *map(markdown_row, rows)]


def versions():
    """The clients' pinned versions, by the beginning of their columns' keys."""
    node = json.loads((CLIENTS / "node" / "package.json").read_text())["dependencies"]
    python = dict(line.split("==") for line in (CLIENTS / "python" / "requirements.txt").read_text().split())
    return {
        "openai": f"openai {node['openai']} for Node",
        "ai": f"ai {node['ai']}, @ai-sdk/openai-compatible {node['@ai-sdk/openai-compatible']}",
        "python": f"openai {python['openai']} for Python",
    }


def runtimes():
    """What runs the clients, as far as it may change what they do."""
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    python = ".".join(platform.python_version_tuple()[:2])
    return f"They ran on Node {node[1:].split('.')[0]} and Python {python}."


def render(scenarios, cells):
    """The file's lines, and for each scenario those that are about it."""
    of = versions()
    lines = [
        "# The catalogue against real clients",
        "",
        "What the callers of real clients get when the gateway behaves as each scenario of the catalogue does. Written by",
        "`tests/clients/catalogue/table.sh`, which the tests compare with this file; not edited by hand.",
        "",
        *markdown_table(
            ["column", "client", "call"],
            [[column.title, of[column.key.split("_")[0]], column.calls] for column in COLUMNS],
        ),
        "",
        runtimes(),
        "",
        "Clients have the settings that they have by default, retries included, and their answers are read as their",
        "documentation shows, the finish_reason included; tools are strict. Every call has a gateway of its own.",
        f"A call that has not ended after {CUT_S} s, longer than any client's usual retries take, is cut.",
        "",
        "- ok: the whole answer, and no error",
        "- error: the caller was told of an error, after the client's own retries where it makes them, or was given a",
        "  finish_reason that says as much; and was shown nothing before it that nobody said",
        f"- {IN_CALLER}: the client reported nothing, and the caller's code failed on what it was given",
        "- LOSS: no error, and something is missing, or a failure was taken for an answer",
        "- WRONG: something is there that nobody said, with an error or without",
        "- HANG: had to be cut",
        "- –: no call, because the scenario shows in streams only",
        "",
        "**Bold** is not what a good client does; what happened there is said below the tables.",
    ]
    about = {scenario["name"]: [] for scenario in scenarios}

    def rows(some, timeout_ms):
        for scenario in some:
            row = markdown_row(
                [
                    f"`{scenario['name']}`",
                    scenario["expected"],
                    *(mark(cells.get((scenario["name"], column.key, timeout_ms))) for column in COLUMNS),
                ]
            )
            about[scenario["name"]].append(row)
            yield row

    head = ["scenario", "expected", *(column.title for column in COLUMNS)]
    rule = "|" + " --- |" * len(head)

    for group, of_group in itertools.groupby(scenarios, lambda scenario: scenario["group"]):
        lines += ["", f"## {group[0].upper()}{group[1:]}", "", markdown_row(head), rule, *rows(of_group, 0)]

    lines += ["", "## Totals", ""]
    columns = [[cell for key, cell in cells.items() if key[1:] == (column.key, 0)] for column in COLUMNS]
    lines += markdown_table(
        ["", *(column.title for column in COLUMNS)],
        [
            ["calls", *(str(len(column)) for column in columns)],
            *([kind, *(str(sum(kind_of(cell) == kind for cell in column)) for column in columns)] for kind in KINDS),
            ["**not as a good client**", *(str(sum(not cell["acceptable"] for cell in column)) for column in columns)],
        ],
    )

    endless = [scenario for scenario in scenarios if scenario["needs_timeout"]]
    if endless:
        lines += [
            "",
            f"## With a timeout of {TIMEOUT_S} s",
            "",
            "Where a client without a timeout of its own may wait for very long, once more with the setting `timeout`. By",
            "default the openai SDKs give up after ten minutes, and the AI SDK when Node's fetch does.",
            "",
            markdown_row(head),
            rule,
            *rows(endless, TIMEOUT_S * 1000),
        ]

    lines += ["", "## What happened", ""]
    for scenario in scenarios:
        happened = collections.defaultdict(list)
        for timeout_ms in (0, TIMEOUT_S * 1000):
            for column in COLUMNS:
                cell = cells.get((scenario["name"], column.key, timeout_ms))
                if cell and not cell["acceptable"]:
                    title = column.title + (f" with a timeout of {TIMEOUT_S} s" if timeout_ms else "")
                    happened[kind_of(cell), what_happened(scenario, cell)].append(title)
        if not happened:
            continue
        block = [f"- `{scenario['name']}` {scenario['description']}. A good client {scenario['good_client']}."]
        for (kind, what), titles in happened.items():
            block.append(f"  - {kind}, {', '.join(titles)}: {what}")
        lines += block
        about[scenario["name"]] += block
    return lines, about


# --- Comparing --------------------------------------------------------------------------------------------------------


def write_junit(path, about, old, lines, other_runtimes):
    """A test per scenario, and one for what else is in the file."""
    suite = ET.Element("testsuite", name="catalogue")
    known = set(old)
    missing = {f"{name}: real clients do as the table says": set(block) - known for name, block in about.items()}
    missing["the table is as it would be written now"] = set() if old == lines else set(lines) ^ known or {"the order"}
    for name, different in missing.items():
        case = ET.SubElement(suite, "testcase", classname="catalogue", name=name)
        if other_runtimes:
            ET.SubElement(case, "skipped", message="the table was made with another Node or Python")
        elif different:
            ET.SubElement(case, "failure", message="not as in TABLE.md").text = "\n".join(sorted(different))
    ET.ElementTree(suite).write(path, encoding="unicode", xml_declaration=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gateways", help="the program made from gateways.cpp")
    parser.add_argument("--check", action="store_true", help="compare with TABLE.md, and change nothing")
    parser.add_argument("--junit", help="with --check: a test per scenario")
    parser.add_argument("--only", action="append", help="print the table of this scenario; repeatable")
    arguments = parser.parse_args()

    started = time.monotonic()
    with tempfile.TemporaryFile() as log:  # SDKs print much of what the scenarios do
        try:
            scenarios, cells = asyncio.run(run_all(arguments.gateways, arguments.only, log))
        except BaseException:
            log.seek(0)
            sys.stderr.write(log.read().decode(errors="replace"))
            raise
    lines, about = render(scenarios, cells)
    print(f"{len(cells)} cells in {time.monotonic() - started:.0f} s", file=sys.stderr)

    if arguments.only:
        print("\n".join(lines))
        return 0
    if not arguments.check:
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return 0
    old = TABLE.read_text(encoding="utf-8").splitlines()
    difference = list(difflib.unified_diff(old, lines, "TABLE.md", "now", lineterm=""))
    print("\n".join(difference))
    other_runtimes = runtimes() not in old
    if arguments.junit:
        write_junit(arguments.junit, about, old, lines, other_runtimes)
    if other_runtimes:
        print("TABLE.md was made with another Node or Python: the difference is not judged")
        return 0
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
