#!/bin/sh
# Runs a program for Windows with wine, in a wine prefix below build/ unless WINEPREFIX names one.
#
#   wine.sh PROGRAM ARGUMENT…
set -eu

PATH=$PATH:/usr/lib/wine
export WINEDEBUG="${WINEDEBUG:--all}" WINEPREFIX="${WINEPREFIX:-$(cd "$(dirname "$0")/.." && pwd)/build/wine}"
mkdir -p "$WINEPREFIX"
# The first program starts wine's services, which keep its output open as long as they run. Now and then wine fails to
# start.
for attempt in 1 2 3; do
  wine64 cmd /c exit >/dev/null 2>&1 </dev/null && exec wine64 "$@"
  echo "wine64 failed with status $? (attempt $attempt)" >&2
done
exit 1
