#!/usr/bin/env bash
# Runs real clients against gateways: the official openai SDKs for Node and Python, the AI SDK, curl.
#
#   tests/clients/run.sh [path to the clients_gateway binary]
#
# Installs the pinned SDKs on first use (node/node_modules, build/clients/venv) and builds the gateways unless given.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/clients
mkdir -p "$build"

# Loopback must not go through a proxy, nor the SDKs be steered by what the user has in the environment.
export NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost
for name in $(compgen -e | grep -E '^OPENAI_' || true); do unset "$name"; done

for tool in node npm python3 curl; do
  command -v "$tool" >/dev/null || {
    echo "run.sh needs $tool, which is not installed" >&2
    exit 2
  }
done

# install MARK FILE... -- COMMAND...: runs the command unless it succeeded before with these very files.
install() {
  local mark=$1 files=() sum
  shift
  while [[ $1 != -- ]]; do files+=("$1"); shift; done
  shift
  sum=$(cat "${files[@]}" | cksum)
  if [[ ! -f $mark || $(<"$mark") != "$sum" ]]; then
    rm -f "$mark"
    "$@"
    echo "$sum" >"$mark"
  fi
}

install_node() { (cd "$here/node" && npm ci --no-audit --no-fund --loglevel=error); }
install_python() {
  python3 -m venv --clear "$build/venv"
  "$build/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/python/requirements.txt"
}
install "$here/node/node_modules/.installed" "$here/node/package-lock.json" -- install_node
install "$build/venv/.installed" "$here/python/requirements.txt" -- install_python

if (($# > 0)); then
  gateways=$1
else
  gateways=$build/clients_gateway
  # shellcheck disable=SC2046  # flags are several words
  "${CXX:-g++}" -std=c++17 -I"$root" "$here/clients_gateway.cpp" $(pkg-config --cflags --libs cpp-httplib) -lpthread \
    -o "$gateways"
fi

# The gateways run until their standard input closes, which happens at the latest when this script ends.
coproc GATEWAYS { exec "$gateways"; }
gateways_pid=$GATEWAYS_PID
read -r -t 30 CLIENTS_GATEWAYS <&"${GATEWAYS[0]}" || {
  echo "$gateways did not say within 30 s where its gateways are" >&2
  exit 1
}
export CLIENTS_GATEWAYS

# Each suite leaves its JUnit report in build/clients.
rm -f "$build"/{node,python,curl}.xml
result=0

echo '== Node: openai and the AI SDK'
node --test --test-reporter=spec --test-reporter-destination=stdout \
  --test-reporter=junit --test-reporter-destination="$build/node.xml" "$here"/node/*.test.mjs || result=1

echo '== Python: openai'
"$build/venv/bin/python" -m pytest --quiet --rootdir "$here/python" --config-file "$here/python/pytest.ini" \
  --junit-xml "$build/python.xml" "$here/python" || result=1

echo '== curl'
"$here/curl_checks.sh" "$build/curl.xml" || result=1

# The gateways must have survived it all, and end by themselves.
if kill -0 "$gateways_pid" 2>/dev/null; then
  exec {GATEWAYS[1]}>&-
  wait "$gateways_pid" || { echo "the gateways ended with status $?"; result=1; }
else
  echo 'the gateways did not survive'
  result=1
fi

python3 - "$build"/{node,python,curl}.xml <<'PYTHON' || result=1
import sys
import xml.etree.ElementTree as ET

passed = failed = 0
for path in sys.argv[1:]:
    cases = list(ET.parse(path).getroot().iter("testcase"))
    if not cases:
        sys.exit(f"{path}: no test ran")
    broken = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    passed += len(cases) - broken
    failed += broken
print(f"clients: {passed} passed, {failed} failed")
sys.exit(failed > 0)
PYTHON
exit $result
