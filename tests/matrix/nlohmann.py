#!/usr/bin/env python3
"""Compiles mock_gateway.hpp with several versions of nlohmann/json: nlohmann.py FOLDER [--all]

The versions come from PyPI's package nlohmann-json, which contains the original headers, and stay in FOLDER. Without
--all, clang checks the implementation as C++20 with the newest version.

With --all, g++ builds examples/first_test.cpp with each version as C++17 and runs it. An additional version is the
newest with its conversion of std::optional enabled, as in development versions after 3.12.0. The oldest and the newest
are checked with g++ and clang, as C++17 and C++20, in each mode of the header, and the newest with libc++.

`--jobs` runs in parallel, default 2; `--junit` writes a report. Exit status: 0 all passed, 1 a failure, 77 the registry
cannot be reached.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VERSIONS = ["3.11.2", "3.11.3", "3.12.0"]
OPTIONAL = VERSIONS[-1] + "-optional"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def fetch(folder):
    """Puts the headers of each version into FOLDER/VERSION, unless they exist."""
    for version in VERSIONS:
        if (folder / version / "nlohmann/json.hpp").is_file():
            continue
        with tempfile.TemporaryDirectory() as work:
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
            got = subprocess.run([*pip, "--dest", work, f"nlohmann-json=={version}"], capture_output=True, text=True)
            if got.returncode != 0:
                print(got.stderr.strip().splitlines()[-1] if got.stderr.strip() else "pip said nothing")
                print(f"nlohmann: skipped: nlohmann-json {version} cannot be had from the registry")
                sys.exit(77)
            (wheel,) = Path(work).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(Path(work) / "wheel")
            put(Path(work) / "wheel/nlohmann_json/include/nlohmann", folder / version)
        require_version(folder / version, version)
    if not (folder / OPTIONAL).is_dir():
        with tempfile.TemporaryDirectory() as work:
            changed = Path(work) / "nlohmann"
            shutil.copytree(folder / VERSIONS[-1] / "nlohmann", changed)
            path = changed / "detail/conversions/from_json.hpp"
            text, times = re.subn(r"#ifndef JSON_USE_IMPLICIT_CONVERSIONS", "#if 1", path.read_text())
            if times != 1:
                sys.exit(f"nlohmann: {path.name} of {VERSIONS[-1]} does not switch the conversion as was expected")
            path.write_text(text)
            put(changed, folder / OPTIONAL)


def put(headers, destination):
    """Moves all headers atomically: an interrupted run leaves no incomplete version."""
    new = destination.with_name(destination.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(headers, new / "nlohmann")
    new.rename(destination)


def require_version(folder, version):
    text = "".join(path.read_text() for path in folder.rglob("abi_macros.hpp")) or (
        folder / "nlohmann/json.hpp"
    ).read_text()
    found = [re.search(rf"NLOHMANN_JSON_VERSION_{part} (\d+)", text)[1] for part in ["MAJOR", "MINOR", "PATCH"]]
    if ".".join(found) != version:
        sys.exit(f"nlohmann: the package {version} has the headers of {'.'.join(found)}")


def cells(folder, binaries, everything):
    """Returns (name, commands) of each cell, the longest first."""
    flags = subprocess.run(["pkg-config", "--cflags", "cpp-httplib"], check=True, capture_output=True, text=True)
    libraries = subprocess.run(["pkg-config", "--libs", "cpp-httplib"], check=True, capture_output=True, text=True)
    common = [*WARNINGS, "-DDOCTEST_CONFIG_VOID_CAST_EXPRESSIONS", f"-I{ROOT}", *flags.stdout.split()]
    implementation = str(ROOT / "cmake/compiled.cpp")
    if not everything:
        newest = ["clang++", "-fsyntax-only", "-std=c++20", *common, "-isystem", str(folder / VERSIONS[-1])]
        return [(f"{VERSIONS[-1]}, clang++, c++20, implementation", [[*newest, implementation]])]
    built, checked = [], []
    for version in [*VERSIONS, OPTIONAL]:
        with_json = [*common, "-isystem", str(folder / version)]
        test = str(ROOT / "examples/first_test.cpp")
        program = binaries / version
        link = [*libraries.stdout.split(), "-pthread", "-o", str(program)]
        built.append((f"{version}, g++, c++17, run",
                      [["g++", "-std=c++17", *with_json, test, implementation, *link], [str(program)]]))
        if version not in (VERSIONS[0], VERSIONS[-1], OPTIONAL):
            continue

        def check(compiler, standard, mode, *flags, source=test):
            command = [compiler, "-fsyntax-only", f"-std={standard}", *with_json, *flags, source]
            checked.append((f"{version}, {compiler}, {standard}, {mode}", [command]))

        check("clang++", "c++20", "header-only", "-DMOCK_GATEWAY_HEADER_ONLY=1")
        if version in (VERSIONS[-1], OPTIONAL):
            check("clang++", "c++20", "header-only with libc++", "-DMOCK_GATEWAY_HEADER_ONLY=1", "-stdlib=libc++")
        check("g++", "c++20", "implementation", source=implementation)
        check("clang++", "c++17", "interface")
    return built + checked


def run(cell):
    """Runs a cell and returns (name, seconds, failure)."""
    name, commands = cell
    begin = time.monotonic()
    for command in commands:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
        if done.returncode != 0:
            return name, time.monotonic() - begin, f"{' '.join(command)}\n{done.stdout[:4000]}"
    return name, time.monotonic() - begin, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--junit", type=Path)
    parser.add_argument("--only", default="", help="the cells whose name has this part")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    fetch(arguments.folder.resolve())
    suite = ET.Element("testsuite", name="nlohmann")
    failed = 0
    with tempfile.TemporaryDirectory() as binaries, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        chosen = [cell for cell in cells(arguments.folder.resolve(), Path(binaries), arguments.all) if arguments.only in cell[0]]
        if not chosen:
            sys.exit(f"nlohmann: no cell has {arguments.only!r} in its name")
        for name, seconds, failure in pool.map(run, chosen):
            case = ET.SubElement(suite, "testcase", name=name, time=f"{seconds:.1f}")
            if failure:
                failed += 1
                ET.SubElement(case, "failure").text = failure
                print(f"*** {name} failed\n{failure}")
            else:
                print(f"{name}: {seconds:.1f} s")
    if arguments.junit:
        ET.ElementTree(suite).write(arguments.junit)
    spent = os.times()
    print(
        f"nlohmann: {len(chosen) - failed} of {len(chosen)} passed, in {time.monotonic() - begin:.0f} s "
        f"and {spent.children_user + spent.children_system:.0f} s of processor time"
    )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
