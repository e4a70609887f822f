"""Installs the C++ and Homebrew packages of a release as their package managers do, and sends requests.

Usage: cpp_packages_test.py FOLDER VERSION [CLASS…]; FOLDER is what tools/release/packages.sh made. Needs a compiler,
CMake and Ninja. Conan comes from Python's registry. The dependencies that it takes from Conan Center are packaged here,
from the headers of tests/matrix/fetch_httplib.sh and of the system. vcpkg and Homebrew are not available: stand-ins for
their functions run the port and the formula. Exit status: 0, 1, or 77 if nothing could be tested.
"""

import functools
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import commands

FOLDER, VERSION = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
HERE = CHECKOUT / "tests/release"
SOURCES = f"mock-gateway-cpp-{VERSION}"
SYSTEM_HEADERS = pathlib.Path("/usr/include")
LIMIT = 900  # seconds; a timeout for tests that hang
ran = functools.partial(commands.ran, limit=LIMIT)


@functools.cache
def httplib_folder():
    """The folder of the newest single header, or None if none is available."""
    headers = CHECKOUT / "build/httplib"
    done = subprocess.run([CHECKOUT / "tests/matrix/fetch_httplib.sh", headers], stdout=subprocess.PIPE, text=True)
    return headers / done.stdout.split()[-1] if done.returncode == 0 else None


class Installed(unittest.TestCase):
    """The base class: a folder for all tests of a package manager, the unpacked sources, and no settings of this
    machine."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.environment = {name: value for name, value in os.environ.items()
                           if not name.startswith(("CMAKE_", "CONAN_", "MOCK_GATEWAY_", "OPENAI_", "VCPKG_"))}
        with tarfile.open(FOLDER / f"{SOURCES}.tar.gz") as archive:
            archive.extractall(cls.folder)
        cls.recipe = cls.folder / SOURCES / "tools/release/conan"

    def setUp(self):
        if httplib_folder() is None:
            self.skipTest("there is no single header of cpp-httplib")
        if not (SYSTEM_HEADERS / "nlohmann/json.hpp").exists():
            self.skipTest("there is no nlohmann/json (on Debian: nlohmann-json3-dev)")

    @classmethod
    def run_here(cls, *command, **options):
        return ran(*command, cwd=cls.folder, env=cls.environment, **options)

    def assert_told(self, said, how):
        """Checks that a program of test_package, built this way and with the given header, got a response from a
        gateway of this version."""
        self.assertIn(f"mock_gateway {VERSION}{how}, cpp-httplib {httplib_folder().name}: Paris.", said)


class Conan(Installed):
    """Each test creates the package. Its test_package, a user's project, is compiled and run."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.missing = None
        cls.environment.update(CONAN_HOME=str(cls.folder / "conan"), HTTPLIB_FOLDER=str(httplib_folder()),
                               NLOHMANN_FOLDER=str(SYSTEM_HEADERS))
        ran(sys.executable, "-m", "venv", cls.folder / "venv")
        cls.bin = cls.folder / "venv/bin"
        installed = subprocess.run([cls.bin / "pip", "install", "--quiet", "--disable-pip-version-check", "conan==2.34.0"])
        if installed.returncode != 0:
            cls.missing = "conan cannot be had"
        elif httplib_folder() is not None:
            cls.conan("profile", "detect")
            cls.conan("remote", "remove", "*")
            for dependency in "cpp-httplib", "nlohmann_json":
                cls.conan("create", HERE / "conan" / dependency)

    def setUp(self):
        super().setUp()
        if self.missing:
            self.skipTest(self.missing)

    @classmethod
    def conan(cls, *words, **options):
        # Compiler optimization does not matter here.
        if words[0] == "create":
            words += ("--settings=build_type=Debug", "--conf=tools.build:cxxflags=['-g0']", "--conf=tools.build:jobs=1")
        return cls.run_here(cls.bin / "conan", *words, **options)

    @staticmethod
    def packaged(said):
        """Returns the identity of the package that `conan create` made, and its files."""
        identity, = re.findall(r"^Package '(\w+)' created$", said, re.MULTILINE)
        folder = pathlib.Path(re.search(r"^Package folder (.*)$", said, re.MULTILINE)[1])
        return identity, sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")
                                if path.is_file() and path.parent != folder)  # Conan's own files are at the top level

    def test_users_link_the_library_that_it_compiled(self):
        said = self.conan("create", self.recipe)
        self.assertIn(f"mock_gateway: cpp-httplib is {httplib_folder().name}, the package in {self.folder}", said)
        self.assert_told(said, ", compiled")
        self.assertEqual(self.packaged(said)[1], ["include/mock_gateway.hpp", "lib/libmock_gateway.a", "licenses/LICENSE"])

    def test_with_header_only_nothing_is_compiled_before_the_users_code(self):
        said = self.conan("create", self.recipe, "--options", "&:header_only=True")
        self.assert_told(said, " in the header")
        self.assertEqual(self.packaged(said)[1], ["include/mock_gateway.hpp", "licenses/LICENSE"])
        other = self.conan("create", self.recipe, "--options", "&:header_only=True", "--settings=os=Windows", "--test-folder=")
        self.assertEqual(self.packaged(other), self.packaged(said), "one package serves all settings")

    def test_older_standards_are_refused(self):
        said = self.conan("create", self.recipe, "--settings=compiler.cppstd=14", "--test-folder=", code=6)
        self.assertRegex(said, rf"mock-gateway/{re.escape(VERSION)}: Invalid: .*17")


