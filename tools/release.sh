#!/usr/bin/env bash
# Makes the programs and packages of a release in build/dist, and tests them: tools/release.sh [options] VERSION
#
#   --draft          VERSION needs no section in docs/changelog.md: uses the section of unreleased changes
#   --targets LIST   only these, separated by commas; default: linux-x86_64,linux-arm64,macos-arm64,macos-x86_64
#   --check LIST     for these targets, only checks that the program compiles, in a minute or two each
#   --no-tests       makes the files and reports each as not tested
#   --part LIST      runs only these files of the endpoint tests, separated by commas: serve,control
#   --junit FOLDER   writes the report of the endpoint tests to this folder
#   --same-bits      builds each program again, from another folder, and compares the bits
#
# VERSION is that of src/core/version.hpp. zig compiles the programs; tools/release/inputs.sh fetches zig and the
# libraries, with pinned versions. The first run takes twenty minutes on two cores. It needs Linux, cargo, and Debian's
# apt. Exit status 77: a registry cannot be reached.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
work=$root/build/zig
dist=$root/build/dist
inputs=$work/inputs

usage() { sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
die() { echo "release.sh: $*" >&2; exit 1; }

draft=no tests=yes same_bits=no version= part= junit= checked=() targets=(linux-x86_64 linux-arm64 macos-arm64 macos-x86_64)
while (($# > 0)); do
  case $1 in
    --draft) draft=yes ;;
    --no-tests) tests=no ;;
    --part) part=${2:-}; shift ;;
    --junit) mkdir -p "${2:?--junit needs a folder}" && junit=$(realpath "$2"); shift ;;
    --same-bits) same_bits=yes ;;
    --targets) IFS=, read -ra targets <<<"${2:-}"; shift ;;
    --check) IFS=, read -ra checked <<<"${2:-}"; shift ;;
    -* | '') usage ;;
    *) [[ -z $version ]] || usage; version=$1 ;;
  esac
  shift
done
[[ -n $version ]] || usage

# The target's name in zig.
zig_target() {
  case $1 in
    linux-x86_64) echo x86_64-linux-musl ;;
    linux-arm64) echo aarch64-linux-musl ;;
    macos-arm64) echo aarch64-macos.13.0 ;;
    macos-x86_64) echo x86_64-macos.13.0 ;;
    *) die "there is no target $1" ;;
  esac
}
for target in "${targets[@]}" "${checked[@]}"; do zig_target "$target" >/dev/null; done

here=$(sed -n 's/^#define MOCK_GATEWAY_VERSION "\(.*\)"/\1/p' src/core/version.hpp)
[[ $version == "$here" ]] || die "src/core/version.hpp says $here, not $version"

# changelog SECTION: prints the text of the section
changelog() { awk -v title="## $1" '/^## / { on = $0 == title; next } on' docs/changelog.md; }
section=$version
[[ -n $(changelog "$version") || $draft == no ]] || section=Unreleased
[[ -n $(changelog "$section") ]] || die "docs/changelog.md has no section \"## $section\"; --draft takes \"## Unreleased\""

for tool in npm dpkg-deb; do command -v $tool >/dev/null || die "$tool is missing, which makes a package"; done

# --- Programs ---------------------------------------------------------------------------------------------------------

tools/release/inputs.sh "$inputs" || exit $?
# The cache of what zig compiles itself, such as the C library.
export ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache
# The time stamps in archives. An archive of the sources has no repository.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y src/core/version.hpp)
export SOURCE_DATE_EPOCH

