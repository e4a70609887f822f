#!/usr/bin/env bash
# Tests the helpers with pytest, node:test, vitest and go test, and their types with mypy and tsc.
#
#   helpers/run.sh PROGRAM    PROGRAM is the path of mock-gateway
#
# Installs the requirements on first use (build/helpers/venv, node/node_modules). The last line counts the tests.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/.." && pwd)
build=$root/build/helpers
mkdir -p "$build"
MOCK_GATEWAY_BIN=$(realpath "${1:?usage: helpers/run.sh path to the mock-gateway program}")
export MOCK_GATEWAY_BIN

# shellcheck source=../tests/clients/suites.sh
source "$root/tests/clients/suites.sh"

requirements=("$root/tests/clients/python/requirements.txt" "$here/python/requirements.txt")
install_python() {
  python3 -m venv --clear "$build/venv"
  "$build/venv/bin/pip" install --quiet --disable-pip-version-check "${requirements[@]/#/--requirement=}"
}
install_node() { (cd "$here/node" && npm ci --no-audit --no-fund --loglevel=error); }
install "$build/venv/.installed" "${requirements[@]}" -- install_python
install "$here/node/node_modules/.installed" "$here/node/package-lock.json" -- install_node

rm -f "$build"/*.xml
result=0

echo '== Python: pytest'
"$build/venv/bin/python" -m pytest --quiet --rootdir "$here/python" --timeout 120 -W error -p no:cacheprovider \
  --junit-xml "$build/python.xml" "$here/python" || result=1

"$build/venv/bin/mypy" --strict --cache-dir "$build/mypy" "$here/python/mock_gateway.py" || result=1

echo '== Node: node:test'
node --test --test-reporter=dot --test-reporter-destination=stdout \
  --test-reporter=junit --test-reporter-destination="$build/node.xml" "$here/node/mock-gateway.test.mjs" || result=1

echo '== Node: vitest'
(cd "$here/node" && node node_modules/vitest/vitest.mjs run --testTimeout=30000 --reporter=dot --reporter=junit \
  --outputFile.junit="$build/vitest.xml" vitest.test) || result=1

(cd "$here/node" && node node_modules/typescript/bin/tsc --project .) || result=1

reports=("$build"/{python,node,vitest}.xml)
if go=$(command -v go) && [[ $("$go" env GOVERSION) =~ ^go1\.([0-9]+) && ${BASH_REMATCH[1]} -ge 22 ]]; then
  echo '== Go: go test'
  (cd "$here/go" && "$go" vet . && "$go" test -json .) >"$build/go.json" || result=1
  python3 "$here/go/junit.py" <"$build/go.json" >"$build/go.xml" || result=1
  reports+=("$build/go.xml")
else
  echo '== Go: skipped, there is no go 1.22 or newer'
fi

print_totals "" "${reports[@]}" || result=1
exit $result
