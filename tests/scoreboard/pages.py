"""Converts reports of `mock-gateway check` to pages: Markdown, HTML, and a badge for each client."""

import collections
import html as escaping
import itertools
import re

FORMS = ["plain", "streamed"]
KINDS = ["LOSS", "WRONG", "HANG", "CRASH", "ERROR", "finding"]
MEANING = {
    "LOSS": "the caller got no error, but something is missing, or a failure was treated as an answer",
    "WRONG": "the caller got content that the gateway did not send",
    "HANG": "the call did not end before its timeout",
    "CRASH": "the process ended, or returned no outcome",
    "ERROR": "the caller got an error although the whole answer was available",
    "finding": "the result is right, but the client made a mistake on the way",
}
LETTERS = {"LOSS": "L", "WRONG": "W", "HANG": "H", "CRASH": "C", "ERROR": "E", "finding": "f"}
NOTHING = "·"
SETTINGS = (
    "Each client runs with its default settings, including retries. The drivers in [examples/check](../examples/check) read "
    "answers as the client's documentation shows. The timeout of a call is 12 s, unless its client's row says otherwise. "
    "No client was made for such gateways: an app has to handle these failures itself."
)
CALLS = (
    "calls: judged calls, plain and streamed. right: calls with the whole answer, or with an error where that is right. "
    "told: right calls with an error"
)
LEFT_OUT = (
    "instructor is not listed: its calls need an object of the caller's schema, which these answers do not contain. This page "
    "does not include the session of mishaps, which `check` also plays."
)
# The minimum share of correct calls for each color of a badge.
COLORS = [(0.98, "#2da44e"), (0.94, "#6c9a1f"), (0.90, "#b08800"), (0.85, "#c96a1b"), (0.0, "#c0392b")]


