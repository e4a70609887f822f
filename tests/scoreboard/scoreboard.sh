#!/usr/bin/env bash
# Runs clients from registries through the catalogue with `mock-gateway check`, and writes what became of their calls:
# docs/scoreboard.md, docs/scoreboard.html, and a badge for each in docs/badges.
#
#   tests/scoreboard/scoreboard.sh [path to the mock-gateway program] [--only CLIENT]… [--scenario SCENARIO]…
#                                  [--jobs N] [--check [--junit FOLDER] | --write-baselines | --render]
#
# clients.json lists the clients; packages/ pins their versions. Each is installed under build/scoreboard on first
# use, with the tools of its language: npm, go, cargo, mvn, jq, g++ with cpp-httplib and nlohmann/json. One that
# cannot be installed is left out, and said to be. notes.json has what people found who looked at the cells; those
# without a note are listed. The program is built unless given. --only leaves the others as they were when they last
# ran here. --scenario prints what check says of a few scenarios, and writes nothing. --jobs says how many clients run
# at once. --check compares with baselines/ in place of writing pages, for the clients that have one; --junit leaves
# check-CLIENT.xml for each. --write-baselines writes those baselines anew, and with --only a first one. --render
# writes the pages again without a run. A whole run takes half an hour and more, most of it in LangChain JS, which tries
# six times again; installing takes ten minutes before that.
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
