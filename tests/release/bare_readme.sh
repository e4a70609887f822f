#!/usr/bin/env bash
# Runs README's commands in a fresh clone on a bare Debian:
#
#   tests/release/bare_readme.sh [examples|tests…]      without arguments: both
#
# Each command gets a Debian of its own and a clone of HEAD. Prints whether the command passed, the seconds of apt-get,
# and the seconds of everything else. The logs go to build/bare.
# Exit status: 0, 1, or 77 if bare_debian.sh cannot create a Debian.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
logs=$root/build/bare

# The script runs itself in new namespaces: when they end, the kernel removes their mounts and processes.
if [[ ${1:-} != --inside ]]; then
  work=$(mktemp -d)
  trap 'trap "" HUP INT TERM; rm -rf "$work"' EXIT
  unshare --mount --pid --fork --kill-child --mount-proc "$0" --inside "$work" "$@" &
  trap 'kill -KILL $! 2>/dev/null; exit 1' HUP INT TERM
  wait $!
  exit
fi
work=$2
shift 2

# enter COMMAND…: replaces the shell by the command, in the clone
enter() {
  exec chroot "$debian" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    sh -c 'cd /mock_gateway && exec "$@"' sh "$@"
}

# Starts the program, sends the request that it prints, and ends it.
run_examples() {
  local line output request pid
  coproc server { enter examples/run.sh --port 0 2>&3; } 3>&2
  pid=$server_PID
  exec {output}<&"${server[0]}"
  while read -r line <&"$output" && [[ $line != ready ]]; do
    echo "$line"
    if [[ $line == curl\ * ]]; then request=$line; fi
  done
  sh -c "${request:-false} --fail --silent --show-error" | grep '"choices"' && kill -TERM "$pid" && wait "$pid"
}

run_tests() { (enter tests/run.sh); }

# try NAME: runs NAME/run.sh
try() {
  local status=0 installing
  debian=$work/$1
  "$root/tests/release/bare_debian.sh" "$debian" ca-certificates git
  mount -t proc proc "$debian/proc"
  mount -t devpts -o ptmxmode=0666 devpts "$debian/dev/pts"
  git clone --quiet "$root" "$debian/mock_gateway"
  cat >"$debian/usr/local/bin/apt-get" <<'SH'
#!/bin/sh
began=$(date +%s) status=0
/usr/bin/apt-get "$@" || status=$?
echo $(($(date +%s) - began)) >>/apt-seconds
exit $status
SH
  chmod +x "$debian/usr/local/bin/apt-get"
  SECONDS=0
  "run_$1" >"$logs/$1.log" 2>&1 || status=$?
  installing=$(awk '{ sum += $1 } END { print sum + 0 }' "$debian/apt-seconds")
  if ((status != 0)); then
    tail -n 60 "$logs/$1.log"
    failed=1
  fi
  echo "$1/run.sh: $( ((status == 0)) && echo passed || echo "FAILED with status $status"), apt-get $installing s," \
    "the rest $((SECONDS - installing)) s"
}

mkdir -p "$logs"
if (($# == 0)); then set -- examples tests; fi
failed=0
for name in "$@"; do try "$name"; done
exit $failed
