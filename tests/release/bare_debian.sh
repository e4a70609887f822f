#!/usr/bin/env bash
# Creates a minimal Debian of this machine's release, from the mirror in this machine's apt configuration:
#
#   tests/release/bare_debian.sh FOLDER [PACKAGE…]
#
# FOLDER gets mmdebstrap's minbase, the packages, and this machine's apt sources, proxies and name resolution.
# Exit status: 0, or 77 if no Debian can be created here; the last line on stderr says why.
set -euo pipefail

folder=$1
shift
packages=$*

skip() {
  echo "bare_debian.sh: $1" >&2
  exit 77
}

[[ $(id -u) == 0 ]] || skip "chroot needs root"
for program in apt-get mmdebstrap; do
  command -v $program >/dev/null || skip "$program is missing"
done
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mirror=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' | sed -n "s/^$suite main //p" | sort -u)
[[ -n $mirror ]] || skip "apt knows no mirror of Debian ${suite:-without a code name}; apt-get update reads its lists"
mmdebstrap --quiet --mode=root --variant=minbase ${packages:+"--include=${packages// /,}"} \
  --aptopt='APT::Install-Recommends false' "$suite" "$folder" "$mirror" >&2 || skip "mmdebstrap failed, see above"

rm -f "$folder/etc/apt/sources.list"
cp -r /etc/apt/sources.list* "$folder/etc/apt/"
{
  apt-config dump | grep -E '^Acquire::(https?|Check|Retries)' || true
  for scheme in http https; do
    proxy=${scheme}_proxy
    if [[ -n ${!proxy:-} ]]; then echo "Acquire::$scheme::Proxy \"${!proxy}\";"; fi
  done
} >"$folder/etc/apt/apt.conf.d/network"
cp -L /etc/hosts /etc/resolv.conf "$folder/etc/"