# find_package for a package that vcpkg has installed.
CONFIG = """add_library({target} INTERFACE IMPORTED)
set_target_properties({target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${{CMAKE_CURRENT_LIST_DIR}}/../../include")
"""
CONFIG_VERSION = 'set(PACKAGE_VERSION "{version}")\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n'


class Vcpkg(Installed):
    port = FOLDER / "vcpkg/mock-gateway"

    def test_vcpkg_accepts_the_manifest(self):
        """By the schema of vcpkg's manifests: vcpkg rejects unknown keys."""
        manifest = json.loads((self.port / "vcpkg.json").read_text(encoding="utf-8"))
        self.assertLessEqual({key for key in manifest if not key.startswith("$")},
                             {"name", "version", "port-version", "maintainers", "summary", "description", "homepage",
                              "documentation", "license", "supports", "dependencies", "features", "default-features"})
        self.assertRegex(manifest["name"], r"^[a-z0-9]+(-[a-z0-9]+)*$")
        self.assertEqual((manifest["name"], manifest["version"]), (self.port.name, VERSION))
        for dependency in manifest["dependencies"]:
            about = {"name": dependency} if isinstance(dependency, str) else dependency
            with self.subTest(about["name"]):
                self.assertRegex(about["name"], r"^[a-z0-9]+(-[a-z0-9]+)*$")
                self.assertLessEqual(set(about), {"name", "host", "default-features", "features", "platform", "version>="})
        self.assertFalse([file for file in self.port.iterdir() if "@" in file.read_text(encoding="utf-8")])

    def test_users_link_the_installed_port(self):
        installed = self.folder / "installed"
        for package, target, version, headers in (
                ("httplib", "httplib::httplib", httplib_folder().name, httplib_folder()),
                ("nlohmann_json", "nlohmann_json::nlohmann_json", "3.11.0", SYSTEM_HEADERS)):
            share = installed / "share" / package
            share.mkdir(parents=True)
            (share / f"{package}Config.cmake").write_text(CONFIG.format(target=target), encoding="utf-8")
            (share / f"{package}ConfigVersion.cmake").write_text(CONFIG_VERSION.format(version=version), encoding="utf-8")
        (installed / "include").mkdir()
        shutil.copy2(httplib_folder() / "httplib.h", installed / "include")
        shutil.copytree(SYSTEM_HEADERS / "nlohmann", installed / "include/nlohmann")
        work = self.folder / "work"
        said = self.run_here("cmake", f"-DPORT_FOLDER={self.port}", f"-DDOWNLOADS={FOLDER}", f"-DWORK={work}",
                             f"-DINSTALLED={installed}", "-P", HERE / "vcpkg/install_port.cmake")
        self.assertIn(f"mock_gateway: cpp-httplib is {httplib_folder().name}, the package in {installed}", said)

        # What vcpkg checks after a build.
        packages = work / "packages"
        files = {path.relative_to(packages).as_posix() for path in packages.rglob("*") if path.is_file()}
        self.assertEqual({file for file in files if not file.startswith("share/mock_gateway/")},
                         {"include/mock_gateway.hpp", "lib/libmock_gateway.a", "debug/lib/libmock_gateway.a",
                          "share/mock-gateway/copyright", "share/mock-gateway/usage"})
        self.assertEqual([path for path in packages.rglob("*") if path.is_dir() and not any(path.iterdir())], [])
        for path in packages.rglob("share/**/*.cmake"):
            self.assertNotIn(str(self.folder), path.read_text(encoding="utf-8"), f"{path.name} has a path of the build")
        self.assertEqual((packages / "share/mock-gateway/copyright").read_text(encoding="utf-8"),
                         (CHECKOUT / "LICENSE").read_text(encoding="utf-8"))
        usage = (self.port / "usage").read_text(encoding="utf-8")
        for target in re.findall(r"mock_gateway::\w+", usage):
            self.assertIn(f"add_library({target} ", (packages / "share/mock_gateway/mock_gatewayTargets.cmake").read_text())
        self.assertIn("find_package(mock_gateway CONFIG REQUIRED)", usage)

        # A user's project with the package installed in another folder.
        shutil.rmtree(work)
        moved = installed.rename(self.folder / "moved")
        for build_type, library in ("Debug", "debug/lib"), ("Release", "lib"):
            with self.subTest(build_type):
                build = self.folder / build_type
                self.run_here("cmake", "-G", "Ninja", "-S", self.recipe / "test_package", "-B", build,
                              f"-DCMAKE_BUILD_TYPE={build_type}", f"-DCMAKE_PREFIX_PATH={moved}", "-DLINKED=mock_gateway",
                              "-DCMAKE_CXX_FLAGS=-g0", "-DCMAKE_CXX_FLAGS_RELEASE=-O0")
                said = self.run_here("cmake", "--build", build, "--verbose")
                self.assertIn(f" {moved}/{library}/libmock_gateway.a", said)
                self.assert_told(self.run_here(build / "asks"), ", compiled")


