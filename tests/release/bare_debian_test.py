"""Installs each package of a release on a bare Debian with its users' package manager, and sends the program a request.

Usage: bare_debian_test.py FOLDER VERSION [CLASS…]. FOLDER contains the packages that tools/release/packages.sh made for
this machine. The bare Debian has pip or npm, and no compiler. bare_debian.sh creates it; a test is skipped if it
cannot.
"""

import pathlib
import shutil
import subprocess
import sys
import time
import unittest

from package_test import DEB, NPM, VERSION_LINE, WHEEL, Installed, ran

BARE_DEBIAN = pathlib.Path(__file__).with_name("bare_debian.sh")
MOST_SECONDS = 60


class Bare(Installed):
    """The base class: one Debian for all tests of a package, with these Debian packages and their dependencies."""

    needs = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.root = cls.folder / "debian"
        made = subprocess.run([BARE_DEBIAN, cls.root, *cls.needs], stderr=subprocess.PIPE, text=True, check=False)
        if made.returncode == 77:
            raise unittest.SkipTest(made.stderr)
        made.check_returncode()
        (cls.root / "packages").mkdir()
        for file in (WHEEL, DEB, *NPM):
            shutil.copy2(file, cls.root / "packages")
        cls.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}

    def setUp(self):
        for compiler in "cc", "gcc", "c++", "g++", "clang", "tcc":
            self.assertEqual(ran("chroot", self.root, "sh", "-c", f"command -v {compiler} || :", env=self.environment), "")

    def inside(self, *command):
        return ran("chroot", self.root, *command, env=self.environment)

    def asks(self, began, program):
        self.assertEqual(self.inside(program, "--version").strip(), VERSION_LINE)
        # The address is this machine's own, so the client can run outside. chroot is replaced by the program.
        self.first_answer(["chroot", self.root, program], began)
        self.assertLess(time.monotonic() - began, MOST_SECONDS)


class Pip(Bare):
    needs = "python3-pip", "python3-venv"

    def test_one_command_installs_the_program(self):
        began = time.monotonic()
        self.inside("python3", "-m", "venv", "/venv")
        self.inside("/venv/bin/pip", "install", "--quiet", "--no-index", f"/packages/{WHEEL.name}")
        self.asks(began, "/venv/bin/mock-gateway")


class Npx(Bare):
    needs = "npm",

    def test_one_command_installs_the_program(self):
        began = time.monotonic()
        self.inside("sh", "-c", "mkdir /app && cd /app && npm install --silent --offline --no-audit --no-fund "
                    + " ".join(f"/packages/{file.name}" for file in NPM))
        self.assertEqual(self.inside("sh", "-c", "cd /app && npx --no-install mock-gateway --version").strip(), VERSION_LINE)
        self.asks(began, "/app/node_modules/.bin/mock-gateway")


class Dpkg(Bare):
    def test_one_command_installs_the_program(self):
        began = time.monotonic()
        self.inside("dpkg", "--install", f"/packages/{DEB.name}")
        self.asks(began, "/usr/bin/mock-gateway")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
