"""Installs each package of a release like its user, in a new folder and without a compiler, and sends a request.

Usage: package_test.py FOLDER VERSION [CLASS…]; FOLDER is what tools/release/packages.sh made for this machine. Needs
Python with venv, Node with npm, dpkg, and the registries of Python and Node for the clients. Prints the time from the
start of the installation to the first response.
"""

import functools
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

import commands

FOLDER, VERSION = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
PROCESSOR = {"x86_64": "x86_64", "aarch64": "arm64"}[platform.machine()]
WHEEL = next(FOLDER.glob(f"mock_gateway-{VERSION}-*linux*_{platform.machine()}.whl"))
NPM = [FOLDER / f"mock-gateway-{VERSION}.tgz",
       FOLDER / f"mock-gateway-linux-{PROCESSOR.replace('x86_64', 'x64')}-{VERSION}.tgz"]
DEB = FOLDER / f"mock-gateway_{VERSION}_{PROCESSOR.replace('x86_64', 'amd64')}.deb"
VERSION_LINE = f"mock-gateway {VERSION}"
LIMIT = 180  # seconds; a timeout for tests that hang
ran = functools.partial(commands.ran, limit=LIMIT)


def snippet(page, language):
    """Returns the block of a README that is a test."""
    return re.search(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]


def has_go():
    if not shutil.which("go"):
        return False
    version = re.fullmatch(r"go1\.(\d+).*", ran("go", "env", "GOVERSION").strip())
    return version is not None and int(version[1]) >= 22


