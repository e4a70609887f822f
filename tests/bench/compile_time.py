#!/usr/bin/env python3
"""What it costs to include the gateway in a test file, against the standard headers and json.hpp that it includes.

    python3 tests/bench/compile_time.py [--pairs N] [--compiler g++] [--header mock_gateway.hpp] [--httplib FOLDER]

Compiles with -O0 and warnings off, in turn, and prints medians and the median ratio of the pairs. The time is the
compiler's own processor time, so that what else the machine does counts little.
"""

import argparse
import pathlib
import re
import resource
import shlex
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
USE = """
int main() {
  mock_gateway::Gateway gateway;
  gateway.chat().reply("Hello.");
  return gateway.base_url().empty();
}
"""


def interface_includes(header: str) -> list[str]:
    """The headers that the interface half includes: everything before the implementation half begins."""
    interface = re.split(r"defined\(?\s*MOCK_GATEWAY_IMPLEMENTATION|ifdef MOCK_GATEWAY_IMPLEMENTATION", header)[0]
    includes = dict.fromkeys(re.findall(r"^#include (<[^>]+>)", interface, re.MULTILINE))
    assert "<nlohmann/json.hpp>" in includes and "<httplib.h>" not in includes, "the interface half was not found"
    return list(includes)


def compile_time(command: list[str], source: pathlib.Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, str(source)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--header", type=pathlib.Path, default=ROOT / "mock_gateway.hpp")
    parser.add_argument("--httplib", help="folder of a single-header httplib.h; the system's unless given")
    options = parser.parse_args()

    if options.httplib:
        flags = ["-I" + options.httplib]
    else:
        found = subprocess.run(["pkg-config", "--cflags", "cpp-httplib"], capture_output=True, text=True)
        flags = shlex.split(found.stdout)

    with tempfile.TemporaryDirectory() as folder:
        def written(name: str, text: str) -> pathlib.Path:
            path = pathlib.Path(folder) / name
            path.write_text(text)
            return path

        includes = interface_includes(options.header.read_text())
        base = written("base.cpp", "".join(f"#include {name}\n" for name in includes) +
                       "int main() { return nlohmann::ordered_json{}.empty() ? 0 : 1; }\n")
        file = written("file.cpp", f'#include "{options.header.resolve()}"\n' + USE)

        command = [options.compiler, "-std=c++17", "-O0", "-w", *flags, "-c", "-o", f"{folder}/out.o"]
        opt_out = [*command, "-DMOCK_GATEWAY_HEADER_ONLY=0"]
        compile_time(command, base)  # the headers into the cache
        bases, files = [], []
        for pair in range(options.pairs):
            if pair % 2:
                files.append(compile_time(opt_out, file))
            bases.append(compile_time(command, base))
            if pair % 2 == 0:
                files.append(compile_time(opt_out, file))
        default = [compile_time(command, file) for _ in range(min(3, options.pairs))]

    ratio = statistics.median(f / b for f, b in zip(files, bases))
    print(f"compile, opt-out mode          test file {statistics.median(files):.2f} s   "
          f"its headers alone {statistics.median(bases):.2f} s   ratio {ratio:.2f} (aim at most 1.30)")
    print(f"compile, default mode          test file {statistics.median(default):.2f} s")


if __name__ == "__main__":
    main()
