#!/bin/sh
# Builds the benchmarks (Release) and prints their figures: tests/bench/run.sh [--short]
# Ratios are medians of alternating pairs in one run; they need a quiet machine. Exits with 1 if a benchmark crashes,
# gives up, or misses its target. --short takes a minute plus the build; it checks only that each benchmark works, not
# its target.
set -eu

checkout=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$checkout"
short=
case ${1:-} in
  '') ;;
  --short) short=--short ;;
  *) echo "usage: tests/bench/run.sh [--short]" >&2; exit 2 ;;
esac

cmake --preset bench >/dev/null
# Ninja prints errors to standard output.
built=$(cmake --build --preset bench -j 2) || { printf '%s\n' "$built" >&2; exit 1; }
echo "$(uname -sr), $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)"

missed=
failed=
# A failed benchmark does not prevent the others.
measure() {
  name=$1
  shift
  status=0
  "$@" $short || status=$?
  case $status in
    0) ;;
    1) missed="$missed $name" ;;
    *) failed="$failed $name" ;;
  esac
}
for program in requests stream lifecycle choosing memory scale; do
  measure $program build/bench/tests/bench/bench_$program
done
measure compile_time python3 tests/bench/compile_time.py \
  ${MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR:+--httplib "$MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR"}

[ -z "$missed" ] || echo "missed an aim:$missed"
[ -z "$failed" ] || echo "crashed or gave up:$failed"
[ -z "$missed$failed" ]
