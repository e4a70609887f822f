#!/usr/bin/env bash
# Tests the programs of a release, and writes what was tested of each: tests/release/run.sh VERSION FOLDER [JUNIT]
#
# FOLDER is what tools/release.sh fills; TESTED.md there has a line for each program. Linux x86-64 gets the whole endpoint
# suite. Linux arm64 runs a part of it in qemu-user, where that can be had: an emulated program is some ten times slower,
# which tests with deadlines take for a fault. Of macOS nothing can run here: the file is looked at, and that is all.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
version=$1
dist=$(realpath "$2")
junit=${3:-}
cd "$root"
work=$root/build/zig
status=0
part=scripts,import,small_scripts

# file_of TARGET
file_of() { echo "$dist/mock-gateway-$version-$1"; }

# look TARGET: the file as a file
look() {
  python3 tests/release/binary_test.py "$(file_of "$1")" "$1" "$version" && return 0
  status=1
  return 1
}

# said FILE: the last line of the suite, with its counts
said() { tail -n 1 "$1"; }

{
  echo "# What was tested of mock-gateway $version"
  echo
  echo "| program | as a file | run |"
  echo "|---|---|---|"
} >"$dist/TESTED.md"
for target in linux-x86_64 linux-arm64 macos-arm64 macos-x86_64; do
  file=$(file_of "$target")
  [[ -f $file ]] || continue
  echo "== $target"
  looked=passed
  look "$target" || looked=failed
  ran="not at all: it was linked, and nothing here can run it"
  case $target in
    linux-x86_64)
      python3 tests/release/suite.py "$file" ${junit:+--junit "$junit"} | tee "$work/suite-$target.log" || status=1
      ran="the whole endpoint suite: $(said "$work/suite-$target.log")"
      ;;
    linux-arm64)
      if "$root/cmake/ensure_packages.sh" qemu-user >/dev/null 2>&1 && command -v qemu-aarch64 >/dev/null; then
        printf '#!/bin/sh\nexec qemu-aarch64 "%s" "$@"\n' "$file" >"$work/emulated"
        chmod +x "$work/emulated"
        python3 tests/release/suite.py "$work/emulated" --only "$part" | tee "$work/suite-$target.log" || status=1
        ran="of the endpoint suite, in qemu-user, $part: $(said "$work/suite-$target.log")"
      else
        ran="not at all: qemu-user cannot be had"
      fi
      ;;
  esac
  echo "| $target | $looked | $ran |" >>"$dist/TESTED.md"
done
exit $status
