#!/bin/sh
# Builds the benchmarks (Release) and prints their figures: tests/bench/run.sh
# Ratios are medians of pairs measured in turn in one run; they are worth something on a machine that does little else.
set -eu

checkout=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$checkout"

cmake --preset bench >/dev/null
cmake --build --preset bench >/dev/null
echo "$(uname -sr), $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)"
for program in requests stream lifecycle choosing memory scale fault_path; do
  # What misses its aim ends with a failure; the others are measured all the same.
  build/bench/tests/bench/bench_$program || missed="${missed:-} $program"
done
if [ -n "${missed:-}" ]; then echo "missed an aim:$missed"; fi
if command -v python3 >/dev/null; then
  if [ -n "${MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR:-}" ]; then
    python3 tests/bench/compile_time.py --httplib "$MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR"
  else
    python3 tests/bench/compile_time.py
  fi
fi
