# Sourced by scripts that run suites in other languages: sets up the environment so that clients reach a gateway, and
# defines the functions install and print_totals.
# shellcheck shell=bash

# Bypasses proxies for loopback addresses, and removes the user's settings of the SDKs.
export NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost
for name in $(compgen -e | grep -E '^OPENAI_' || true); do unset "$name"; done

# install MARK FILE... -- COMMAND...: runs the command unless it has succeeded with exactly these files.
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

# print_totals PREFIX FILE...: prints the totals of JUnit files, "N passed, N failed", and fails if a test failed.
print_totals() {
  python3 - "$@" <<'PYTHON'
import sys
import xml.etree.ElementTree as ET

passed = failed = 0
for path in sys.argv[2:]:
    cases = list(ET.parse(path).getroot().iter("testcase"))
    if not cases:
        sys.exit(f"{path}: no test ran")
    broken = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    passed += len(cases) - broken
    failed += broken
print(f"{sys.argv[1]}{passed} passed, {failed} failed")
sys.exit(failed > 0)
PYTHON
}
