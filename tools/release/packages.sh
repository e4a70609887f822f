#!/usr/bin/env bash
# Makes packages of the programs of a release: tools/release/packages.sh VERSION FOLDER
#
# FOLDER contains mock-gateway-VERSION-TARGET for some targets, and the licenses. The script adds for each target a
# wheel and an npm package of the program, for Linux also a Debian package. It also adds an npm package of the helper,
# which uses the program of its platform; a Go module with all programs, as files of a module proxy in FOLDER/go; and a
# Containerfile. For C++ it adds the library's sources with a Conan recipe, and a vcpkg port of them in FOLDER/vcpkg. If
# the programs of all platforms are there, it adds a Homebrew formula. Each package is made by its ecosystem's own tool,
# if it has one: hatchling, npm, dpkg-deb.
# For packages to publish: MOCK_GATEWAY_GO_MODULE is the path of the module and MOCK_GATEWAY_HOME_URL the address of
# FOLDER. With MOCK_GATEWAY_NPM_PUBLISHED=1 npm fetches the program of a platform; otherwise it would request names from
# the registry that are not ours. Exit status 77: a registry cannot be reached.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
version=${1:?usage: packages.sh VERSION FOLDER}
dist=$(realpath "${2:?usage: packages.sh VERSION FOLDER}")
umask 022 # packages contain file modes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The time stamps in archives.
: "${SOURCE_DATE_EPOCH:=$(git -C "$root" log -1 --format=%ct 2>/dev/null || stat -c %Y "$root/src/core/version.hpp")}"
export SOURCE_DATE_EPOCH

die() { echo "packages.sh: $*" >&2; exit 1; }
for tool in npm dpkg-deb python3; do command -v $tool >/dev/null || die "$tool is missing"; done
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "python3 is older than 3.11"

go_module=${MOCK_GATEWAY_GO_MODULE:-mock-gateway.example/go}
[[ $go_module != *[A-Z]* ]] || die "MOCK_GATEWAY_GO_MODULE has capitals, which a proxy of modules writes otherwise"

