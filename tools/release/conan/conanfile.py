"""The Conan 2 recipe of the library: conan create tools/release/conan --build=missing

Conan runs it in a checkout, or in mock-gateway-cpp-VERSION of a release. The targets are those of the library's own
CMake package. With header_only=True nothing is compiled, and mock_gateway::header_only is the only target.
"""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class MockGatewayConan(ConanFile):
    name = "mock-gateway"
    description = "A test double of an OpenAI-compatible model gateway, in one header"
    license = "MIT"
    topics = ("testing", "mock", "openai", "http-server", "header-only")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"header_only": [True, False]}
    default_options = {"header_only": False}

    def set_version(self):
        text = load(self, Path(self.recipe_folder, "../../../src/core/version.hpp"))
        self.version = re.search(r'^#define MOCK_GATEWAY_VERSION "(.*)"$', text, re.MULTILINE)[1]

    def export_sources(self):
        for file in "mock_gateway.hpp", "CMakeLists.txt", "cmake/*", "src/core/version.hpp", "LICENSE":
            copy(self, file, Path(self.recipe_folder, "../../..").resolve(), self.export_sources_folder)

    def configure(self):
        if self.options.header_only:
            self.package_type = "header-library"

    def requirements(self):
        # Up to 0.18 cpp-httplib uses select() by default, which is limited to 1,024 descriptors.
        self.requires("cpp-httplib/[>=0.19 <1]", transitive_headers=True)
        self.requires("nlohmann_json/[>=3.11 <4]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 17)

    def package_id(self):
        if self.info.options.header_only:
            self.info.clear()

    def layout(self):
        cmake_layout(self)

    def generate(self):
        if self.options.header_only:
            return
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["MOCK_GATEWAY_BUILD_TESTS"] = False
        toolchain.cache_variables["MOCK_GATEWAY_BUILD_EXAMPLES"] = "OFF"
        # A dependency that Conan does not provide is an error.
        toolchain.cache_variables["FETCHCONTENT_FULLY_DISCONNECTED"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        if not self.options.header_only:
            cmake = CMake(self)
            cmake.configure()
            cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder, "licenses"))
        if self.options.header_only:
            copy(self, "mock_gateway.hpp", self.source_folder, Path(self.package_folder, "include"))
        else:
            CMake(self).install()
            for written_by_generators in "lib/cmake", "lib/pkgconfig":
                rmdir(self, Path(self.package_folder, written_by_generators))

    def package_info(self):
        main = "header_only" if self.options.header_only else "mock_gateway"
        self.cpp_info.set_property("cmake_file_name", "mock_gateway")
        self.cpp_info.set_property("cmake_target_name", f"mock_gateway::{main}")
        self.cpp_info.set_property("config_version_compat", "SameMinorVersion")
        for name in dict.fromkeys([main, "header_only"]):
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", f"mock_gateway::{name}")
            component.requires = ["cpp-httplib::cpp-httplib", "nlohmann_json::nlohmann_json"]
            component.defines = ["MOCK_GATEWAY_HEADER_ONLY=1"] if name == "header_only" else []
            component.bindirs = []
            component.libdirs = []
            if self.settings.os in ("Linux", "FreeBSD"):
                component.system_libs = ["pthread"]
            elif self.settings.os == "Windows":
                component.system_libs = ["ws2_32"]
        if not self.options.header_only:
            compiled = self.cpp_info.components["mock_gateway"]
            compiled.set_property("cmake_target_aliases", ["mock_gateway::compiled"])
            compiled.set_property("pkg_config_name", "mock_gateway")
            compiled.defines = ["MOCK_GATEWAY_COMPILED"]
            compiled.libdirs = ["lib"]
            compiled.libs = ["mock_gateway"]
