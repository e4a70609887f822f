#!/bin/sh
# Builds mock-gateway and runs it: examples/run.sh [mock-gateway's arguments], for example --help. Installs missing
# Debian packages first. Only mock-gateway writes to stdout.
set -eu

checkout=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
build=$checkout/build/run

"$checkout/cmake/ensure_packages.sh" g++ cmake ninja-build pkg-config nlohmann-json3-dev libcpp-httplib-dev libcli11-dev
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 1' HUP INT TERM
echo "Building mock-gateway in build/run" >&2
# These flags halve the build time of Release. docs/program.md gives their cost in requests per second.
cmake -S "$checkout" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DMOCK_GATEWAY_PROGRAM_OPTIONS=-O0 \
  -DMOCK_GATEWAY_BUILD_TESTS=OFF -DMOCK_GATEWAY_BUILD_EXAMPLES=AUTO >"$log" 2>&1 || {
  cat "$log" >&2
  exit 1
}
# Ninja prints its progress: [12/40].
cmake --build "$build" --target mock-gateway >&2
rm -f "$log"
exec "$build/endpoint/mock-gateway" "$@"