class Homebrew(unittest.TestCase):
    formula = FOLDER / "mock-gateway.rb"
    program = HERE / "formula.rb"

    def setUp(self):
        if not self.formula.exists():
            self.skipTest("there are not the programs of all platforms")
        subprocess.run([CHECKOUT / "cmake/ensure_packages.sh", "ruby"], stderr=subprocess.DEVNULL)
        if not shutil.which("ruby"):
            self.skipTest("ruby cannot be had")

    def test_each_platform_gets_its_program(self):
        self.assertEqual(ran("ruby", "-W:no-deprecated", "-wc", self.formula).strip(), "Syntax OK")
        for system, processor, target in (("macos", "arm", "macos-arm64"), ("macos", "intel", "macos-x86_64"),
                                          ("linux", "arm", "linux-arm64"), ("linux", "intel", "linux-x86_64")):
            with self.subTest(target):
                said = json.loads(ran("ruby", self.program, self.formula, system, processor))
                self.assertEqual((said["name"], said["version"], said["license"]), ("MockGateway", VERSION, "MIT"))
                self.assertEqual(said["macos"], "ventura" if system == "macos" else None)
                self.assertEqual(said["url"], f"{said['homepage']}/mock-gateway-{VERSION}-{target}")
                for url, sha256 in ((said["url"], said["sha256"]), *said["resources"]):
                    file = FOLDER / url.removeprefix(f"{said['homepage']}/")
                    self.assertEqual(hashlib.sha256(file.read_bytes()).hexdigest(), sha256, file.name)

    def test_it_installs_the_program_and_its_own_test_passes(self):
        processor = {"x86_64": "intel", "aarch64": "arm"}[platform.machine()]
        with tempfile.TemporaryDirectory() as folder:
            ran("ruby", self.program, self.formula, "linux", processor, folder, FOLDER)
            installed = pathlib.Path(folder)
            self.assertEqual(sorted(path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()),
                             ["bin/mock-gateway", "share/doc/mock-gateway/LICENSES-OF-OTHERS"])


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False).result
    nothing = result.testsRun > 0 and len(result.skipped) == result.testsRun
    sys.exit(1 if not result.wasSuccessful() else 77 if nothing else 0)
