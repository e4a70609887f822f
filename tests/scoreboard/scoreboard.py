"""Installs and runs the clients of clients.json, and writes the results with pages.py. See scoreboard.sh."""

import argparse
import collections
import concurrent.futures
import datetime
import functools
import json
import platform
import shutil
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path

import pages

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DRIVERS = ROOT / "examples" / "check"
BUILD = ROOT / "build" / "scoreboard"
# Longer than most clients' default retries, especially the AI SDK's 2 s and 4 s. Clients that need more have their own
# timeout in clients.json. After 120 s the gateways end held replies, and a hang would look like an error.
TIMEOUT = "12s"
# Clients that share packages must not install them in parallel: one lock per folder of packages.
INSTALLING = collections.defaultdict(threading.Lock)
# The number of parallel clients. They mostly wait, and `check` needs little CPU time.
JOBS = 3


# --- Installing -------------------------------------------------------------------------------------------------------


def execute(*command, folder=None):
    """Returns the output of the command. Raises RuntimeError with the end of its stderr if it fails."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise RuntimeError(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command[:3]))} … failed: {done.stderr.strip()[-2000:]}")
    return done.stdout


class Environment:
    """The folder where a client's packages are installed, and the command that starts its driver there."""

    def __init__(self, client):
        self.driver = DRIVERS / client["driver"]
        self.folder = BUILD / "packages" / client.get("packages", client["name"])
        locks = HERE / "packages" / client.get("packages", client["name"])
        self.locks = sorted(locks.iterdir()) if locks.is_dir() else []
        self.files = self.locks

    def prepare(self):
        """Installs the packages, unless that has succeeded with exactly these files."""
        checksum = 0
        for file in self.files:
            checksum = zlib.crc32(file.read_bytes(), checksum)
        mark = self.folder / ".installed"
        if not mark.exists() or mark.read_text() != str(checksum):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            for file in self.locks:
                shutil.copy(file, self.folder)
            self.install()
            mark.write_text(str(checksum))
        self.ready()

    def install(self):
        pass

    def ready(self):
        pass


class Python(Environment):
    def install(self):
        execute(sys.executable, "-m", "venv", self.folder / "venv")
        pip = self.folder / "venv" / "bin" / "pip"
        execute(pip, "install", "--quiet", "--disable-pip-version-check", "-r", self.folder / "requirements.txt")

    def command(self):
        return [self.folder / "venv" / "bin" / "python", self.driver]

    @staticmethod
    def version():
        return ".".join(platform.python_version_tuple()[:2])


class Node(Environment):
    def install(self):
        execute("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", folder=self.folder)

    def ready(self):
        shutil.copy(self.driver, self.folder)  # Node looks for packages in the file's folder

    def command(self):
        return ["node", self.folder / self.driver.name]

    @staticmethod
    def version():
        return execute("node", "--version")[1:].split(".")[0]


class Go(Environment):
    def __init__(self, client):
        super().__init__(client)
        self.files = [*self.locks, self.driver]

    def install(self):
        execute("go", "build", "-o", "driver", shutil.copy(self.driver, self.folder), folder=self.folder)

    def command(self):
        return [self.folder / "driver"]

    @staticmethod
    def version():
        return ".".join(execute("go", "env", "GOVERSION").strip().removeprefix("go").split(".")[:2])


class Rust(Environment):
    def __init__(self, client):
        super().__init__(client)
        self.files = [*self.locks, self.driver]

    def install(self):
        (self.folder / "src").mkdir()
        shutil.copy(self.driver, self.folder / "src" / "main.rs")
        execute("cargo", "build", "--release", "--quiet", folder=self.folder)

    def command(self):
        return [self.folder / "target" / "release" / "driver"]

    @staticmethod
    def version():
        return ".".join(execute("rustc", "--version").split()[1].split(".")[:2])


class Java(Environment):
    def __init__(self, client):
        super().__init__(client)
        self.files = [*self.locks, self.driver]
        self.path = f"{self.folder / 'libs'}/*"

    def install(self):
        execute("mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libs", folder=self.folder)
        execute("javac", "-cp", self.path, "-d", "classes", self.driver, folder=self.folder)

    def command(self):
        return ["java", "-cp", f"{self.path}:{self.folder / 'classes'}", "Driver"]

    @staticmethod
    def version():
        return execute("javac", "--version").split()[1].split(".")[0]


