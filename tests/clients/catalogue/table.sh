#!/usr/bin/env bash
# Runs the official openai SDKs for Node and Python and the AI SDK through every scenario of the catalogue, and writes
# what became of their calls to TABLE.md.
#
#   tests/clients/catalogue/table.sh [path to the catalogue_gateways binary] [--check [--junit FILE]] [--only SCENARIO]…
#
# --check compares with TABLE.md in place of writing it; --only prints the table of a few scenarios. The gateways are
# compiled unless given.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../prepare.sh
source "$here/../prepare.sh"

if (($# > 0)) && [[ $1 != --* ]]; then
  gateways=$1
  shift
else
  gateways=$build/catalogue_gateways
  compile_gateways "$here/gateways.cpp" "$gateways"
fi

exec "$build/venv/bin/python" "$here/table.py" "$gateways" "$@"