class Installed(unittest.TestCase):
    """The base class: a folder for all tests of a package, without this machine's settings, and no program on the
    PATH."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("OPENAI_", "MOCK_GATEWAY_", "PYTHON"))}
        folders = [each for each in kept["PATH"].split(os.pathsep) if not pathlib.Path(each, "mock-gateway").exists()]
        cls.environment = {**kept, "PATH": os.pathsep.join(folders), "HOME": str(cls.folder), "NO_COLOR": "1"}
        # Keeps the registries that this user has configured.
        cls.environment.setdefault("NPM_CONFIG_USERCONFIG", str(pathlib.Path.home() / ".npmrc"))
        for place in ".config/pip/pip.conf", ".pip/pip.conf":
            if (pathlib.Path.home() / place).exists():
                cls.environment.setdefault("PIP_CONFIG_FILE", str(pathlib.Path.home() / place))

    @classmethod
    def run_here(cls, *command, **options):
        return ran(*command, cwd=cls.folder, env=cls.environment, **options)

    def check_page_your_app(self, program):
        """Runs the tests of docs/your-app.md, in the shell and with the SDKs, with the package's program on the
        PATH."""
        if not (CHECKOUT / "build/clients/venv/.installed").exists():
            self.skipTest("tests/clients/prepare.sh has not installed the SDKs")
        self.run_here(sys.executable, CHECKOUT / "tests/readme/scripts_test.py", CHECKOUT, program, "docs/your-app.md")

    def first_answer(self, program, began, *words):
        """Starts the program, sends a request, prints the seconds since `began`, and ends the program with SIGTERM."""
        command = [*map(str, program), "serve", "--port", "0", "--print", "json", "--quiet", *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=self.folder, env=self.environment) as served:
            late = threading.Timer(LIMIT, served.kill)
            late.daemon = True  # a failed test does not wait for it
            late.start()
            try:
                about = json.loads(served.stdout.readline())
                request = urllib.request.Request(
                    about["base_url"].replace("0.0.0.0", "127.0.0.1") + "/chat/completions",
                    json.dumps({"model": "any", "messages": [{"role": "user", "content": "Hi"}]}).encode(),
                    {"Authorization": f"Bearer {about['api_key']}", "Content-Type": "application/json"})
                with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=LIMIT) as answer:
                    self.assertIn("choices", json.load(answer))
                print(f"{type(self).__name__}: {time.monotonic() - began:.1f} s to the first response", flush=True)
            finally:
                served.send_signal(signal.SIGTERM)
            self.assertEqual(served.stdout.read(), b"", "it printed more than one line")
            self.assertEqual(served.wait(), 0)
            late.cancel()


class Wheel(Installed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.began = time.monotonic()
        ran(sys.executable, "-m", "venv", cls.folder / "venv")
        cls.bin = cls.folder / "venv/bin"
        cls.run_here(cls.bin / "pip", "install", "--quiet", "--no-index", WHEEL)

    def test_one_command_installs_the_program(self):
        self.first_answer([self.bin / "mock-gateway"], self.began)
        self.assertEqual(self.run_here(self.bin / "mock-gateway", "--version").strip(), VERSION_LINE)

    def test_the_page_your_app_is_correct(self):
        self.check_page_your_app(self.bin / "mock-gateway")

    def test_its_fixture_needs_no_setup_and_finds_its_own_program(self):
        """Runs the test in its README with the SDK that it uses, and mypy on its types."""
        self.run_here(self.bin / "pip", "install", "--quiet", "--disable-pip-version-check",
                      *(f"--requirement={CHECKOUT / folder / 'requirements.txt'}"
                        for folder in ("tests/clients/python", "helpers/python")))
        test = self.folder / "test_app.py"
        test.write_text(snippet(CHECKOUT / "tools/release/python/README.md", "python"), encoding="utf-8")
        self.assertIn("1 passed", self.run_here(self.bin / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", test))
        typed = self.folder / "typed.py"
        typed.write_text("from mock_gateway import MockGateway\nMockGateway.start(flags=1)\n", encoding="utf-8")
        said = self.run_here(self.bin / "mypy", "--strict", typed, code=1)
        self.assertIn('Argument "flags" to "start" of "MockGateway" has incompatible type "int"', said)
        self.assertNotIn("missing library stubs", said)

    def test_an_older_pytest_runs_without_its_fixtures(self):
        """The plugin is loaded in each run of pytest in the environment."""
        ran(sys.executable, "-m", "venv", self.folder / "older")
        bin = self.folder / "older/bin"
        self.run_here(bin / "pip", "install", "--quiet", "--disable-pip-version-check", WHEEL, "pytest==7.2.1")
        test = self.folder / "test_of_its_own.py"
        test.write_text("def test_it(): pass\n", encoding="utf-8")
        self.assertIn("1 passed", self.run_here(bin / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", test))

    def test_tools_run_it_without_installing_it(self):
        ran(sys.executable, "-m", "venv", self.folder / "tools")
        tools = self.folder / "tools/bin"
        self.run_here(tools / "pip", "install", "--quiet", "--disable-pip-version-check", "pipx==1.18.4", "uv==0.13.9")
        self.assertIn(VERSION_LINE, self.run_here(tools / "pipx", "run", "--spec", WHEEL, "mock-gateway", "--version"))
        self.assertIn(VERSION_LINE, self.run_here(tools / "uvx", "--from", WHEEL, "mock-gateway", "--version"))

    def test_it_leaves_nothing_behind(self):
        ran(sys.executable, "-m", "venv", self.folder / "other")
        pip = self.folder / "other/bin/pip"
        before = sorted((self.folder / "other").rglob("*"))
        self.run_here(pip, "install", "--quiet", "--no-index", WHEEL)
        self.run_here(pip, "uninstall", "--quiet", "--yes", "mock-gateway")
        self.assertEqual([path for path in sorted((self.folder / "other").rglob("*")) if path not in before], [])


class Npm(Installed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.began = time.monotonic()
        (cls.folder / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
        cls.run_here("npm", "install", "--silent", "--no-audit", "--no-fund", *NPM)

    def test_one_command_installs_the_program(self):
        self.first_answer([self.folder / "node_modules/.bin/mock-gateway"], self.began)
        self.assertEqual(self.run_here("npx", "--no-install", "mock-gateway", "--version").strip(), VERSION_LINE)

    def test_the_page_your_app_is_correct(self):
        self.check_page_your_app(self.folder / "node_modules/.bin/mock-gateway")

    def test_it_contains_only_the_program_of_this_platform(self):
        programs = self.folder / "node_modules/@mock-gateway"
        self.assertEqual([each.name for each in programs.iterdir()], [f"linux-{PROCESSOR.replace('x86_64', 'x64')}"])

    def test_the_exit_code_is_the_programs(self):
        for command, code in ((["run", "--allow-refused", "--", "sh", "-c", "exit 7"], 7), (["serve", "--no-such-flag"], 2)):
            with self.subTest(command):
                self.run_here(self.folder / "node_modules/.bin/mock-gateway", *command, code=code)

    def test_its_helper_finds_its_own_program(self):
        """Runs the test in its README with the SDK that it uses."""
        versions = json.loads((CHECKOUT / "helpers/node/package.json").read_text(encoding="utf-8"))["devDependencies"]
        self.run_here("npm", "install", "--silent", "--no-audit", "--no-fund",
                      *(f"{name}@{versions[name]}" for name in ("openai", "typescript", "@types/node")))
        test = self.folder / "app.test.mjs"
        test.write_text(snippet(CHECKOUT / "tools/release/npm/README.md", "js"), encoding="utf-8")
        self.assertIn("# pass 1", self.run_here("node", "--test", "--test-reporter=tap", test))
        typed = self.folder / "typed.mts"
        typed.write_text("import { MockGateway } from 'mock-gateway';\nawait MockGateway.start({ flags: 1 });\n",
                         encoding="utf-8")
        said = self.run_here("npx", "--no-install", "tsc", "--noEmit", "--module", "nodenext", "--target", "es2022",
                             "--skipLibCheck", typed, code=2)
        self.assertIn("Type 'number' is not assignable to type 'readonly string[]'", said)

    def test_without_the_program_the_error_names_it(self):
        with tempfile.TemporaryDirectory() as folder:
            modules = pathlib.Path(folder, "node_modules")
            shutil.copytree(self.folder / "node_modules/mock-gateway", modules / "mock-gateway")
            said = ran("node", modules / "mock-gateway/run.mjs", "--version", code=2)
            self.assertRegex(said, r"^mock-gateway: there is no program for linux-\w+: the package @mock-gateway/linux-")


@unittest.skipUnless(has_go(), "there is no go 1.22 or newer")
class Go(Installed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        proxy = FOLDER / "go"
        cls.addClassCleanup(ran, "chmod", "-R", "u+w", cls.folder)  # the module cache is read-only
        cls.environment.update(GOPROXY=f"file://{proxy}", GONOSUMDB="*", GOFLAGS="-mod=mod", GOTOOLCHAIN="local")
        for name in "GOPATH", "GOMODCACHE", "GOCACHE", "XDG_CACHE_HOME":
            cls.environment.pop(name, None)
        cls.module = str(next(proxy.rglob("@v")).parent.relative_to(proxy))
        cls.began = time.monotonic()
        (cls.folder / "go.mod").write_text(f"module app\n\ngo 1.22\n\nrequire {cls.module} v{VERSION}\n", encoding="utf-8")

    def test_one_command_installs_the_program(self):
        self.run_here("go", "build", "-o", "it", f"{self.module}/cmd/mock-gateway")
        self.first_answer([self.folder / "it"], self.began)
        said = self.run_here("go", "run", f"{self.module}/cmd/mock-gateway@v{VERSION}", "--version")
        self.assertEqual(said.strip(), VERSION_LINE)

    def test_the_page_your_app_is_correct(self):
        self.run_here("go", "build", "-o", "bin/mock-gateway", f"{self.module}/cmd/mock-gateway")
        self.check_page_your_app(self.folder / "bin/mock-gateway")

    def test_its_helper_finds_its_own_program(self):
        (self.folder / "app_test.go").write_text(f"""package app