class Cpp(Environment):
    """Uses the system's cpp-httplib and nlohmann/json."""

    def __init__(self, client):
        super().__init__(client)
        self.files = [self.driver]

    def install(self):
        flags = execute("pkg-config", "--cflags", "--libs", "cpp-httplib").split()
        execute("g++", "-std=c++17", self.driver, *flags, "-pthread", "-o", self.folder / "driver")

    def command(self):
        return [self.folder / "driver"]

    @staticmethod
    def version():
        return execute("g++", "-dumpversion").strip()


class Bash(Environment):
    def install(self):
        for tool in ("curl", "jq"):
            execute(tool, "--version")

    def command(self):
        return ["bash", self.driver]

    @staticmethod
    def version():
        return execute("bash", "-c", "echo ${BASH_VERSINFO[0]}").strip()


ENVIRONMENTS = {"Python": Python, "Node": Node, "Go": Go, "Java": Java, "Rust": Rust, "g++": Cpp, "Bash": Bash}


@functools.cache
def runtime(language):
    """The runtime of a language, as far as it may affect its clients."""
    return f"{language} {ENVIRONMENTS[language].version()}"


# --- Running ----------------------------------------------------------------------------------------------------------


def check_words(program, client, more):
    environment = ENVIRONMENTS[client["language"]](client)
    flags = [] if client.get("command") else ["--driver", "--tools"]
    return [
        *(program, "check", *flags, *client.get("flags", []), "--timeout", client.get("timeout", TIMEOUT), *more, "--"),
        *(*environment.command(), *client.get("arguments", [])),
    ]


def run_check(program, client, more):
    """Returns the exit code of check, 0 or 1, and its output. Raises RuntimeError if it could not run."""
    done = subprocess.run(check_words(program, client, more), capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"check ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.returncode, done.stdout


def report_of(program, client, more):
    """Returns the exit code of check, its output, and its report."""
    file = BUILD / f"{client['name']}.new"
    code, printed = run_check(program, client, [*more, "--report", f"json:{file}"])
    report = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    if client.get("command"):
        report["client"] = {"name": client["package"], "version": execute(client["package"], "--version").split()[1]}
    return code, printed, report


def run(program, client):
    """Writes the client's report, and data for the pages, to build/scoreboard."""
    _, _, report = report_of(program, client, [])
    report["runtime"] = runtime(client["language"])
    report["date"] = datetime.date.today().isoformat()
    file = BUILD / f"{client['name']}.json"
    file.write_text(json.dumps(report, ensure_ascii=False), encoding="utf-8")
    return report["conclusion"]


def show(program, words, client):
    """Prints the output of check. Returns whether there is no failure."""
    code, printed = run_check(program, client, words)
    print(printed, end="", flush=True)
    return code == 0


def baseline_of(client):
    return HERE / "baselines" / f"{client['name']}.txt"


def made_by(baseline):
    """The client's version and runtime of a baseline, from its first line."""
    first = baseline.read_text(encoding="utf-8").partition("\n")[0]
    version, _, language = first.removeprefix("# ").partition(" on ")
    return version, language


def compare(program, folder, client):
    """Whether the client's results equal its baseline. A client on another runtime is not judged."""
    baseline = baseline_of(client)
    junit = Path(folder, f"check-{client['name']}.xml")
    version, language = made_by(baseline)
    now = runtime(client["language"])
    if language != now:
        print(f"{client['name']}: its baseline was made on {language}, this is {now}: not judged")
        suite = ET.Element("testsuite", name=client["name"])
        case = ET.SubElement(suite, "testcase", classname=client["name"], name="as its baseline says")
        ET.SubElement(case, "skipped", message=f"the baseline was made on {language}")
        ET.ElementTree(suite).write(junit, encoding="unicode", xml_declaration=True)
        return True
    words = ["--baseline", baseline, "--report", "text", "--report", f"junit:{junit}"]
    code, printed, report = report_of(program, client, words)
    print(printed, end="")
    current = f"{client['package']} {report['client']['version']}"
    if version != current:
        print(f"{client['name']}: its baseline was made by {version}, this is {current}: --write-baselines rewrites it")
    return code == 0


def write_baseline(program, client):
    """Lets `check` write the baseline, then adds a first line with the client's version, which only the report has."""
    baseline = baseline_of(client)
    fresh = BUILD / f"{client['name']}.txt"
    fresh.unlink(missing_ok=True)
    _, _, report = report_of(program, client, ["--baseline", fresh, "--write-baseline"])
    head = f"# {client['package']} {report['client']['version']} on {runtime(client['language'])}\n"
    baseline.parent.mkdir(exist_ok=True)
    baseline.write_text(head + fresh.read_text(encoding="utf-8"), encoding="utf-8")
    fresh.unlink()
    return report["conclusion"]


def attempt(action, client):
    """Runs the action for one client, and says so. Returns None on failure, so that the others continue."""
    began = time.monotonic()
    try:
        environment = ENVIRONMENTS[client["language"]](client)
        with INSTALLING[environment.folder]:
            environment.prepare()
        installed = time.monotonic()
        result = action(client)
    except RuntimeError as error:
        print(f"{client['name']}: left out: {error}", file=sys.stderr, flush=True)
        return None
    took = f"{installed - began:.0f} s to install, {time.monotonic() - installed:.0f} s to run"
    print(f"{client['name']}: {took}{f': {result}' if isinstance(result, str) else ''}", file=sys.stderr, flush=True)
    return result


def attempt_all(action, clients, jobs):
    """Runs the action for several clients in parallel. The slowest start first."""
    order = sorted(clients, key=lambda one: -int(one.get("timeout", TIMEOUT).removesuffix("s")))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(functools.partial(attempt, action), order))


