# One program for each target of the library in `modes`.
foreach(mode IN LISTS modes)
  add_executable(uses_${mode} ../main.cpp ../second.cpp)
  target_link_libraries(uses_${mode} PRIVATE mock_gateway::${mode})
endforeach()
# README's first program is a client on cpp-httplib too, and must see it with the same flags as the compiled library.
find_package(doctest QUIET CONFIG)
if(TARGET doctest::doctest AND "mock_gateway" IN_LIST modes AND NOT MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR)
  add_executable(uses_first_test ../../../examples/first_test.cpp)
  target_link_libraries(uses_first_test PRIVATE mock_gateway::mock_gateway doctest::doctest)
endif()

# The library must not add its own tests or programs to the project.
foreach(uninvited IN ITEMS tests_wire first_test mock-gateway)
  if(TARGET ${uninvited})
    message(FATAL_ERROR "the consumer got the target ${uninvited}, which it did not ask for")
  endif()
endforeach()
