#!/usr/bin/env bash
# Tests the programs and packages of a release, and writes what was tested of each:
#
#   tests/release/run.sh VERSION FOLDER [PART [JUNIT]]
#
# FOLDER is what tools/release.sh fills; TESTED.md there gets a line for each program. Linux x86-64 runs the whole
# endpoint suite, or only the files in PART. With PART, tests of many minutes are skipped too: those that compile the
# library, and the bare Debian. Linux arm64 runs a part of the suite in qemu-user, if it is available: there the tests
# see the emulator's processes, and it is about ten times slower, so tests of time would fail. macOS programs cannot run
# here; only the file is examined. The suite's report goes to the folder JUNIT.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
version=$1
dist=$(realpath "$2")
chosen=${3:-}
junit=${4:-}
cd "$root"
work=$root/build/zig
status=0
part=control,control_evidence,control_gate,control_reset,import,journal,reload,report,scripts,serve,small_scripts,stacks

# file_of TARGET
file_of() { echo "$dist/mock-gateway-$version-$1"; }

# look TARGET: examines the program's file
look() {
  python3 tests/release/binary_test.py "$(file_of "$1")" "$1" "$version" && return 0
  status=1
  return 1
}

# said FILE: prints the last line of the suite, with its counts
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
      python3 tests/release/suite.py "$file" ${chosen:+--only "$chosen"} ${junit:+--junit "$junit/release.xml"} |
        tee "$work/suite-$target.log" || status=1
      what="the whole endpoint suite"
      if [[ -n $chosen ]]; then what="of the endpoint suite $chosen"; fi
      ran="$what: $(said "$work/suite-$target.log")"
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

# Tests the packages for this machine, each in a new folder.
if compgen -G "$dist/*linux*_$(uname -m).whl" >/dev/null; then
  echo "== packages"
  # The SDKs of docs/your-app.md.
  bash -c 'source tests/clients/prepare.sh' >"$work/sdks.log" 2>&1 || { cat "$work/sdks.log" >&2; status=1; }
  python3 tests/release/package_test.py "$dist" "$version" 2>&1 | tee "$work/packages.log" || status=1
  {
    echo
    echo "The packages for $(uname -m) were installed in new folders and sent requests. The steps of the Containerfile were run"
    echo "without a container engine. From the start of the installation:"
    echo
    grep -oE '[A-Z][a-z]+: [0-9.]+ s to the first response' "$work/packages.log" | sed 's/^/- /'
    echo
    echo "The tests of all of them: $(tail -n 1 "$work/packages.log" | sed 's/^OK$/passed/')."
  } >>"$dist/TESTED.md"
fi

# On a system with nothing else installed.
if [[ -z $chosen && $(id -u) == 0 ]] && compgen -G "$dist/*linux*_$(uname -m).whl" >/dev/null &&
  "$root/cmake/ensure_packages.sh" mmdebstrap >/dev/null 2>&1; then
  echo "== a bare Debian"
  bare=0
  python3 tests/release/bare_debian_test.py "$dist" "$version" 2>&1 | tee "$work/bare.log" || bare=$?
  ((bare == 0 || bare == 77)) || status=1
  {
    echo
    echo "On a bare Debian, without a compiler, with the package manager of each:"
    echo
    grep -oE '[A-Z][a-z]+: [0-9.]+ s to the first response' "$work/bare.log" | sed 's/^/- /' || true
    echo
    echo "The tests of that: $(tail -n 1 "$work/bare.log" | sed 's/^OK$/passed/')."
  } >>"$dist/TESTED.md"
fi

# For C++.
if compgen -G "$dist/mock-gateway-cpp-*.tar.gz" >/dev/null; then
  echo "== packages for C++"
  quick=(Conan.test_older_standards_are_refused Vcpkg.test_vcpkg_accepts_the_manifest)
  cpp=0
  python3 tests/release/cpp_packages_test.py "$dist" "$version" ${chosen:+"${quick[@]}"} 2>&1 | tee "$work/cpp_packages.log" || cpp=$?
  ((cpp == 0 || cpp == 77)) || status=1
  {
    echo
    echo "For C++ Conan runs its recipe without Conan Center; stand-ins for the functions of vcpkg and Homebrew run the port"
    echo "and the formula. The tests of them: $(tail -n 1 "$work/cpp_packages.log" | sed 's/^OK$/passed/')."
  } >>"$dist/TESTED.md"
fi
exit $status
