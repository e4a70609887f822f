#!/usr/bin/env bash
# Runs real clients against gateways: the official openai SDKs for Node and Python, the AI SDK, LiteLLM, LangChain,
# curl.
#
#   tests/clients/run.sh [path of the mock-gateway program]
#
# Installs the pinned SDKs on first use (node/node_modules, build/clients, build/scoreboard). Builds the program if none
# is given. The last step compares two clients with their baselines in tests/scoreboard/baselines.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=prepare.sh
source "$here/prepare.sh"

# Each suite starts its own gateways.
if (($# < 1)); then "$root/examples/run.sh" --version; fi
MOCK_GATEWAY_BIN=$(realpath "${1:-$root/build/run/endpoint/mock-gateway}")
export MOCK_GATEWAY_BIN

# Each suite writes a JUnit report to build/clients.
rm -f "$build"/{node,python,wrappers,curl}.xml "$build"/check-*.xml
result=0

echo '== Node: openai and the AI SDK'
node --test --test-reporter=spec --test-reporter-destination=stdout \
  --test-reporter=junit --test-reporter-destination="$build/node.xml" "$here"/node/*.test.mjs || result=1

echo '== Python: openai'
"$build/venv/bin/python" -m pytest --quiet --rootdir "$here/python" --config-file "$here/python/pytest.ini" \
  --junit-xml "$build/python.xml" "$here/python" || result=1

echo '== Python: LiteLLM and LangChain'
install "$build/wrappers/.installed" "$here/wrappers/requirements.txt" -- install_wrappers
"$build/wrappers/bin/python" -m pytest --quiet --rootdir "$here/wrappers" -p no:cacheprovider \
  --junit-xml "$build/wrappers.xml" "$here/wrappers" || result=1

echo '== curl'
"$here/curl_checks.sh" "$build/curl.xml" || result=1

# Runs the whole catalogue: failures must equal the baseline.
echo '== mock-gateway check: openai for Python and Node'
python3 "$here/../scoreboard/scoreboard.py" "$MOCK_GATEWAY_BIN" --check --junit "$build" || result=1

print_totals "clients: " "$build"/{node,python,wrappers,curl}.xml "$build"/check-*.xml || result=1
exit $result
