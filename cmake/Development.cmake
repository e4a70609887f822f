# Compiler options of the project's own targets; users of the library do not get them.

function(mock_gateway_develop target)
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  if(MSVC)
    target_compile_options(${target} PRIVATE /W4 $<$<BOOL:${MOCK_GATEWAY_WARNINGS_AS_ERRORS}>:/WX>)
  else()
    # A switch without a default that lacks a value, such as a state of a key, is an error in every build.
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror=switch
      $<$<BOOL:${MOCK_GATEWAY_WARNINGS_AS_ERRORS}>:-Werror>)
  endif()
endfunction()

# The address sanitizer and the undefined behaviour sanitizer share a build; the thread sanitizer needs its own.
if(MOCK_GATEWAY_SANITIZE STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(MOCK_GATEWAY_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread -fno-omit-frame-pointer)
elseif(MOCK_GATEWAY_SANITIZE)
  message(FATAL_ERROR "MOCK_GATEWAY_SANITIZE is \"${MOCK_GATEWAY_SANITIZE}\": use address, thread, or nothing")
endif()
add_compile_options(${sanitizers})
add_link_options(${sanitizers})