import (
	"net/http"
	"testing"

	mockgateway "{self.module}"
)

func TestModels(t *testing.T) {{
	server, err := mockgateway.StartServer()
	if err != nil {{
		t.Fatal(err)
	}}
	request, _ := http.NewRequest("GET", server.BaseURL+"/models", nil)
	request.Header.Set("Authorization", "Bearer "+server.APIKey)
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != 200 {{
		t.Fatal(answer, err)
	}}
	if err := server.Stop(); err != nil {{
		t.Fatal(err)
	}}
}}
""", encoding="utf-8")
        self.assertIn("ok", self.run_here("go", "test", "."))
        cached = self.folder / f".cache/mock-gateway-{os.getuid()}"
        written = list(cached.iterdir())
        self.assertEqual([(len(each.name), each.stat().st_mode & 0o777) for each in written], [(29, 0o755)])
        self.assertIn("ok", self.run_here("go", "test", "-count=1", "."), "the second time too")
        self.assertEqual(list(cached.iterdir()), written)
        written[0].write_bytes(b"#!/bin/sh\nexit 1\n".ljust(written[0].stat().st_size))
        self.assertIn("ok", self.run_here("go", "test", "-count=1", "."), "another's file is not run")


@unittest.skipUnless(os.geteuid() == 0, "dpkg installs for root alone")
class Debian(Installed):
    def test_one_command_installs_the_program(self):
        began = time.monotonic()
        for folder in ("updates", "info"):
            (self.folder / "var/lib/dpkg" / folder).mkdir(parents=True)
        (self.folder / "var/lib/dpkg/status").touch()
        self.run_here("dpkg", f"--root={self.folder}", "--install", DEB)
        self.first_answer([self.folder / "usr/bin/mock-gateway"], began)
        listed = self.run_here("dpkg-deb", "--field", DEB, "Version", "Architecture", "Depends")
        self.assertEqual(listed.split(), ["Version:", VERSION, "Architecture:", PROCESSOR.replace("x86_64", "amd64")])
        self.run_here("dpkg", f"--root={self.folder}", "--purge", "mock-gateway")
        self.assertEqual([str(path) for path in (self.folder / "usr").rglob("*") if path.is_file()], [])


@unittest.skipUnless(os.geteuid() == 0, "a root of one's own is for root alone")
class Container(Installed):
    """Without a container engine: runs what the Containerfile says in new namespaces."""

    def test_one_command_installs_the_program(self):
        said = (FOLDER / "Containerfile").read_text(encoding="utf-8")
        program = re.search(r"^ARG PROGRAM=(.*)$", said, re.MULTILINE)[1]
        if PROCESSOR not in program:
            self.skipTest("its program is for another processor")
        began = time.monotonic()
        image = self.folder / "image"
        image.mkdir()
        shutil.copy2(FOLDER / program, image / "mock-gateway")
        (image / "dev").mkdir()  # a container engine provides this device
        os.mknod(image / "dev/urandom", 0o444 | stat.S_IFCHR, os.makedev(1, 9))
        os.chmod(image / "dev/urandom", 0o444)
        user = re.search(r"^USER (\d+)$", said, re.MULTILINE)[1]
        entry = json.loads(re.search(r"^ENTRYPOINT (.*)$", said, re.MULTILINE)[1])
        command = json.loads(re.search(r"^CMD (.*)$", said, re.MULTILINE)[1])
        self.assertEqual(command[0], "serve")
        in_image = ["chroot", f"--userspec={user}:{user}", image, *entry]
        namespaces = ["unshare", "--fork", "--pid", "--mount", "--ipc", "--uts"]
        self.assertEqual(ran(*namespaces, *in_image, "--version").strip(), VERSION_LINE)
        # This machine's network takes the place of a published port. unshare would not forward the signal that ends the
        # program.
        self.first_answer(in_image, began, "--host", command[command.index("--host") + 1])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
