#!/usr/bin/env bash
# Builds the fuzzers with clang and runs each of them for a while.
#
#   tests/fuzz/run.sh [--seconds N] [--seed N] [harness…]
#
# Harnesses: connection chat_body json_reader schema pattern script control reply_plans random_clients; default: all.
# Each harness runs for N seconds (default 20) with the given seed or a random seed. Findings and the output of the run
# go to build/fuzz/findings. Inputs that cover more code go to build/fuzz/corpus, which the next run starts with. To
# repeat an input, run build/fuzz/tests/fuzz/fuzz_HARNESS FILE. To instrument cpp-httplib too, set
# MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR to the folder of a single-header httplib.h.
# Exit status: 0 no finding, 1 a finding, 2 wrong arguments, otherwise the exit status of the build.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=build/fuzz
findings=$build/findings
all=(connection chat_body json_reader schema pattern script control reply_plans random_clients)

seconds=20
seed=
harnesses=()
while (($# > 0)); do
  case $1 in
    --seconds) seconds=${2:?--seconds needs a number}; shift ;;
    --seed) seed=${2:?--seed needs a number}; shift ;;
    -*) sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
    *)
      [[ " ${all[*]} " == *" $1 "* ]] || { echo "there is no harness $1; there are ${all[*]}" >&2; exit 2; }
      harnesses+=("$1")
      ;;
  esac
  shift
done
if ((${#harnesses[@]} == 0)); then harnesses=("${all[@]}"); fi

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${harnesses[@]/#/fuzz_}" -j 2
mkdir -p "$findings"

# Runs Python in a virtual environment with h11, a strict HTTP parser.
python() {
  local venv=$build/venv
  if [[ ! $venv/done -nt tests/fuzz/requirements.txt ]]; then
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r tests/fuzz/requirements.txt
    touch "$venv/done"
  fi
  "$venv/bin/python" "$@"
}

run() {
  local harness=$1 program=$build/tests/fuzz/fuzz_$1
  case $harness in
    reply_plans) python tests/fuzz/reply_plans.py "$program" --seconds "$seconds" ${seed:+--seed "$seed"} ;;
    random_clients) TSAN_OPTIONS=halt_on_error=1 "$program" --seconds "$seconds" ${seed:+--seed "$seed"} ;;
    *)
      mkdir -p "$build/corpus/$harness"
      local -a more=()
      # Checks for leaks only once, at the end. Each input starts and ends threads, and the leak checker would report
      # memory of threads that have just started.
      if [[ $harness == control ]]; then more=(-detect_leaks=0); fi
      # An input that exceeds these limits of real time in seconds or memory in megabytes is a finding.
      "$program" -max_total_time="$seconds" ${seed:+-seed="$seed"} -timeout=60 -rss_limit_mb=3000 -max_len=4096 -print_final_stats=1 \
        -dict="tests/fuzz/corpus/$harness.dict" -artifact_prefix="$findings/$harness-" "${more[@]}" \
        "$build/corpus/$harness" "tests/fuzz/corpus/$harness"
      ;;
  esac
}

# Prints one line about the run of a harness from its log.
summary() {
  local harness=$1 log=$2
  case $harness in
    reply_plans | random_clients) tail -n 1 "$log" ;;
    *)
      awk '/^INFO: Seed:/ { seed = $3 } /^stat::number_of_executed_units:/ { runs = $2 }
           /^stat::average_exec_per_sec:/ { rate = $2 } / cov: / { coverage = $4 }
           END { printf "seed %s: %d executions, %d a second, coverage %d\n", seed, runs, rate, coverage }' "$log"
      ;;
  esac
}

# run_and_tell HARNESS: runs a harness and prints its summary. Fails if there is a finding.
run_and_tell() {
  local harness=$1 log=$findings/$1.log
  if run "$harness" >"$log" 2>&1; then
    echo "fuzz: $harness: $(summary "$harness" "$log")"
    return
  fi
  local told
  told=$(
    grep -E -A 12 -m 3 'FINDING|terminate called|ERROR: |WARNING: ThreadSanitizer' "$log" || tail -n 40 "$log"
    grep 'Test unit written' "$log" || true
  )
  printf '%s\nfuzz: %s: FOUND SOMETHING: %s %s\n' "$told" "$harness" "$log" "$(summary "$harness" "$log")"
  return 1
}

# Runs two harnesses in parallel, because most use one thread.
found=()
for ((first = 0; first < ${#harnesses[@]}; first += 2)); do
  pair=("${harnesses[@]:first:2}") pids=()
  for harness in "${pair[@]}"; do
    run_and_tell "$harness" &
    pids+=($!)
  done
  for each in "${!pair[@]}"; do
    wait "${pids[each]}" || found+=("${pair[each]}")
  done
done
if ((${#found[@]} > 0)); then
  echo "fuzz: findings in ${found[*]}"
  exit 1
fi
