# One program for each of the library's targets in `modes`. Each file that includes everything costs the seconds of the
# implementation, so the files of the inline program are joined.
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
