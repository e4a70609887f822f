"""Chooses the targets that `conan create` tests: a program that links the target sends a request to a gateway."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class MockGatewayTestPackage(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        # If there is a compiled library, the test does not compile all of it a second time.
        header_only = self.dependencies[self.tested_reference_str].options.header_only
        cmake = CMake(self)
        cmake.configure(variables={"LINKED": "header_only" if header_only else "mock_gateway"})
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "asks"), env="conanrun")
