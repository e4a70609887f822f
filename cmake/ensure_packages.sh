#!/bin/sh
# Installs missing Debian packages and prints their names.
#
#   ensure_packages.sh PACKAGE…
#
# Checks whether the compiler, header or program works, not whether its package is installed. So other installations
# count, and a system without apt works if nothing is missing. Exit status: 0 if everything is there, 1 if something is
# missing and cannot be installed.
set -eu

has() { command -v "$1" >/dev/null 2>&1; }

compiler() { if has "${CXX:-c++}"; then echo "${CXX:-c++}"; elif has g++; then echo g++; else echo clang++; fi; }

has_header() {
  printf '#if !__has_include(<%s>)\n#error missing\n#endif\n' "$1" |
    "$(compiler)" -std=c++17 -E -x c++ - >/dev/null 2>&1
}

newer() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

is_there() {
  case "$1" in
    g++) has "$(compiler)" && has_header cstdio ;;
    cmake) has cmake && newer 3.22 "$(cmake --version | sed -n 's/^cmake version //p')" ;;
    ninja-build) has ninja ;;
    pkg-config) has pkg-config ;;
    curl | clang | clang-format | python3) has "$1" ;;
    python3-venv) python3 -c 'import ensurepip, venv' >/dev/null 2>&1 ;;
    nlohmann-json3-dev) has_header nlohmann/json.hpp ;;
    libcpp-httplib-dev) has pkg-config && pkg-config --cflags cpp-httplib >/dev/null 2>&1 || has_header httplib.h ;;
    libcli11-dev) has_header CLI/CLI.hpp ;;
    libcurl4-openssl-dev) has_header curl/curl.h ;;
    doctest-dev) has_header doctest/doctest.h ;;
    *) dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed$' ;;
  esac
}

missing=
for package in "$@"; do
  is_there "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! has apt-get; then
  echo "These are missing (by the names of their Debian packages):$missing" >&2
  exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
  if ! has sudo; then
    echo "As root, run: apt-get update && apt-get install --no-install-recommends$missing" >&2
    exit 1
  fi
  as_root="sudo env DEBIAN_FRONTEND=noninteractive"
fi

echo "Installing Debian packages:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# The list of packages and the prefix are split into words on purpose.
# shellcheck disable=SC2086
{
  $as_root apt-get update -q >&2
  # Waits for the apt of another lane.
  $as_root apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 $missing >&2
}
