"""Writes reports of `mock-gateway check` as pages: Markdown, HTML, and a badge for each client."""

import collections
import html as escaping
import itertools
import re

FORMS = ["plain", "streamed"]
KINDS = ["LOSS", "WRONG", "HANG", "CRASH", "ERROR", "finding"]
MEANING = {
    "LOSS": "the caller was told of no error, and something is missing, or a failure was taken for an answer",
    "WRONG": "the caller got something that nobody said",
    "HANG": "the call had not ended when it was cut",
    "CRASH": "the process ended, or gave no outcome",
    "ERROR": "the caller was told of an error, where the whole answer was to be had",
    "finding": "the caller is right, but the client did on its way what it should not",
}
# From what share of right calls on a badge has a color.
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
        """Under which of KINDS it is counted. None: it is right."""
        if not self.bad:
            return None
        if self.data["kind"] == "error" and self.data["expected"] == "answer":
            return "ERROR"
        return self.data["kind"].upper() if self.data["kind"] not in ("ok", "error") else "finding"

    @property
    def mark(self):
        """As `check` prints it."""
        if not self.judged:
            return "?"
        kind = self.kind if self.kind in MEANING and self.kind != "finding" else self.data["kind"]
        return kind + ("!" if self.bad and self.errors else "")

    @property
    def happened(self):
        """What the caller saw, without what differs from run to run."""
        if self.kind == "HANG":
            what = ["it had not ended when it was cut"]
        elif self.kind == "CRASH":
            what = [code(one_line(self.data["why"].partition(": ")[2] or self.data["why"], 160))]
        elif self.kind == "finding":
            what = []
        else:
            what = [self._got() + (f", and {code(one_line(self.data['told'], 120))}" if self.data["told"] else ", and no error")]
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

    def of(self, scenario):
        """Its cells of a scenario, plain before streamed."""
        return [self.cells[scenario, form] for form in FORMS if (scenario, form) in self.cells]

    def bad(self, kind):
        """Scenarios in which it has this kind, in the order of the catalogue."""
        return list(dict.fromkeys(cell.scenario for cell in self.cells.values() if cell.kind == kind))


