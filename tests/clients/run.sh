#!/usr/bin/env bash
# Runs real clients against gateways: the official openai SDKs for Node and Python, the AI SDK, curl.
#
#   tests/clients/run.sh [path to the clients_gateway binary [path to the catalogue_gateways binary]]
#
# Installs the pinned SDKs on first use (node/node_modules, build/clients/venv) and builds the gateways unless given.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=prepare.sh
source "$here/prepare.sh"

gateways=${1:-$build/clients_gateway}
catalogue_gateways=${2:-$build/catalogue_gateways}
if (($# < 1)); then compile_gateways "$here/clients_gateway.cpp" "$gateways"; fi
if (($# < 2)); then compile_gateways "$here/catalogue/gateways.cpp" "$catalogue_gateways"; fi

# The gateways run until their standard input closes, which happens at the latest when this script ends.
coproc GATEWAYS { exec "$gateways"; }
gateways_pid=$GATEWAYS_PID
read -r -t 30 CLIENTS_GATEWAYS <&"${GATEWAYS[0]}" || {
  echo "$gateways did not say within 30 s where its gateways are" >&2
  exit 1
}
export CLIENTS_GATEWAYS

# Each suite leaves its JUnit report in build/clients.
rm -f "$build"/{node,python,curl,catalogue}.xml
result=0

echo '== Node: openai and the AI SDK'
node --test --test-reporter=spec --test-reporter-destination=stdout \
  --test-reporter=junit --test-reporter-destination="$build/node.xml" "$here"/node/*.test.mjs || result=1

echo '== Python: openai'
"$build/venv/bin/python" -m pytest --quiet --rootdir "$here/python" --config-file "$here/python/pytest.ini" \
  --junit-xml "$build/python.xml" "$here/python" || result=1

echo '== curl'
"$here/curl_checks.sh" "$build/curl.xml" || result=1

echo '== The catalogue: all of them but curl'
"$here/catalogue/table.sh" "$catalogue_gateways" --check --junit "$build/catalogue.xml" || result=1

# The gateways must have survived it all, and end by themselves.
if kill -0 "$gateways_pid" 2>/dev/null; then
  exec {GATEWAYS[1]}>&-
  wait "$gateways_pid" || { echo "the gateways ended with status $?"; result=1; }
else
  echo 'the gateways did not survive'
  result=1
fi

python3 - "$build"/{node,python,curl,catalogue}.xml <<'PYTHON' || result=1
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