# configure TARGET SOURCES BUILD [OPTION of cmake…]
configure() {
  local target=$1 sources=$2 build=$3 options=("${@:4}") flags
  # Keeps paths of this machine out of the program.
  flags="-ffile-prefix-map=$sources=. -ffile-prefix-map=$build=build -ffile-prefix-map=$inputs=inputs"
  # Unused functions are removed. The serving code is optimized for speed; the rest of the program, most of its bytes,
  # for size.
  flags+=" -ffunction-sections -fdata-sections"
  # musl's malloc has one lock for all threads.
  if [[ $target == linux-* ]]; then options+=(-DMOCK_GATEWAY_MIMALLOC="$inputs/mimalloc"); fi
  cmake -G Ninja -DCMAKE_MAKE_PROGRAM="$(command -v ninja)" -S "$sources" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$sources/cmake/zig.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" \
    -DMOCK_GATEWAY_ZIG="$inputs/zig/bin/zig" -DMOCK_GATEWAY_ZIG_TARGET="$(zig_target "$target")" \
    -DCMAKE_PROJECT_mock_gateway_INCLUDE="$sources/tools/release/inputs.cmake" -DMOCK_GATEWAY_RELEASE_INPUTS="$inputs" \
    -DMOCK_GATEWAY_HTTPLIB_INCLUDE_DIR="$inputs/httplib" -DMOCK_GATEWAY_BUILD_TESTS=OFF -DMOCK_GATEWAY_BUILD_EXAMPLES=AUTO \
    -DMOCK_GATEWAY_INSTALL=OFF -DMOCK_GATEWAY_PROGRAM_OPTIONS=-Os "${options[@]}" >"$build.log" 2>&1
}

# failed TARGET BUILD
failed() {
  tail -n 40 "$2.log" >&2
  die "the program for $1 was not built"
}

# build TARGET SOURCES BUILD: leaves BUILD/endpoint/mock-gateway
build() {
  configure "$@" && cmake --build "$3" --target mock-gateway -j 2 >>"$3.log" 2>&1 || failed "$1" "$3"
}

# check TARGET BUILD: checks that the program compiles and links without optimization, and keeps nothing. The UB checks
# that zig adds to unoptimized code are turned off: with them it would compile more slowly than optimized code.
check() {
  configure "$1" "$root" "$2" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O0 -fno-sanitize=undefined" \
    -DMOCK_GATEWAY_PROGRAM_OPTIONS= &&
    cmake --build "$2" --target mock-gateway -j 2 >>"$2.log" 2>&1 || failed "$1" "$2"
}

mkdir -p "$work"
rm -rf "$dist"
mkdir -p "$dist"
for target in "${targets[@]}"; do
  echo "Building the program for $target"
  build "$target" "$root" "$work/$target"
  install -m 755 "$work/$target/endpoint/mock-gateway" "$dist/mock-gateway-$version-$target"
done

for target in "${checked[@]}"; do
  echo "Checking that the program compiles for $target"
  check "$target" "$work/$target-check"
done

if [[ $same_bits == yes ]]; then
  again=$(mktemp -d)
  trap 'rm -rf "$again"' EXIT
  mkdir "$again/sources"
  cp -r CMakeLists.txt cmake endpoint examples src mock_gateway.hpp tools "$again/sources/"
  for target in "${targets[@]}"; do
    echo "Building the program for $target a second time"
    build "$target" "$again/sources" "$again/$target"
    cmp "$dist/mock-gateway-$version-$target" "$again/$target/endpoint/mock-gateway" ||
      die "the program for $target is another one when it is built in another folder"
  done
  echo "The same bits twice: ${targets[*]}"
fi

# --- Other files of a release -----------------------------------------------------------------------------------------

changelog "$section" | sed -e '/./,$!d' >"$dist/CHANGELOG.md"
cp LICENSE "$dist/"
{
  echo "mock-gateway $version contains these, under their licenses:"
  for license in "$inputs"/licenses/*; do
    printf '\n--- %s\n\n' "${license##*/}"
    cat "$license"
  done
} >"$dist/LICENSES-OF-OTHERS"
cp "$inputs/VERSIONS" "$dist/BUILT-WITH"
tools/release/packages.sh "$version" "$dist" || exit $?

# --- Tests ------------------------------------------------------------------------------------------------------------

result=0
if [[ $tests == yes ]]; then
  tests/release/run.sh "$version" "$dist" "$part" "$junit" || result=1
else
  echo "Nothing here has been tested." >"$dist/TESTED.md"
fi
(cd "$dist" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
cat "$dist/TESTED.md"
exit $result
