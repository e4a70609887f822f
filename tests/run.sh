#!/bin/sh
# Builds everything and runs the tests: tests/run.sh [ctest's arguments]
# With arguments that choose tests, such as -R sources.keys, it builds only what these need.
# Installs what is missing on Debian first.
set -eu

checkout=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$checkout"

cmake/ensure_packages.sh g++ cmake ninja-build pkg-config nlohmann-json3-dev libcpp-httplib-dev libcli11-dev \
  libcurl4-openssl-dev doctest-dev libgtest-dev catch2 python3 curl
cmake --preset dev -DMOCK_GATEWAY_BUILD_EXAMPLES=ON
targets=
if [ $# -gt 0 ]; then
  # A test needs the programs that its command names; what else it builds, it builds itself.
  targets=$(ctest --preset dev --show-only=json-v1 "$@" | python3 -c '
import json, os, sys
build = os.path.realpath("build/dev") + os.sep
tests = json.load(sys.stdin)["tests"]
words = {word for test in tests for word in test.get("command", [])}
named = sorted(os.path.realpath(word)[len(build):] for word in words if os.path.realpath(word).startswith(build))
whole = any(test["name"].startswith("consume.") for test in tests)  # installs the build
print(" ".join(["all"] if whole or not named else named))
')
fi
# shellcheck disable=SC2086
cmake --build --preset dev ${targets:+--target $targets}
# Many tests wait most of their time.
ctest --preset dev -j $((2 * $(nproc))) "$@"
