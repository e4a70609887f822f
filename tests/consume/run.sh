#!/bin/sh
# Uses the library as its users do, in a scratch folder, and runs the programs that come out.
#
#   run.sh WAY [cmake -D arguments…]      WAY is copy, compiled_copy, add_subdirectory, fetch_content, find_package,
#                                         pkg_config or program
#
# CXX                        the compiler
# MOCK_GATEWAY_BUILD         find_package, pkg_config, program: the build folder to install from
# MOCK_GATEWAY_FLAGS         the copies: the compiler's and the linker's flags for cpp-httplib and nlohmann/json
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
}

run_programs() {
  for program in "$scratch/build"/uses_*; do "$program"; done
}

# compile_copy FILE… [-D…]: of a folder that has the header and these files, and nothing else.
compile_copy() {
  flags="-std=c++17 ${MOCK_GATEWAY_FLAGS-$(pkg-config --cflags --libs cpp-httplib)} -pthread"
  # The flags are words. Libraries come after the files that need them.
  # shellcheck disable=SC2086
  "$CXX" "$@" -o uses_copy $flags
  ./uses_copy
}

case "$way" in
  *copy)
    mkdir "$scratch/project"
    cp "$checkout/mock_gateway.hpp" "$here/main.cpp" "$here/second.cpp" "$here/implementation.cpp" "$scratch/project"
    cd "$scratch/project"
    ;;
esac

case "$way" in
  copy)
    # Each file that includes everything costs the seconds of the implementation; that two of them link, the tests of the
    # header show.
    printf '#include "main.cpp"\n#include "second.cpp"\n' >joined.cpp
    compile_copy joined.cpp
    ;;
  compiled_copy)
    compile_copy -DMOCK_GATEWAY_HEADER_ONLY=0 main.cpp second.cpp implementation.cpp
    ;;
  add_subdirectory)
    build_with_cmake -DMOCK_GATEWAY_CHECKOUT="$checkout" "$@"
    run_programs
    ;;
  fetch_content)
    build_with_cmake -DFETCHCONTENT_SOURCE_DIR_MOCK_GATEWAY="$checkout" "$@"
    ;;
  find_package)
    cmake --install "$MOCK_GATEWAY_BUILD" --prefix "$scratch/installed"
    build_with_cmake -DCMAKE_PREFIX_PATH="$scratch/installed" "$@"
    run_programs
    ;;
  program)
    # examples/run.sh builds the program and nothing else, so that nothing else may be installed with it.
    cmake --install "$MOCK_GATEWAY_BUILD" --prefix "$scratch/installed" --component program
    installed=$(cd "$scratch/installed" && find . -type f)
    [ "$installed" = ./bin/mock-gateway ] || { echo "installed with the program: $installed" >&2; exit 1; }
    "$scratch/installed/bin/mock-gateway" --version
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
