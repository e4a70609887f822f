#!/bin/sh
# Tests several replicas behind HAProxy, and their metrics in Prometheus: tests/load/run.sh PROGRAM
# Installs both Debian packages first.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
"$here/../../cmake/ensure_packages.sh" python3 haproxy prometheus
exec python3 "$here/load_test.py" "${1:?usage: tests/load/run.sh PROGRAM}"
