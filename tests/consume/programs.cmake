# One program for each of the library's targets in `modes`. cpp-httplib costs seconds for each file that includes
# everything, so the inline program's files are joined; the way "copy" compiles them apart.
foreach(mode IN LISTS modes)
  add_executable(uses_${mode} ../main.cpp ../second.cpp)
  target_link_libraries(uses_${mode} PRIVATE mock_gateway::${mode})
endforeach()
if(TARGET uses_mock_gateway)
  set_target_properties(uses_mock_gateway PROPERTIES UNITY_BUILD ON)
endif()

# The library must not bring its own tests or programs along.
foreach(uninvited IN ITEMS tests_compiled tests_header_only mock-gateway)
  if(TARGET ${uninvited})
    message(FATAL_ERROR "the consumer got the target ${uninvited}, which it did not ask for")
  endif()
endforeach()
