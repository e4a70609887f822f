#!/bin/sh
# Uses the library like a user, in a temporary folder, and runs the resulting programs.
#
#   run.sh WAY [cmake -D arguments…]
#
# With the header and a compiler:
#   copy             two files, and a third that compiles the implementation
#   one_file         one file that compiles the implementation too
#   header_only      two files with MOCK_GATEWAY_HEADER_ONLY=1
#   static_library   one file and the implementation are in a static library
#   shared_library   one file and the implementation are in a shared library
#   link_error       without the implementation: checks the message of each linker
# With CMake or pkg-config: add_subdirectory, fetch_content, find_package, pkg_config, program
#
# CXX                        the compiler
# MOCK_GATEWAY_BUILD         the build folder to install from; copy and the two libraries use its implementation, which
#                            cmake/compiled.cpp compiles as users do
# MOCK_GATEWAY_FLAGS         the compiler's and the linker's flags for cpp-httplib and nlohmann/json
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

flags="-std=c++17 ${MOCK_GATEWAY_FLAGS-$(pkg-config --cflags --libs cpp-httplib)} -pthread"
# $flags is split into words on purpose. Libraries come after the files that need them.
# shellcheck disable=SC2086
compile() { "$CXX" "$@" $flags; }

# Creates a folder with only the header and the two files, and enters it.
begin_project() {
  mkdir "$scratch/project"
  cp "$checkout/mock_gateway.hpp" "$here/main.cpp" "$here/second.cpp" "$scratch/project"
  cd "$scratch/project"
}

# Extracts the object file of the implementation, compiled.cpp.o.
take_implementation() { ar x "$MOCK_GATEWAY_BUILD/libmock_gateway.a"; }

case "$way" in
  copy)
    begin_project
    take_implementation
    compile main.cpp second.cpp compiled.cpp.o -o uses_copy
    ./uses_copy
    ;;
  one_file)
    begin_project
    printf '#define MOCK_GATEWAY_IMPLEMENTATION\n#include "main.cpp"\n#include "second.cpp"\n' >joined.cpp
    compile joined.cpp -o uses_one_file
    ./uses_one_file
    ;;
  header_only)
    begin_project
    compile -c -DMOCK_GATEWAY_HEADER_ONLY=1 second.cpp &
    compile -c -DMOCK_GATEWAY_HEADER_ONLY=1 main.cpp
    wait $!
    compile main.o second.o -o uses_header_only
    ./uses_header_only
    ;;
  static_library)
    begin_project
    take_implementation
    compile -c second.cpp
    ar rcs libsecond.a second.o compiled.cpp.o
    compile main.cpp libsecond.a -o uses_static_library
    ./uses_static_library
    ;;
  shared_library)
    begin_project
    take_implementation
    compile -shared -fPIC second.cpp compiled.cpp.o -o libsecond.so
    compile main.cpp ./libsecond.so -o uses_shared_library
    ./uses_shared_library
    ;;
  link_error)
    begin_project
    # shellcheck disable=SC2086
    python3 "$here/link_error.py" $flags
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
    # examples/run.sh builds only the program, so only the program may be installed.
    cmake --install "$MOCK_GATEWAY_BUILD" --prefix "$scratch/installed" --component program
    installed=$(cd "$scratch/installed" && find . -type f)
    [ "$installed" = ./bin/mock-gateway ] || { echo "installed with the program: $installed" >&2; exit 1; }
    "$scratch/installed/bin/mock-gateway" --version
    ;;
  pkg_config)
    cmake --install "$MOCK_GATEWAY_BUILD" --prefix "$scratch/installed"
    # mock_gateway.pc contains the prefix of the configuration, which this test replaces.
    description=$(find "$scratch/installed" -name mock_gateway.pc)
    PKG_CONFIG_PATH=$(dirname "$description")
    export PKG_CONFIG_PATH
    flags=$(pkg-config --define-variable=prefix="$scratch/installed" --cflags --libs mock_gateway)
    # $flags is split into words on purpose.
    # shellcheck disable=SC2086
    "$CXX" -std=c++17 "$here/main.cpp" "$here/second.cpp" -o "$scratch/uses_pkg_config" $flags
    "$scratch/uses_pkg_config"
    ;;
  *)
    echo "consume: unknown way $way" >&2
    exit 1
    ;;
esac