class Cell:
    """One call: a scenario in one form, by one client."""

    def __init__(self, data, scenario):
        self.scenario = data["scenario"]
        self.form = data["form"]
        self.data = data
        self.whole = scenario
        self.judged = data["kind"] != "skipped"
        self.bad = self.judged and not data["good"] and not data["flaky"]
        self.errors = [one for one in data["findings"] if one["severity"] == "error"]

    @property
    def kind(self):
        """The entry of KINDS under which it counts; None if the call is correct."""
        if not self.bad:
            return None
        if self.data["kind"] == "error" and self.data["expected"] == "answer":
            return "ERROR"
        return self.data["kind"].upper() if self.data["kind"] not in ("ok", "error") else "finding"

    @property
    def happened(self):
        """What the caller saw, without parts that differ between runs."""
        if self.kind == "HANG":
            what = ["the call did not end before its timeout"]
        elif self.kind == "CRASH":
            what = [code(one_line(self.data["why"].partition(": ")[2] or self.data["why"], 160))]
        elif self.kind == "finding":
            what = []
        else:
            told = code(one_line(self.data["told"], 80)) if self.data["told"] else "no error"
            what = [told if self.kind == "ERROR" and not self.data["text"] else f"{self._got()}, and {told}"]
        findings = {one["code"]: one["message"] for one in self.errors}
        return "; ".join(what + [f"{code(name)}: {steady(message)}" for name, message in findings.items()])

    def _got(self):
        data, whole, parts = self.data, self.whole, []
        if data["text"]:
            complete = data["text"] == whole["text"] and not whole["tool_calls"]
            parts.append("the whole text" if complete else f"the text {code(one_line(data['text'], 60))}")
        for call in data["tool_calls"] or []:
            parts.append(f"the call {code(one_line('%s(%s)' % (call['name'], call['arguments']), 80))}")
        if not parts:
            parts.append("nothing")
        if self.kind in ("LOSS", "WRONG"):
            if data["finish_reason"]:
                parts.append(f"finish_reason {code(data['finish_reason'])}")
            if whole["usage"] and data["usage"] and data["usage"] != whole["usage"]:
                usage = [data["usage"].get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
                parts.append(f"usage {usage[0]} + {usage[1]} = {usage[2]}")
        return ", ".join(parts)


class Entry:
    """A client and its cells."""

    def __init__(self, client, report, scenarios):
        self.name = client["name"]
        self.title = client["title"]
        self.client = client
        self.calls = client["calls"]
        if "timeout" in client:
            self.calls += f"; timeout {client['timeout'].removesuffix('s')} s"
        self.version = report["client"]["version"]
        self.runtime = report["runtime"]
        self.date = report["date"]
        self.program = report["version"]
        self.remarks = report["remarks"]
        self.cells = {
            (one["scenario"], one["form"]): Cell(one, scenarios[one["scenario"]])
            for one in report["cells"]
            if one["scenario"] in scenarios
        }
        self.judged = sum(cell.judged for cell in self.cells.values())
        self.counts = collections.Counter(cell.kind for cell in self.cells.values() if cell.bad)
        self.right = self.judged - sum(self.counts.values())
        self.told = sum(cell.judged and not cell.bad and cell.data["kind"] == "error" for cell in self.cells.values())

    def of(self, scenario):
        """Its cells of a scenario, plain before streamed."""
        return [self.cells[scenario, form] for form in FORMS if (scenario, form) in self.cells]

    def skipped(self):
        """Its cells without a verdict, by reason."""
        found = collections.defaultdict(list)
        for cell in self.cells.values():
            if not cell.judged:
                found[cell.data["why"].partition(" (--")[0]].append(cell)
        return found


class Board:
    """All clients with a report. Notes explain cells; people who examined the cells wrote them."""

    def __init__(self, clients, reports, scenarios, notes=()):
        self.notes = notes
        by_name = {one["name"]: one for one in scenarios}
        self.scenarios = scenarios
        self.entries = [Entry(one, reports[one["name"]], by_name) for one in clients if one["name"] in reports]
        self.missing = [one["title"] for one in clients if one["name"] not in reports]

    def is_bad(self, scenario):
        return any(cell.bad for entry in self.entries for cell in entry.of(scenario["name"]))

    def bad_scenarios(self):
        """The scenarios that a client fails, by group."""
        return [one for one in self.scenarios if self.is_bad(one)]

    def good_scenarios(self):
        """The names of the other scenarios."""
        return [one["name"] for one in self.scenarios if not self.is_bad(one)]

    def happenings(self, scenario):
        """The failures: a list of (kind, what happened, clients). Clients with the same result share an entry."""
        found = collections.defaultdict(dict)
        for entry in self.entries:
            for cell in entry.of(scenario["name"]):
                if cell.bad:
                    found[cell.kind, cell.happened].setdefault(entry.title, []).append(cell.form)
        order = sorted(found.items(), key=lambda item: KINDS.index(item[0][0]))

        def named(who, forms):
            return who if scenario.get("needs_stream") else f"{who} ({' and '.join(forms)})"

        return [(kind, what, list(itertools.starmap(named, whom.items()))) for (kind, what), whom in order]

    def why(self, scenario):
        """The notes on a scenario: a list of (titles of the explained clients, note)."""
        name = scenario["name"]
        found = []
        for note in self.notes:
            entries = [one for one in self.entries if explains(note, name, one) and any(cell.bad for cell in one.of(name))]
            if entries:
                found.append(([one.title for one in entries], note["note"]))
        return found

    def without_note(self):
        """Cells with a loss, a wrong answer, a hang or a crash that no note explains: a list of (title, scenario)."""
        return [
            (entry.title, cell.scenario)
            for entry in self.entries
            for cell in entry.cells.values()
            if cell.kind in KINDS[:4] and not any(explains(note, cell.scenario, entry) for note in self.notes)
        ]

    def skipped(self):
        """Titles of clients with cells without a verdict, by reason and cells; many cells are given as a number."""
        found = collections.defaultdict(list)
        for entry in self.entries:
            for reason, cells in entry.skipped().items():
                names = ", ".join(f"`{cell.scenario}` {cell.form}" for cell in cells)
                found[reason, names if len(cells) <= 4 else f"{len(cells)} calls"].append(entry.title)
        return found

    def ran(self):
        """A sentence with the dates of the runs, the program and the runtimes."""
        if not self.entries:
            return "No client ran."
        dates = sorted({one.date for one in self.entries})
        when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        runtimes = list(dict.fromkeys(one.runtime for one in self.entries))
        return f"Run on {when}, with mock-gateway {self.entries[0].program} on {', '.join(runtimes)}."


def explains(note, scenario, entry):
    return scenario in note["scenarios"] and entry.name in note.get("clients", [entry.name])


# --- Texts ------------------------------------------------------------------------------------------------------------


def steady(text):
    """Removes parts that differ between runs: ports, memory addresses, times."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:…", text)
    text = re.sub(r"0x[0-9a-f]{6,}", "0x…", text)
    return re.sub(r"\b\d+\.\d+ s\b", "… s", text)


def one_line(text, most):
    """The same on one line and not too long."""
    text = steady(text).replace("\r", "␍").replace("\n", "␊")
    return text if len(text) <= most else f"{text[:most]}…"


def code(text):
    """Formats the text as Markdown code."""
    return "`" + text.replace("`", "'") + "`"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(head, rows):
    return [row(head), "|" + " --- |" * len(head), *map(row, rows)]


# --- Markdown ---------------------------------------------------------------------------------------------------------


def marks(entry, scenario):
    """The table's marks for a client in a scenario: letters of its plain call, then of its streamed call. Empty if both
    are correct."""
    cells = {cell.form: cell for cell in entry.of(scenario["name"])}
    if not any(cell.bad for cell in cells.values()):
        return ""
    shown = (cells.get(form) for form in FORMS)
    return "\N{NO-BREAK SPACE}".join(LETTERS[cell.kind] if cell and cell.bad else NOTHING for cell in shown)


def markdown(board):
    lines = [
        "# The scoreboard",
        "",
        "How real clients handle each scenario of [the catalogue](catalogue.md): the results of "
        "[`mock-gateway check`](check.md) on one page, [also as HTML](scoreboard.html). "
        "`tests/scoreboard/scoreboard.sh` installs the clients from their registries, runs them, and writes both pages.",
        "",
        f"{board.ran()} {SETTINGS}",
        "",
    ]
    lines += table(
        ["client", "version", "calls", "right", "told", *KINDS],
        [
            [one.title, one.version, str(one.judged), f"**{one.right}**", str(one.told), *(str(one.counts[kind]) for kind in KINDS)]
            for one in board.entries
        ],
    )
    lines += ["", f"- {CALLS}"]
    lines += [f"- {kind}, `{LETTERS[kind]}`: {MEANING[kind]}" for kind in KINDS]
    lines += ["", "## The clients", ""]
    lines += table(
        ["client", "called by its [driver](../examples/check)", "right"],
        [
            [
                f"{one.title}, [`{one.client['package']}`](../examples/check/{one.client['driver']}) on {one.runtime}",
                one.calls,
                f"![{one.right} of {one.judged}](badges/{one.name}.svg)",
            ]
            for one in board.entries
        ],
    )
    lines += [""] + paragraphs(board)
    lines += [
        "",
        "## Failures",
        "",
        f"A cell shows the plain call, then the streamed call, and links to the details. `{NOTHING}` means right, or not "
        "judged. In an empty cell this applies to both calls.",
        "",
        *table(
            ["scenario", *(one.title for one in board.entries)],
            [
                [f"[{one['name']}](#{one['name']})", *(linked(entry, one) for entry in board.entries)]
                for one in board.bad_scenarios()
            ],
        ),
        "",
        f"All clients pass {', '.join(f'`{name}`' for name in board.good_scenarios())}.",
        "",
        "## What happened, and why it matters",
    ]
    for group, members in itertools.groupby(board.bad_scenarios(), lambda one: one["group"]):
        lines += ["", f"### {group[0].upper()}{group[1:]}", ""]
        lines += [happened(board, one) for one in members]
    return "\n".join(lines) + "\n"


def paragraphs(board):
    """Paragraphs about clients and calls that are not in the tables."""
    said = []
    if board.missing:
        said.append(f"Not run: {', '.join(board.missing)}.")
    for (reason, cells), titles in board.skipped().items():
        said.append(f"Not judged for {', '.join(titles)}: {cells}, because {reason}.")
    return [" ".join([*said, LEFT_OUT])]


def linked(entry, scenario):
    text = marks(entry, scenario)
    return f"[{text}](#{scenario['name']})" if text else ""


def happened(board, scenario):
    """A list item: what the gateway does, the result, and why."""
    name = scenario["name"]
    parts = [f'<a id="{name}"></a>**{name}**: {story(scenario)}']
    parts += [f"{kind}: {'; '.join(f'{who}: {what}' for who, what in found)}" for kind, found in grouped(board, scenario)]
    parts += [f"Why{who}: {note}" for who, note in reasons(board, scenario)]
    return "- " + "<br>".join(parts)


def story(scenario):
    return f"the gateway {scenario['description']}. A good client {scenario['good_client']}. Seen in {scenario['reference']}."


def grouped(board, scenario):
    """The failures by kind: a list of (kind, list of (clients, what happened))."""
    found = itertools.groupby(board.happenings(scenario), lambda one: one[0])
    return [(kind, [(", ".join(whom), what) for _, what, whom in same]) for kind, same in found]


def reasons(board, scenario):
    """The notes: a list of (" in X, Y", note). The first text is empty if there is only one note."""
    notes = board.why(scenario)
    return [(f" in {', '.join(whom)}" if len(notes) > 1 else "", note) for whom, note in notes]


# --- HTML -------------------------------------------------------------------------------------------------------------

STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #c0392b; --soft: #8881; --link: #2f6fd0; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a7a; --link: #7fb0ff; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1.5rem; max-width: 90rem; }
a { color: var(--link); } .bad, .bad a { color: var(--bad); font-weight: 600; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: left; white-space: nowrap; }
thead th { vertical-align: bottom; } tbody th { font-weight: normal; }
.matrix tbody th { position: sticky; left: 0; background: Canvas; }
.long { white-space: normal; min-width: 20rem; } section:target { background: var(--soft); } code { font-size: 12px; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); padding: .3rem .5rem; } h3 { margin: .3rem 0; font-size: 15px; }
"""


def rich(text):
    """Converts Markdown's code to HTML."""
    parts = text.split("`")
    return "".join(f"<code>{escaping.escape(part)}</code>" if i % 2 else escaping.escape(part) for i, part in enumerate(parts))


def html(board):
    out = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>mock_gateway: the scoreboard</title><style>{STYLE}</style></head><body>",
        "<h1>The scoreboard</h1>",
        "<p>How real clients handle each scenario of mock_gateway's catalogue. "
        f"{escaping.escape(board.ran())} {unlinked(SETTINGS)}</p>",
        '<div class="scroll"><table><thead><tr><th>client<th>version<th>calls<th>right<th>told',
        *(f"<th>{kind}" for kind in KINDS),
        "<th>on<th>called by its driver</thead><tbody>",
    ]
    for one in board.entries:
        out.append(f"<tr><th>{escaping.escape(one.title)}<td>{escaping.escape(one.version)}<td>{one.judged}<td><b>{one.right}</b><td>{one.told}")
        out += [f'<td{" class=bad" if one.counts[kind] else ""}>{one.counts[kind]}' for kind in KINDS]
        out.append(f"<td>{one.runtime}<td class=long>{rich(one.calls)}")
    out.append("</tbody></table></div><ul><li>" + CALLS)
    out += [f"<li>{kind}, {LETTERS[kind]}: {escaping.escape(MEANING[kind])}" for kind in KINDS]
    out.append("</ul>")
    out += [f"<p>{rich(text)}</p>" for text in paragraphs(board)]
    out.append("<h2>Failures</h2><p>A cell shows the plain call, then the streamed call, and links to the details. "
               f"{NOTHING} means right, or not judged.</p>")
    out.append('<div class="scroll"><table class="matrix"><thead><tr><th>scenario')
    out += [f"<th>{escaping.escape(one.title)}" for one in board.entries]
    out.append("</thead><tbody>")
    for scenario in board.bad_scenarios():
        name = scenario["name"]
        row_ = [f'<tr><th><a href="#{name}">{name}</a>']
        for one in board.entries:
            text = marks(one, scenario)
            row_.append(f'<td><a class="bad" href="#{name}">{text}</a>' if text else "<td>")
        out.append("".join(row_))
    good = ", ".join(f"<code>{name}</code>" for name in board.good_scenarios())
    out.append(f"</tbody></table></div><p>All clients pass {good}.</p><h2>What happened, and why it matters</h2>")
    for scenario in board.bad_scenarios():
        out.append(f'<section id="{scenario["name"]}"><h3>{scenario["name"]}</h3><p>{rich(sentence(story(scenario)))}</p><ul>')
        for kind, found in grouped(board, scenario):
            out += [f"<li><span class=bad>{kind}</span>, {escaping.escape(who)}: {rich(what)}" for who, what in found]
        out.append("</ul>")
        out += [f"<p>Why{escaping.escape(who)}: {rich(note)}</p>" for who, note in reasons(board, scenario)]
        out.append("</section>")
    out.append("</body></html>")
    return "\n".join(out) + "\n"


def sentence(text):
    return text[0].upper() + text[1:]


def unlinked(text):
    """Converts Markdown's code to HTML and removes its links."""
    return rich(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))


# --- Badges -----------------------------------------------------------------------------------------------------------


def badge(entry):
    """An image with the client's share of correct calls."""
    left, right = "mock_gateway check", f"{entry.right} of {entry.judged}"
    share = entry.right / entry.judged if entry.judged else 0
    color = next(color for least, color in COLORS if share >= least)
    a, b = (int(len(text) * 6.3) + 14 for text in (left, right))
    label = escaping.escape(f"{entry.title} {entry.version}: {right} calls right")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{a + b}" height="20" role="img" aria-label="{label}">\n'
        f"<title>{label}</title>\n"
        f'<rect width="{a + b}" height="20" rx="3" fill="#555"/>\n'
        f'<path fill="{color}" d="M{a} 0h{b - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{a}z"/>\n'
        f'<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f'<text x="{a / 2}" y="14" textLength="{a - 12}">{left}</text>\n'
        f'<text x="{a + b / 2}" y="14" textLength="{b - 12}">{right}</text>\n'
        "</g>\n</svg>\n"
    )
