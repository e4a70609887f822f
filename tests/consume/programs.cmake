# One program per mode. The project's folder must not bring its own tests or programs along.
foreach(mode IN ITEMS mock_gateway compiled)
  add_executable(uses_${mode} ../main.cpp ../second.cpp)
  target_link_libraries(uses_${mode} PRIVATE mock_gateway::${mode})
endforeach()

foreach(uninvited IN ITEMS tests_compiled tests_header_only mock-gateway)
  if(TARGET ${uninvited})
    message(FATAL_ERROR "the consumer got the target ${uninvited}, which it did not ask for")
  endif()
endforeach()
