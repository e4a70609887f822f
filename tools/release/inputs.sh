#!/usr/bin/env bash
# Fetches the pinned compiler and libraries of a release. None of them is committed.
#
#   tools/release/inputs.sh FOLDER
#
# Fills FOLDER with zig/ (a virtual environment with the compiler), include/ (nlohmann/json and CLI11),
# httplib/httplib.h, mimalloc/ (its source), licenses/ (the license of each), and VERSIONS. Does not fetch existing
# files again. Exit status 77: a registry cannot be reached.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=${1:?usage: tools/release/inputs.sh FOLDER}

# The header of Debian 13, whose version does not change, and which the version matrix tests.
httplib_suite=trixie
httplib=0.18.7
httplib_sha256=4770f8ea3d3fcd27b0b713c783d9b53bce3baddbd5adad13714011df96142526

# Of the package libmimalloc-sys, whose version is in mimalloc/Cargo.toml.
mimalloc_sha256=6a45a52f43e1c16f667ccfe4dd8c85b7f7c204fd5e3bf46c5b0db9a5c3c0b8e9

sum=$(cat "${BASH_SOURCE[0]}" "$here/requirements.txt" "$here/mimalloc/Cargo.toml" | sha256sum)
if [[ -f $folder/.made && $(<"$folder/.made") == "$sum" ]]; then exit 0; fi
rm -rf "$folder"
mkdir -p "$folder"/{include,httplib,licenses}
folder=$(realpath "$folder")

unreachable() {
  echo "inputs.sh: $1 cannot be had" >&2
  exit 77
}

"$root/cmake/ensure_packages.sh" cmake ninja-build python3 python3-venv libcli11-dev
command -v cargo >/dev/null || { echo "inputs.sh: cargo is missing (Debian: cargo)" >&2; exit 1; }

python3 -m venv "$folder/zig"
"$folder/zig/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: \
  --requirement "$here/requirements.txt" || unreachable "the compiler"
packages=$("$folder/zig/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -r "$packages/nlohmann_json/include/nlohmann" "$folder/include/"
cp "$packages"/nlohmann_json-*.dist-info/licenses/LICENSE "$folder/licenses/nlohmann-json"
ln -s "$packages/ziglang/zig" "$folder/zig/bin/zig"
for library in musl libcxx libcxxabi libunwind; do
  for license in "$packages/ziglang/lib/libc/$library/COPYRIGHT" "$packages/ziglang/lib/$library/LICENSE.TXT"; do
    if [[ -f $license ]]; then cp "$license" "$folder/licenses/$library"; fi
  done
done

cp -r /usr/include/CLI "$folder/include/"
sed -n '/^Files: \*/,/^$/p; /^ Redistribution/,/^$/p' /usr/share/doc/libcli11-dev/copyright >"$folder/licenses/CLI11"

HTTPLIB_SUITES=$httplib_suite "$root/tests/matrix/fetch_httplib.sh" "$folder/headers" >&2 || unreachable cpp-httplib
mv "$folder/headers/$httplib/httplib.h" "$folder/httplib/"
rm -r "$folder/headers"
echo "$httplib_sha256  $folder/httplib/httplib.h" | sha256sum --check --quiet || {
  echo "inputs.sh: cpp-httplib $httplib is not the file that this release is pinned to" >&2
  exit 1
}

# The header names its authors and its license, which is the same as this project's.
{ sed -n 's|^//  *\(Copyright.*\)|\1|p' "$folder/httplib/httplib.h" | head -n 1; sed '/^Copyright/d' "$root/LICENSE"; } \
  >"$folder/licenses/cpp-httplib"

# Cargo would write a lock file next to Cargo.toml.
cp -r "$here/mimalloc" "$folder/crate"
(cd "$folder/crate" && cargo vendor --quiet "$folder/crates" >/dev/null) || unreachable mimalloc
grep -q "\"package\":\"$mimalloc_sha256\"" "$folder/crates/libmimalloc-sys/.cargo-checksum.json" || {
  echo "inputs.sh: libmimalloc-sys is not the package that this release is pinned to" >&2
  exit 1
}
mv "$folder/crates/libmimalloc-sys/c_src/mimalloc/v2" "$folder/mimalloc"
rm -r "$folder/crates" "$folder/crate"
cp "$folder/mimalloc/LICENSE" "$folder/licenses/mimalloc"

# version FILE MACRO
version() { sed -n "s|^#define $2  *\"*\([0-9.]*\).*|\1|p" "$1"; }
{
  echo "zig $("$folder/zig/bin/zig" version)"
  echo "nlohmann/json 3.12.0"
  echo "cpp-httplib $(version "$folder/httplib/httplib.h" CPPHTTPLIB_VERSION)"
  echo "CLI11 $(version "$folder/include/CLI/Version.hpp" CLI11_VERSION)"
  echo "mimalloc $(version "$folder/mimalloc/include/mimalloc.h" MI_MALLOC_VERSION)"
} >"$folder/VERSIONS"
echo "$sum" >"$folder/.made"
