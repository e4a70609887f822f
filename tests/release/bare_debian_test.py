"""What a release is on a Debian with nothing on it: each package, from nothing to the first answer.

Usage: bare_debian_test.py FOLDER VERSION [CLASS…], of what tools/release/packages.sh made for this machine. Makes that
Debian by mmdebstrap, of the mirror and the release that this machine's apt has, and works in it by chroot, which root
alone may. Of each package's own tool what its user would have is there: pip or npm, and never a compiler. Exit status: 0, 1,
or 77 when such a Debian cannot be had.
"""

import shutil
import subprocess
import sys
import time
import unittest

from package_test import DEB, NPM, VERSION_LINE, WHEEL, Installed, ran

MOST_SECONDS = 60


def mirror():
    """The release, and the address of its archive; nothing where apt knows none."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)"],
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    suite = ran("sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME").strip()
    return next(((suite, address) for release, component, address in (line.split() for line in listed.splitlines())
                 if (release, component) == (suite, "main")), None)


class Bare(Installed):
    """The base: a Debian for all tests of a package, with these packages of Debian and what they cannot do without."""

    needs = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        suite, address = mirror()
        cls.root = cls.folder / "debian"
        include = [f"--include={','.join(cls.needs)}"] if cls.needs else []
        ran("mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", *include,
            "--aptopt=APT::Install-Recommends false", suite, cls.root, address)
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
        # The address is this machine's own, so that whoever asks need not be inside. chroot becomes the program.
        self.first_answer(["chroot", self.root, program], began)
        self.assertLess(time.monotonic() - began, MOST_SECONDS)


class Pip(Bare):
    needs = "python3-pip", "python3-venv"

    def test_it_is_there_with_one_word(self):
        began = time.monotonic()
        self.inside("python3", "-m", "venv", "/venv")
        self.inside("/venv/bin/pip", "install", "--quiet", "--no-index", f"/packages/{WHEEL.name}")
        self.asks(began, "/venv/bin/mock-gateway")


class Npx(Bare):
    needs = "npm",

    def test_it_is_there_with_one_word(self):
        began = time.monotonic()
        self.inside("sh", "-c", "mkdir /app && cd /app && npm install --silent --offline --no-audit --no-fund "
                    + " ".join(f"/packages/{file.name}" for file in NPM))
        self.assertEqual(self.inside("sh", "-c", "cd /app && npx --no-install mock-gateway --version").strip(), VERSION_LINE)
        self.asks(began, "/app/node_modules/.bin/mock-gateway")


class Dpkg(Bare):
    def test_it_is_there_with_one_word(self):
        began = time.monotonic()
        self.inside("dpkg", "--install", f"/packages/{DEB.name}")
        self.asks(began, "/usr/bin/mock-gateway")


if __name__ == "__main__":
    if not shutil.which("mmdebstrap"):
        sys.exit("bare_debian_test.py: mmdebstrap is missing (Debian: mmdebstrap)")
    if not shutil.which("apt-get") or mirror() is None:
        print("bare_debian_test.py: this machine's apt knows no Debian: skipped")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
