#!/usr/bin/env bash
# Runs clients from registries through the catalogue with `mock-gateway check`, and writes the results:
# docs/scoreboard.md, docs/scoreboard.html, and a badge for each client in docs/badges.
#
#   tests/scoreboard/scoreboard.sh [path of the mock-gateway program] [--only CLIENT]… [--scenario SCENARIO]…
#                                  [--jobs N] [--check [--junit FOLDER] | --write-baselines | --render]
#
# clients.json lists the clients; packages/ pins their versions. Each is installed under build/scoreboard on first use,
# with the tools of its language: npm, go, cargo, mvn, jq, g++ with cpp-httplib and nlohmann/json. Clients that cannot
# be installed are skipped and reported. notes.json explains cells that people have examined; the script lists cells
# without a note. It builds the program if no path is given. --only keeps the other clients' last results. --scenario
# prints the output of check for some scenarios, and writes nothing. --jobs sets the number of parallel clients. --check
# compares clients with their baselines/, if they have one, instead of writing pages; --junit writes check-CLIENT.xml
# for each. --write-baselines rewrites those baselines; with --only it also writes a first one. --render writes the
# pages again without a run. A whole run takes at least half an hour, mostly for LangChain JS, which retries six times.
# Installing takes ten more minutes.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=../clients/suites.sh
source "$here/../clients/suites.sh"

if (($# > 0)) && [[ $1 != --* ]]; then
  program=$(realpath "$1")
  shift
else
  "$root/examples/run.sh" --version
  program=$root/build/run/endpoint/mock-gateway
fi

exec python3 "$here/scoreboard.py" "$program" "$@"