home_url=${MOCK_GATEWAY_HOME_URL:-https://mock-gateway.example}
[[ $home_url =~ ^[a-z]+://[A-Za-z0-9._~:/@%+-]+$ ]] || die "MOCK_GATEWAY_HOME_URL is \"$home_url\", which is no address"
home_url=${home_url%/}

# TARGET, the tag of its wheel, npm's names of its system and its processor, Debian's name of its processor. A static
# program needs no C library: it runs on every Linux.
targets='linux-x86_64 manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64 linux x64 amd64
linux-arm64 manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64 linux arm64 arm64
macos-arm64 macosx_13_0_arm64 darwin arm64 -
macos-x86_64 macosx_13_0_x86_64 darwin x64 -'

# new_folder NAME: creates a folder with the licenses
new_folder() { mkdir "$work/$1" && cp "$dist/LICENSE" "$dist/LICENSES-OF-OTHERS" "$work/$1/" && echo "$work/$1"; }

make_wheel() {
  local program=$1 tag=$2 folder
  folder=$(new_folder wheel)
  cp "$here"/python/{pyproject.toml,platform_tag.py,README.md} "$folder/"
  install -m 755 "$program" "$folder/mock-gateway"
  mkdir "$folder/mock_gateway"
  cp "$root/helpers/python/mock_gateway.py" "$folder/mock_gateway/__init__.py"
  touch "$folder/mock_gateway/py.typed"
  MOCK_GATEWAY_VERSION=$version MOCK_GATEWAY_PLATFORM=$tag "$work/venv/bin/pip" wheel --quiet \
    --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$dist" "$folder"
  rm -r "$folder"
}

# pack FOLDER: makes an npm package in dist
pack() { (cd "$1" && npm pack --silent --pack-destination "$dist" >/dev/null); }

make_npm_program() {
  local program=$1 system=$2 processor=$3 folder
  folder=$(new_folder npm)
  install -m 755 "$program" "$folder/mock-gateway"
  cat >"$folder/package.json" <<JSON
{
  "name": "@mock-gateway/$system-$processor",
  "version": "$version",
  "description": "The program of the package mock-gateway for $system on $processor",
  "license": "MIT",
  "os": ["$system"],
  "cpu": ["$processor"],
  "preferUnplugged": true,
  "files": ["mock-gateway", "LICENSES-OF-OTHERS"]
}
JSON
  pack "$folder"
  rm -r "$folder"
}

make_npm_helper() {
  local folder
  folder=$(new_folder npm)
  rm "$folder/LICENSES-OF-OTHERS" # this package contains no program
  cp "$root"/helpers/node/mock-gateway.{mjs,d.mts} "$here"/npm/{run.mjs,README.md} "$folder/"
  chmod +x "$folder/run.mjs"
  local programs=
  if [[ ${MOCK_GATEWAY_NPM_PUBLISHED:-} == 1 ]]; then programs=$(awk '{ print $3 "-" $4 }' <<<"$targets"); fi
  VERSION=$version PROGRAMS=$programs node --input-type=module - \
    "$here/npm/package.json" >"$folder/package.json" <<'JS'
import { readFileSync } from 'node:fs';

const about = JSON.parse(readFileSync(process.argv[2]));
about.version = process.env.VERSION;
for (const program of process.env.PROGRAMS.split('\n').filter(Boolean))
  about.optionalDependencies[`@mock-gateway/${program}`] = about.version;
console.log(JSON.stringify(about, null, 2));
JS
  pack "$folder"
  rm -r "$folder"
}

make_deb() {
  local program=$1 processor=$2 folder=$work/deb
  mkdir -p "$folder"/{DEBIAN,usr/bin,usr/share/doc/mock-gateway}
  install -m 755 "$program" "$folder/usr/bin/mock-gateway"
  cat "$dist/LICENSE" "$dist/LICENSES-OF-OTHERS" >"$folder/usr/share/doc/mock-gateway/copyright"
  cat >"$folder/DEBIAN/control" <<CONTROL
Package: mock-gateway
Version: $version
Architecture: $processor
Maintainer: the mock_gateway authors <mock-gateway@localhost>
Section: devel
Priority: optional
Installed-Size: $(find "$folder/usr" -type f -printf '%s\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }')
Description: test double of an OpenAI-compatible model gateway
 An HTTP endpoint whose keys, replies, streams, failures and timing a test
 decides. It serves, judges the client of a test suite, and takes any client
 through what gateways have surprised clients with.
CONTROL
  find "$folder" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zxz --build "$folder" "$dist/mock-gateway_${version}_$processor.deb" >/dev/null
  rm -r "$folder"
}

# make_go: follows `go help goproxy` and `go help module-zip`; each platform embeds its own program.
make_go() {
  local folder=$work/go zip=$dist/go/$go_module/@v target tag system processor debian arch constraints=
  cp -r "$here/go" "$folder"
  sed -i "s|@MODULE@|$go_module|" "$folder/cmd/mock-gateway/main.go"
  cp "$root/helpers/go/mockgateway.go" "$dist/LICENSE" "$dist/LICENSES-OF-OTHERS" "$folder/"
  sed "s|^module .*|module $go_module|" "$root/helpers/go/go.mod" >"$folder/go.mod"
  while read -r target tag system processor debian; do
    [[ -f $dist/mock-gateway-$version-$target ]] || continue
    arch=${processor/x64/amd64}
    cp "$dist/mock-gateway-$version-$target" "$folder/mock-gateway-$system-$arch"
    printf 'package mockgateway\n\nimport _ "embed"\n\n//go:embed mock-gateway-%s-%s\nvar embedded []byte\n' \
      "$system" "$arch" >"$folder/program_${system}_$arch.go"
    constraints+="${constraints:+ && }!($system && $arch)"
  done <<<"$targets"
  printf '//go:build %s\n\npackage mockgateway\n\nvar embedded []byte\n' "$constraints" >"$folder/no_program.go"
  mkdir -p "$zip"
  echo "v$version" >"$zip/list"
  cp "$folder/go.mod" "$zip/v$version.mod"
  python3 - "$folder" "$zip/v$version" "$go_module@v$version" "$SOURCE_DATE_EPOCH" <<'PYTHON'
import json
import sys
import time
import zipfile
from pathlib import Path

folder, path, prefix, moment = Path(sys.argv[1]), sys.argv[2], sys.argv[3], time.gmtime(int(sys.argv[4]))
with zipfile.ZipFile(path + ".zip", "w", zipfile.ZIP_DEFLATED) as module:
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        entry = zipfile.ZipInfo(f"{prefix}/{file.relative_to(folder)}", moment[:6])
        entry.compress_type = zipfile.ZIP_DEFLATED
        module.writestr(entry, file.read_bytes())
about = {"Version": prefix.rpartition("@")[2], "Time": time.strftime("%Y-%m-%dT%H:%M:%SZ", moment)}
Path(path + ".info").write_text(json.dumps(about) + "\n")
PYTHON
  rm -r "$folder"
}

# make_cpp: the files that Conan's recipe exports, the recipe, and the port, which uses the same archive.
make_cpp() {
  local name=mock-gateway-cpp-$version
  local folder=$work/$name archive=$dist/$name.tar.gz port=$dist/vcpkg/mock-gateway
  mkdir -p "$folder"/{src/core,tools/release/conan/test_package} "$port"
  cp "$root"/{LICENSE,CMakeLists.txt,mock_gateway.hpp} "$folder/"
  cp -r "$root/cmake" "$folder/"
  cp "$root/src/core/version.hpp" "$folder/src/core/"
  cp "$here/conan/conanfile.py" "$folder/tools/release/conan/"
  cp "$here"/conan/test_package/{conanfile.py,CMakeLists.txt,asks.cpp} "$folder/tools/release/conan/test_package/"
  tar --create --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=u+w,go-w \
    --mtime="@$SOURCE_DATE_EPOCH" "$name" | gzip -9n >"$archive"
  rm -r "$folder"
  cp "$here/vcpkg/usage" "$port/"
  sed "s|@VERSION@|$version|; s|@HOME_URL@|$home_url|" "$here/vcpkg/vcpkg.json" >"$port/vcpkg.json"
  sed "s|@HOME_URL@|$home_url|; s|@SHA512@|$(sha512sum <"$archive" | cut -d ' ' -f 1)|" \
    "$here/vcpkg/portfile.cmake" >"$port/portfile.cmake"
}

# make_formula: a formula names the programs of all platforms, so without one of them there is none.
make_formula() {
  local target others file
  while read -r target others; do
    [[ -f $dist/mock-gateway-$version-$target ]] || return 0
  done <<<"$targets"
  sed "s|@VERSION@|$version|g; s|@HOME_URL@|$home_url|" "$here/homebrew/mock-gateway.rb" >"$work/mock-gateway.rb"
  sed -n 's/.*"@SHA256 \(.*\)@".*/\1/p' "$work/mock-gateway.rb" | while read -r file; do
    sed -i "s|@SHA256 $file@|$(sha256sum <"$dist/$file" | cut -d ' ' -f 1)|" "$work/mock-gateway.rb"
  done
  mv "$work/mock-gateway.rb" "$dist/"
}

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: \
  --requirement "$here/python/requirements.txt" 2>"$work/pip.log" || {
  cat "$work/pip.log" >&2
  if grep -q 'DO NOT MATCH THE HASHES' "$work/pip.log"; then die "what builds wheels is not what this release is pinned to"; fi
  echo "packages.sh: what builds wheels cannot be had" >&2
  exit 77
}

while read -r target tag system processor debian <&3; do
  program=$dist/mock-gateway-$version-$target
  [[ -f $program ]] || continue
  make_wheel "$program" "$tag"
  make_npm_program "$program" "$system" "$processor"
  if [[ $debian != - ]]; then make_deb "$program" "$debian"; fi
done 3<<<"$targets" # a descriptor that the commands in the loop do not read
make_npm_helper
make_go
make_cpp
make_formula
sed "s/@VERSION@/$version/" "$here/Containerfile" >"$dist/Containerfile"
