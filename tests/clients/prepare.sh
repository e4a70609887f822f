# Sourced by scripts that run real clients: sets root and build, installs the pinned SDKs on first use
# (node/node_modules, build/clients/venv), and defines install_wrappers.
# shellcheck shell=bash

clients=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$clients/../.." && pwd)
build=$root/build/clients
mkdir -p "$build"

# shellcheck source=suites.sh
source "$clients/suites.sh"

for tool in node npm python3 curl; do
  command -v "$tool" >/dev/null || {
    echo "${0##*/} needs $tool, which is not installed" >&2
    exit 2
  }
done

install_node() { (cd "$clients/node" && npm ci --no-audit --no-fund --loglevel=error); }
install_python() {
  python3 -m venv --clear "$build/venv"
  "$build/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$clients/python/requirements.txt"
}
install "$clients/node/node_modules/.installed" "$clients/node/package-lock.json" -- install_node
install "$build/venv/.installed" "$clients/python/requirements.txt" -- install_python

# The wrappers need another version of the SDK, a minute and 400 MB, so only scripts that run them install them.
install_wrappers() {
  python3 -m venv --clear "$build/wrappers"
  "$build/wrappers/bin/pip" install --quiet --disable-pip-version-check --requirement "$clients/wrappers/requirements.txt"
}
