# Writes the C++ source of the files that the program embeds: cmake -DSOURCE=endpoint -DOUTPUT=embedded.cpp -P
# Embed.cmake
# SOURCE contains console/ and control/openapi.json. OUTPUT is rewritten only if it changes.

cmake_minimum_required(VERSION 3.16)

get_filename_component(SOURCE "${SOURCE}" ABSOLUTE)
get_filename_component(OUTPUT "${OUTPUT}" ABSOLUTE)

# Sets `out` to the bytes of a file as a list of C++ numbers.
function(bytes_of file out)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n"
    bytes "${bytes}")
  set(${out} "${bytes}" PARENT_SCOPE)
endfunction()

file(GLOB files LIST_DIRECTORIES false RELATIVE "${SOURCE}/console" "${SOURCE}/console/*")
list(SORT files)
set(arrays "")
set(entries "")
set(count 0)
foreach(file IN LISTS files)
  file(SIZE "${SOURCE}/console/${file}" size)
  if(size EQUAL 0 OR file MATCHES "^[.]")
    continue()
  endif()
  bytes_of("${SOURCE}/console/${file}" bytes)
  string(APPEND arrays "const unsigned char file_${count}[] = {${bytes}};\n")
  string(APPEND entries "    {\"${file}\", text_of(file_${count}, sizeof file_${count})},\n")
  math(EXPR count "${count} + 1")
endforeach()
bytes_of("${SOURCE}/control/openapi.json" bytes)
string(APPEND arrays "const unsigned char openapi[] = {${bytes}};\n")

set(text "// Written by cmake/Embed.cmake.

#include \"control/embedded.hpp\"

namespace mock_gateway {
namespace endpoint {
namespace {

${arrays}
std::string_view text_of(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

const EmbeddedFile embedded_files[] = {
${entries}};
const std::size_t embedded_file_count = sizeof embedded_files / sizeof *embedded_files;
const std::string_view embedded_openapi = text_of(openapi, sizeof openapi);

}  // namespace endpoint
}  // namespace mock_gateway
")
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
