#!/bin/sh
# Fetches the original single header of each cpp-httplib version in supported Debian releases.
set -eu

usage() {
  cat <<'TEXT'
usage: fetch_httplib.sh [--refresh] DEST
       fetch_httplib.sh --help

Puts DEST/<version>/httplib.h, the single header as its authors released it, for each cpp-httplib in the Debian suites
bookworm, trixie, forky and sid (HTTPLIB_SUITES="…" chooses others), and prints the versions, one a line, oldest first.
A test then compiles with -isystem DEST/<version>.

The headers come from Debian's source packages, without Debian's patches, from the mirror that this machine's apt is
configured for. Everything downloaded is verified against Debian's archive keys. apt's own state, sources and cache are
not touched: lists and archives go to a temporary folder (about 50 MB to download).

DEST/VERSIONS lists what was provided, and is written only when every suite answered. When it is there, nothing is
downloaded; --refresh downloads all the same.

exit status: 0 at least one version was provided; 77 the mirror cannot be reached, or this machine has no apt or no
Debian mirror (tests skip on 77); 1 anything else.
TEXT
}

refresh=no
destination=
for argument in "$@"; do
  case "$argument" in
    -h | --help) usage; exit 0 ;;
    --refresh) refresh=yes ;;
    -*) echo "fetch_httplib: unknown option $argument; see --help" >&2; exit 1 ;;
    *) destination=$argument ;;
  esac
done
[ -n "$destination" ] || { usage >&2; exit 1; }

if [ $refresh = no ] && [ -s "$destination/VERSIONS" ]; then
  cat "$destination/VERSIONS"
  exit 0
fi

suites=${HTTPLIB_SUITES:-bookworm trixie forky sid}
package=cpp-httplib
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

skip() {
  echo "fetch_httplib: $1; no version provided"
  exit 77
}
command -v apt-get >/dev/null || skip "this machine has no apt"
[ -r $keyring ] || skip "this machine has no Debian archive keyring"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/parts" "$work/download"
# apt downloads as the user _apt.
chmod 755 "$work"
if [ "$(id -u)" = 0 ] && id _apt >/dev/null 2>&1; then chown _apt "$work/download"; fi

# The machine's transport settings (proxies, certificates) stay in force; its sources, pins and lists do not.
private_apt() {
  limit=$1 tool=$2
  shift 2
  timeout -k 5 "$limit" "$tool" -q \
    -o Dir::State="$work/state" -o Dir::State::status="$work/state/status" -o Dir::Cache="$work/cache" \
    -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts="$work/parts" \
    -o Dir::Etc::preferences="$work/none" -o Dir::Etc::preferencesparts="$work/parts" \
    -o APT::Default-Release= -o Acquire::Languages=none \
    -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Retries=1 "$@" </dev/null
}
: >"$work/state/status"

# One line "mirror" for each archive with the component main of a Debian release. Third-party archives can look the
# same, so each is tried until one has the package. Excludes the security archive, which has no complete release.
mirrors=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 2>/dev/null |
  awk '$2 == "main" && $1 ~ /^(bookworm|trixie|forky|sid|oldstable|stable|testing|unstable)$/ { print $3 }' |
  sort -u)
[ -n "$mirrors" ] || skip "apt is configured for no Debian mirror"

madison=
for mirror in $mirrors; do
  for suite in $suites; do
    echo "deb-src [signed-by=$keyring] $mirror $suite main"
  done >"$work/sources.list"
  # If one suite fails, the others stay usable: the downloaded lists decide, not the exit status.
  private_apt 300 apt-get update >"$work/update.log" 2>&1 || true
  madison=$(private_apt 60 apt-cache madison $package 2>/dev/null || true)
  [ -z "$madison" ] || break
done
if [ -z "$madison" ] && grep -E 'NO_PUBKEY|BADSIG|EXPKEYSIG|REVKEYSIG' "$work/update.log" >&2; then
  echo "fetch_httplib: refused what the mirror sent: no key of $keyring has signed it" >&2
  exit 1
fi
[ -n "$madison" ] || skip "the Debian mirror cannot be reached"

complete=yes
for suite in $suites; do
  case "$madison" in
    *" $suite/main "*) ;;
    *) complete=no; echo "fetch_httplib: no $package from $suite" >&2; grep '^[EW]:' "$work/update.log" >&2 || true ;;
  esac
done

# Prints the httplib.h at the top level of a source archive. tar needs the program xz, which a small system may lack.
unpack() {
  if command -v xz >/dev/null; then
    tar -xOf "$1" --wildcards --no-wildcards-match-slash '*/httplib.h'
  else
    python3 - "$1" <<'PYTHON'
import re, sys, tarfile
with tarfile.open(sys.argv[1]) as archive:
    header = next(m for m in archive if m.isfile() and re.fullmatch(r"[^/]+/httplib\.h", m.name.removeprefix("./")))
    sys.stdout.buffer.write(archive.extractfile(header).read())
PYTHON
  fi
}

mkdir -p "$destination"
: >"$work/versions"
for version in $(echo "$madison" | awk -F ' *[|] *' '{ print $2 }' | sort -u -V); do
  mkdir "$work/download/$version"
  if [ "$(id -u)" = 0 ] && id _apt >/dev/null 2>&1; then chown _apt "$work/download/$version"; fi
  (cd "$work/download/$version" && private_apt 120 apt-get source --download-only --tar-only "$package=$version") \
    >"$work/source.log" 2>&1 || {
    complete=no
    echo "fetch_httplib: $package $version could not be downloaded" >&2
    grep '^[EW]:' "$work/source.log" >&2 || true
    continue
  }
  unpack "$work/download/$version/"*.orig.tar.* >"$work/httplib.h"
  release=$(sed -n 's/^#define CPPHTTPLIB_VERSION "\([0-9.]*\)".*/\1/p' "$work/httplib.h")
  case "$version" in
    "$release"[-+~]*) ;;
    *) echo "fetch_httplib: $package $version contains a header that calls itself '$release'" >&2; exit 1 ;;
  esac
  mkdir -p "$destination/$release"
  cp "$work/httplib.h" "$destination/$release/httplib.h.new"
  mv "$destination/$release/httplib.h.new" "$destination/$release/httplib.h"
  echo "$release" >>"$work/versions"
done
[ -s "$work/versions" ] || skip "the Debian mirror cannot be reached"

sort -u -V "$work/versions" >"$work/sorted"
if [ $complete = yes ]; then cp "$work/sorted" "$destination/VERSIONS"; fi
cat "$work/sorted"
