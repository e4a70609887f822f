#!/bin/sh
# Uses the library as its users do, in a scratch folder, and runs the programs that come out.
#
#   run.sh WAY [cmake -D arguments…]      WAY is copy, add_subdirectory, fetch_content, find_package or pkg_config
#
# CXX                        the compiler
# MOCK_GATEWAY_BUILD         find_package, pkg_config: the build folder to install from
# MOCK_GATEWAY_FLAGS         copy: the compiler's and the linker's flags for cpp-httplib and nlohmann/json
set -eu

way=$1
shift
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
checkout=$(dirname -- "$(dirname -- "$here")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
: "${CXX:=c++}"
export CXX

build_with_cmake() {
  cmake -S "$here/$way" -B "$scratch/build" "$@"
  cmake --build "$scratch/build"
  for program in "$scratch/build"/uses_*; do "$program"; done
}

case "$way" in
  copy)
    mkdir "$scratch/project"
    cp "$checkout/mock_gateway.hpp" "$here/main.cpp" "$here/second.cpp" "$here/implementation.cpp" "$scratch/project"
    cd "$scratch/project"
    flags="-std=c++17 ${MOCK_GATEWAY_FLAGS-$(pkg-config --cflags --libs cpp-httplib)} -pthread"
    # The flags are words. Libraries come after the files that need them.
    # shellcheck disable=SC2086
    "$CXX" main.cpp second.cpp -o uses_inline $flags
    ./uses_inline
    # shellcheck disable=SC2086
    "$CXX" -DMOCK_GATEWAY_HEADER_ONLY=0 main.cpp second.cpp implementation.cpp -o uses_compiled $flags
    ./uses_compiled
    ;;
  add_subdirectory)
    build_with_cmake -DMOCK_GATEWAY_CHECKOUT="$checkout" "$@"
    ;;
  fetch_content)
    build_with_cmake -DFETCHCONTENT_SOURCE_DIR_MOCK_GATEWAY="$checkout" "$@"
    ;;
  find_package)
    cmake --install "$MOCK_GATEWAY_BUILD" --prefix "$scratch/installed"
    build_with_cmake -DCMAKE_PREFIX_PATH="$scratch/installed" "$@"
    # The installed program, when the examples were built.
    if [ -e "$scratch/installed/bin/mock-gateway" ]; then "$scratch/installed/bin/mock-gateway" --version; fi
    ;;
  pkg_config)
    cmake --install "$MOCK_GATEWAY_BUILD" --prefix "$scratch/installed"
    # The folder as it was configured is that of a later installation.
    description=$(find "$scratch/installed" -name mock_gateway.pc)
    PKG_CONFIG_PATH=$(dirname "$description")
    export PKG_CONFIG_PATH
    flags=$(pkg-config --define-variable=prefix="$scratch/installed" --cflags --libs mock_gateway)
    # The flags are words.
    # shellcheck disable=SC2086
    "$CXX" -std=c++17 "$here/main.cpp" "$here/second.cpp" -o "$scratch/uses_pkg_config" $flags
    "$scratch/uses_pkg_config"
    ;;
  *)
    echo "consume: unknown way $way" >&2
    exit 1
    ;;
esac
