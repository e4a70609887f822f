#!/bin/sh
# Builds everything and runs the tests: tests/run.sh [ctest's arguments], for example -R compiled.chat.
# Installs what is missing on Debian first.
set -eu

checkout=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$checkout"

cmake/ensure_packages.sh g++ cmake ninja-build pkg-config nlohmann-json3-dev libcpp-httplib-dev libcli11-dev \
  libcurl4-openssl-dev doctest-dev libgtest-dev catch2 python3 curl
cmake --preset dev -DMOCK_GATEWAY_BUILD_EXAMPLES=ON
cmake --build --preset dev
ctest --preset dev -j "$(nproc)" "$@"