class Board:
    """All clients that have a report. Notes say why: what a person found who looked at the cells."""

    def __init__(self, clients, reports, scenarios, notes=()):
        self.notes = notes
        by_name = {one["name"]: one for one in scenarios}
        self.scenarios = scenarios
        self.entries = [Entry(one, reports[one["name"]], by_name) for one in clients if one["name"] in reports]
        self.missing = [one["title"] for one in clients if one["name"] not in reports]

    def groups(self):
        return itertools.groupby(self.scenarios, lambda one: one["group"])

    def is_bad(self, scenario):
        return any(cell.bad for entry in self.entries for cell in entry.of(scenario["name"]))

    def happenings(self, scenario):
        """What is bad: a list of (kind, what happened, to whom). Who saw the same stands together."""
        found = collections.defaultdict(dict)
        for entry in self.entries:
            for cell in entry.of(scenario["name"]):
                if cell.bad:
                    found[cell.kind, cell.happened].setdefault(entry.title, []).append(cell.form)
        order = sorted(found.items(), key=lambda item: KINDS.index(item[0][0]))
        return [(kind, what, [f"{who} ({' and '.join(forms)})" for who, forms in whom.items()]) for (kind, what), whom in order]

    def why(self, scenario):
        """The notes on a scenario: a list of (titles of the clients that they explain, note)."""
        name = scenario["name"]
        found = []
        for note in self.notes:
            entries = [one for one in self.entries if explains(note, name, one) and any(cell.bad for cell in one.of(name))]
            if entries:
                found.append(([one.title for one in entries], note["note"]))
        return found

    def without_note(self):
        """Cells that are a loss, wrong, a hang or a crash, which no note explains: a list of (title, scenario)."""
        return [
            (entry.title, cell.scenario)
            for entry in self.entries
            for cell in entry.cells.values()
            if cell.kind in KINDS[:4] and not any(explains(note, cell.scenario, entry) for note in self.notes)
        ]

    def ran(self):
        """When, and on what."""
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
    """Without what differs from run to run: ports, addresses in memory, moments."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:…", text)
    text = re.sub(r"0x[0-9a-f]{6,}", "0x…", text)
    return re.sub(r"\b\d+\.\d{3} s\b", "… s", text)


def one_line(text, most):
    """Steady, without line ends, and not too long."""
    text = steady(text).replace("\r", "␍").replace("\n", "␊")
    return text if len(text) <= most else f"{text[:most]}…"


def code(text):
    """As code in Markdown."""
    return "`" + text.replace("`", "'") + "`"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(head, rows):
    return [row(head), "|" + " --- |" * len(head), *map(row, rows)]


# --- Markdown ---------------------------------------------------------------------------------------------------------


def marks(entry, scenario, bad):
    """What a table has for a client in a scenario: its plain mark, then its streamed one. `bad` dresses the bad ones."""
    cells = {cell.form: cell for cell in entry.of(scenario["name"])}
    shown = [cells.get(form) for form in FORMS]
    return " · ".join("–" if cell is None else bad(cell) if cell.bad else cell.mark for cell in shown)


def linked(entry, scenario):
    """The same as a link to what happened, unless all is well."""
    text = marks(entry, scenario, lambda cell: f"**{cell.mark}**")
    return f"[{text}](#{scenario['name']})" if "**" in text else text


def markdown(board):
    lines = [
        "# The scoreboard",
        "",
        "What the callers of clients get when a gateway behaves as each scenario of [the catalogue](catalogue.md) does: what "
        "[`mock-gateway check`](check.md) says of each, on one page; every cell is [on the same page as HTML](scoreboard.html). "
        "`tests/scoreboard/scoreboard.sh` installs the clients from their registries, runs them, and writes both.",
        "",
        f"{board.ran()} Settings are those that each client has by default, its retries included. Answers are read as the "
        "client's documentation shows, by the drivers in [examples/check](../examples/check). A call that has not ended after "
        "12 s is cut. No client was made for such gateways: what stands here is what an app has to see to itself, until they "
        "do.",
        "",
    ]
    head = ["client", "version", "calls", "right", *KINDS]
    lines += table(
        head,
        [
            [f"[{one.title}](#{anchor(one.title)})", one.version, str(one.judged), f"**{one.right}**"]
            + [f"[{one.counts[kind]}](#{anchor(one.title)})" if one.counts[kind] else "0" for kind in KINDS]
            for one in board.entries
        ],
    )
    lines += ["", "- calls: those that were judged, plain and streamed. right: the answer, or an error where that is right"]
    lines += [f"- {kind}: {MEANING[kind]}" for kind in KINDS]
    if board.missing:
        lines += ["", f"Not run: {', '.join(board.missing)}."]
    lines += ["", "## The clients"]
    for entry in board.entries:
        lines += [
            "",
            f"### {entry.title}",
            "",
            f"![{entry.title}](badges/{entry.name}.svg)",
            "",
            f"`{entry.client['package']}` {entry.version} on {entry.runtime}: {entry.client['calls']}. "
            f"[Its driver](../examples/check/{entry.client['driver']}).",
        ]
        listed = [(kind, entry.bad(kind)) for kind in KINDS if entry.counts[kind]]
        if listed:
            lines.append("")
        for kind, names in listed:
            lines.append(f"- {kind}: " + ", ".join(f"[{name}](#{name})" for name in names))
        skipped = [cell for cell in entry.cells.values() if not cell.judged]
        if skipped:
            lines += ["", f"Not judged: {', '.join(f'`{cell.scenario}` {cell.form}' for cell in skipped)}."]
    lines += [
        "",
        "## The scenarios",
        "",
        "A cell has the call in one piece before the one that is streamed; `–` is not asked. Bold is not what a good client "
        "does, and leads to what happened. Scenarios that no client here fails stand below each table.",
    ]
    for group, members in board.groups():
        members = list(members)
        bad = [one for one in members if board.is_bad(one)]
        lines += ["", f"### {group[0].upper()}{group[1:]}"]
        if bad:
            lines += ["", *table(["scenario", "expected", *(one.title for one in board.entries)], [scenario_row(board, one) for one in bad])]
        good = [f"`{one['name']}`" for one in members if one not in bad]
        if good:
            lines += ["", f"Nobody fails {', '.join(good)}."]
    lines += ["", "## What happened, and why it matters"]
    for scenario in [one for one in board.scenarios if board.is_bad(one)]:
        lines += [
            "",
            f"### {scenario['name']}",
            "",
            f"The gateway {scenario['description']}. A good client {scenario['good_client']}. Seen in {scenario['reference']}.",
            "",
        ]
        lines += [f"- {kind}, {', '.join(whom)}: {what}" for kind, what, whom in board.happenings(scenario)]
        notes = board.why(scenario)
        lines += [""] if notes else []
        lines += [f"Why{', ' + ', '.join(whom) if len(notes) > 1 else ''}: {note}\n" for whom, note in notes]
        lines[-1] = lines[-1].rstrip("\n")
    return "\n".join(lines) + "\n"


def scenario_row(board, scenario):
    name = scenario["name"]
    return [f"[{name}](#{name})", scenario["expected"], *(linked(one, scenario) for one in board.entries)]


def anchor(title):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


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
section:target { background: var(--soft); } code { font-size: 12px; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); padding: .3rem .5rem; } h3 { margin: .3rem 0; font-size: 15px; }
"""


