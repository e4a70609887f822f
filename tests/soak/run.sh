#!/usr/bin/env bash
# Builds the soak test with clang and the address sanitizer, and runs it: tests/soak/run.sh [requests] [gateways]
# The default is 500,000 requests over 1,000 gateways; 2,000 over 10 take seconds. Set MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR
# to the folder of a single-header httplib.h, so that it is instrumented too.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target soak -j 2
# The sanitizer keeps freed memory for a while: a small quarantine leaves mostly the library's memory to measure.
ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=8 build/fuzz/tests/soak/soak "$@"
