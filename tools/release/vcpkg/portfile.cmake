# The vcpkg port of the library: builds and installs an archive of a release. tools/release/packages.sh fills in the
# archive's address and checksum.

vcpkg_download_distfile(ARCHIVE
  URLS "@HOME_URL@/mock-gateway-cpp-${VERSION}.tar.gz"
  FILENAME "mock-gateway-cpp-${VERSION}.tar.gz"
  SHA512 @SHA512@)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${ARCHIVE}")

vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DMOCK_GATEWAY_BUILD_TESTS=OFF
    -DMOCK_GATEWAY_BUILD_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME mock_gateway CONFIG_PATH lib/cmake/mock_gateway)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
