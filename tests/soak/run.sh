#!/usr/bin/env bash
# Builds the soak with clang and the address sanitizer, and runs it: tests/soak/run.sh [requests] [gateways]
# 500,000 requests over 1,000 gateways unless given; 2,000 over 10 take seconds. Set MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR to
# the folder of a single-header httplib.h, so that it is instrumented too.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target soak -j 2
# Freed memory is kept by the sanitizer for a while: less of it, so that the memory that counts is the library's.
ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=8 build/fuzz/tests/soak/soak "$@"
