#!/usr/bin/env bash
# Tests the console page of the program in a real browser: each view, the life of a key by mouse and by keyboard, a busy
# journal, hostile texts and origins, labels, focus and contrast. Writes screenshots of each view to build/console.
#
#   tests/console/run.sh PROGRAM
#
# Needs Node 18.19 or later and chromium. CHROMIUM may name another Chromium-based browser.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
if (($# != 1)); then
  echo "usage: tests/console/run.sh PROGRAM" >&2
  exit 2
fi
MOCK_GATEWAY_BIN=$(realpath -e "$1")
for tool in node npm python3; do
  command -v "$tool" >/dev/null || { echo "${0##*/} needs $tool, which is not installed" >&2; exit 2; }
done
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[[ -n $CHROMIUM ]] || { echo "${0##*/} needs chromium, which is not installed (Debian: apt-get install chromium)" >&2; exit 2; }
CONSOLE_PICTURES=$root/build/console
mkdir -p "$CONSOLE_PICTURES"
export MOCK_GATEWAY_BIN CHROMIUM CONSOLE_PICTURES
export NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost

# Installs the packages again only if the lock file has changed.
mark=$here/node_modules/.installed
sum=$(cksum <"$here/package-lock.json")
if [[ ! -f $mark || $(<"$mark") != "$sum" ]]; then
  rm -f "$mark"
  (cd "$here" && npm ci --no-audit --no-fund --loglevel=error)
  echo "$sum" >"$mark"
fi

result=0
report=$CONSOLE_PICTURES/report.xml
rm -f "$report"
# Runs one file at a time, because each file starts a browser, and one file measures how responsive the page is.
node --test --test-concurrency=1 --test-reporter=spec --test-reporter-destination=stdout \
  --test-reporter=junit --test-reporter-destination="$report" "$here"/*.test.mjs || result=1

python3 - "$report" <<'PYTHON' || result=1
import sys
import xml.etree.ElementTree as ET

cases = list(ET.parse(sys.argv[1]).getroot().iter("testcase"))
if not cases:
    sys.exit("console: no test ran")
failed = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
print(f"console: {len(cases) - failed} passed, {failed} failed")
sys.exit(failed > 0)
PYTHON
exit $result
