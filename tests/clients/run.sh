#!/usr/bin/env bash
# Runs real clients against gateways: the official openai SDKs for Node and Python, the AI SDK, LiteLLM, LangChain, curl.
#
#   tests/clients/run.sh [path to the mock-gateway program]
#
# Installs the pinned SDKs on first use (node/node_modules, build/clients, build/scoreboard) and builds the program unless
# given. The last step compares two clients with their baselines in tests/scoreboard/baselines.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=prepare.sh
source "$here/prepare.sh"

# Each suite starts the gateways that it needs.
if (($# < 1)); then "$root/examples/run.sh" --version; fi
MOCK_GATEWAY_BIN=$(realpath "${1:-$root/build/run/endpoint/mock-gateway}")
export MOCK_GATEWAY_BIN

# Each suite leaves its JUnit report in build/clients.
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

# Through the whole catalogue: what is bad is what the baseline lists.
echo '== mock-gateway check: openai for Python and Node'
python3 "$here/../scoreboard/scoreboard.py" "$MOCK_GATEWAY_BIN" --check --junit "$build" || result=1

print_totals "clients: " "$build"/{node,python,wrappers,curl}.xml "$build"/check-*.xml || result=1
exit $result
