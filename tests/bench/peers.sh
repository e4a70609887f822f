#!/bin/sh
# Installs other mock servers of language models below build/peers, builds mock-gateway (Release), and measures all of
# them alternately:
# tests/bench/peers.sh [options of peers.py: --rounds 7 --seconds 2 --connections 1,8,64,256,512 --released PROGRAM]
# Needs wrk (Debian: wrk), and cargo and npm for the other servers. Skips servers that cannot be installed, and says so.
set -eu

checkout=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$checkout"
command -v wrk >/dev/null || { echo "peers.sh: wrk is missing (Debian: wrk)" >&2; exit 2; }
peers=$checkout/build/peers
mkdir -p "$peers"

crate() {
  [ -x "$peers/bin/$1" ] || cargo install --quiet --locked --root "$peers" "$1@$2" ||
    echo "left out, since cargo cannot install it: $1 $2" >&2
}
crate llmposter 0.5.0
crate vidaimock 0.3.1
[ -x "$peers/node_modules/.bin/llmock" ] || npm install --silent --no-fund --prefix "$peers" @copilotkit/aimock@1.43.0 ||
  echo "left out, since npm cannot install it: aimock 1.43.0" >&2

cmake -B build/peers/gateway -DCMAKE_BUILD_TYPE=Release -DMOCK_GATEWAY_BUILD_TESTS=OFF -DMOCK_GATEWAY_BUILD_EXAMPLES=ON \
  -DMOCK_GATEWAY_BUILD_BENCHMARKS=ON ${MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR:+-DMOCK_GATEWAY_HTTPLIB_INCLUDE_DIR=$MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR} >/dev/null
cmake --build build/peers/gateway -j 2 --target mock-gateway --target bench_floor >/dev/null
exec python3 tests/bench/peers.py "$peers" "$@"
