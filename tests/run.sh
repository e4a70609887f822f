#!/bin/sh
# Builds the library, the program and the tests, and runs the tests: tests/run.sh [ctest's arguments]
# If arguments select tests, such as -R sources.keys, builds only what these tests need. Installs missing Debian
# packages first.
set -eu

checkout=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$checkout"

cmake/ensure_packages.sh g++ cmake ninja-build pkg-config nlohmann-json3-dev libcpp-httplib-dev libcli11-dev \
  libcurl4-openssl-dev doctest-dev python3 curl
cmake --preset dev -DMOCK_GATEWAY_BUILD_EXAMPLES=ON
targets=
names_of() { ctest --preset dev -N "$@" | sed -n 's/^ *Test *#[0-9]*: //p'; }
if [ $# -gt 0 ]; then
  chosen=$(names_of "$@")
  case $chosen in
    "$(names_of)") ;; # all tests: also build programs that no test runs
    '') echo "tests/run.sh: these arguments choose no test: $*" >&2; exit 1 ;;
    *) targets=$(printf '%s\n' "$chosen" | sed 's/^/needs./') ;;
  esac
fi
# shellcheck disable=SC2086
cmake --build --preset dev ${targets:+--target $targets}
# Many tests spend most of their time waiting.
ctest --preset dev -j $((2 * $(nproc))) "$@"