def write_pages(clients, program):
    scenarios = json.loads(execute(program, "scenarios", "--json"))
    reports = {}
    for client in clients:
        file = BUILD / f"{client['name']}.json"
        if file.exists():
            reports[client["name"]] = json.loads(file.read_text(encoding="utf-8"))
    notes = json.loads((HERE / "notes.json").read_text(encoding="utf-8"))
    board = pages.Board(clients, reports, scenarios, notes)
    for title, scenario in sorted(set(board.without_note())):
        print(f"notes.json does not say why {title} fails {scenario}", file=sys.stderr)
    docs = ROOT / "docs"
    (docs / "scoreboard.md").write_text(pages.markdown(board), encoding="utf-8")
    (docs / "scoreboard.html").write_text(pages.html(board), encoding="utf-8")
    badges = docs / "badges"
    badges.mkdir(exist_ok=True)
    for file in badges.glob("*.svg"):
        file.unlink()
    for one in board.entries:
        (badges / f"{one.name}.svg").write_text(pages.badge(one), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", help="mock-gateway")
    parser.add_argument("--only", action="append", metavar="CLIENT")
    parser.add_argument("--scenario", action="append", metavar="SCENARIO")
    parser.add_argument("--junit", metavar="FOLDER", default=BUILD)
    parser.add_argument("--jobs", metavar="N", type=int, default=JOBS)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true")
    mode.add_argument("--write-baselines", action="store_true")
    mode.add_argument("--render", action="store_true")
    arguments = parser.parse_args()

    clients = json.loads((HERE / "clients.json").read_text(encoding="utf-8"))
    unknown = set(arguments.only or []) - {one["name"] for one in clients}
    if unknown:
        parser.error(f"clients.json has no {', '.join(sorted(unknown))}")
    chosen = [one for one in clients if not arguments.only or one["name"] in arguments.only]
    without = [one["name"] for one in chosen if not baseline_of(one).exists()]
    if arguments.check and arguments.only and without:
        parser.error(f"--check: there is no baseline of {', '.join(without)}; --write-baselines --only CLIENT writes one")
    BUILD.mkdir(parents=True, exist_ok=True)
    program = arguments.program

    if arguments.scenario:
        words = [word for name in arguments.scenario for word in ("--only", name)]
        return 0 if all(attempt_all(functools.partial(show, program, words), chosen, arguments.jobs)) else 1
    if arguments.check or arguments.write_baselines:
        chosen = [one for one in chosen if baseline_of(one).exists() or (arguments.only and arguments.write_baselines)]
        action = functools.partial(compare, program, arguments.junit)
        if arguments.write_baselines:
            action = functools.partial(write_baseline, program)
        return 0 if all(attempt_all(action, chosen, arguments.jobs)) else 1
    left_out = False
    if not arguments.render:
        for client in chosen if not arguments.only else []:
            (BUILD / f"{client['name']}.json").unlink(missing_ok=True)
        left_out = None in attempt_all(functools.partial(run, program), chosen, arguments.jobs)
    write_pages(clients, program)
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(main())
