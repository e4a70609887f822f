# The libraries of a release as targets, from the folder that tools/release/inputs.sh fills. CMake reads this file right
# after project(): -DCMAKE_PROJECT_mock_gateway_INCLUDE=…, with MOCK_GATEWAY_RELEASE_INPUTS.

foreach(library IN ITEMS nlohmann_json CLI11)
  add_library(${library}::${library} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${library}::${library} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${MOCK_GATEWAY_RELEASE_INPUTS}/include")
endforeach()