def rich(text):
    """Markdown's code as HTML."""
    parts = text.split("`")
    return "".join(f"<code>{escaping.escape(part)}</code>" if i % 2 else escaping.escape(part) for i, part in enumerate(parts))


def html(board):
    out = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>mock_gateway: the scoreboard</title><style>{STYLE}</style></head><body>",
        "<h1>The scoreboard</h1>",
        "<p>What the callers of clients get when a gateway behaves as each scenario of mock_gateway's catalogue does. "
        f"{escaping.escape(board.ran())} Clients have the settings that they have by default, retries included.</p>",
        '<div class="scroll"><table><thead><tr><th>client<th>version<th>calls<th>right',
        *(f'<th title="{escaping.escape(MEANING[kind])}">{kind}' for kind in KINDS),
        "</thead><tbody>",
    ]
    for one in board.entries:
        out.append(f'<tr><th><a href="#client-{one.name}">{escaping.escape(one.title)}</a>')
        out.append(f"<td>{escaping.escape(one.version)}<td>{one.judged}<td><b>{one.right}</b>")
        for kind in KINDS:
            shown = f'<a href="#client-{one.name}">{one.counts[kind]}</a>' if one.counts[kind] else "0"
            out.append(f'<td{" class=bad" if one.counts[kind] else ""}>{shown}')
    out.append("</tbody></table></div><ul>")
    out += [f"<li>{kind}: {escaping.escape(MEANING[kind])}" for kind in KINDS]
    out.append("</ul>")
    if board.missing:
        out.append(f"<p>Not run: {escaping.escape(', '.join(board.missing))}.</p>")
    out.append("<h2>The scenarios</h2><p>A cell has the call in one piece before the one that is streamed. What is not as a "
               "good client does leads to what happened.</p>")
    for group, members in board.groups():
        out.append(f'<h3>{group[0].upper()}{group[1:]}</h3><div class="scroll"><table class="matrix"><thead><tr><th>scenario<th>expected')
        out += [f"<th>{escaping.escape(one.title)}" for one in board.entries]
        out.append("</thead><tbody>")
        for scenario in members:
            name = scenario["name"]
            label = f'<a href="#{name}">{name}</a>' if board.is_bad(scenario) else name
            out.append(f"<tr><th>{label}<td>{scenario['expected']}")
            dress = lambda cell: f'<a class="bad" href="#{name}" title="{escaping.escape(cell.happened)}">{cell.mark}</a>'
            out += [f"<td>{marks(one, scenario, dress)}" for one in board.entries]
        out.append("</tbody></table></div>")
    out.append("<h2>The clients</h2>")
    for entry in board.entries:
        out.append(f'<section id="client-{entry.name}"><h3>{escaping.escape(entry.title)}</h3>')
        out.append(f"<p><code>{escaping.escape(entry.client['package'])}</code> {escaping.escape(entry.version)} on "
                   f"{entry.runtime}: {rich(entry.client['calls'])}.</p><ul>")
        for kind in KINDS:
            if entry.counts[kind]:
                links = ", ".join(f'<a href="#{name}">{name}</a>' for name in entry.bad(kind))
                out.append(f"<li>{kind}: {links}")
        out.append("</ul></section>")
    out.append("<h2>What happened, and why it matters</h2>")
    for scenario in [one for one in board.scenarios if board.is_bad(one)]:
        out.append(f'<section id="{scenario["name"]}"><h3>{scenario["name"]}</h3><p>The gateway {rich(scenario["description"])}. '
                   f"A good client {rich(scenario['good_client'])}. Seen in {escaping.escape(scenario['reference'])}.</p><ul>")
        out += [
            f"<li><span class=bad>{kind}</span>, {escaping.escape(', '.join(whom))}: {rich(what)}"
            for kind, what, whom in board.happenings(scenario)
        ]
        out.append("</ul>")
        notes = board.why(scenario)
        for whom, note in notes:
            out.append(f"<p>Why{escaping.escape(', ' + ', '.join(whom)) if len(notes) > 1 else ''}: {rich(note)}")
        out.append("</section>")
    out.append("</body></html>")
    return "\n".join(out) + "\n"


# --- Badges -----------------------------------------------------------------------------------------------------------


def badge(entry):
    """A small picture: how many of its calls are right."""
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
