"""cpp-httplib under its Conan Center name, if Conan Center cannot be reached: HTTPLIB_FOLDER contains its httplib.h."""

import os
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.files import copy, load


class CppHttplib(ConanFile):
    name = "cpp-httplib"
    package_type = "header-library"

    def set_version(self):
        text = load(self, Path(os.environ["HTTPLIB_FOLDER"], "httplib.h"))
        self.version = re.search(r'^#define CPPHTTPLIB_VERSION "(.*)"$', text, re.MULTILINE)[1]

    def export_sources(self):
        copy(self, "httplib.h", os.environ["HTTPLIB_FOLDER"], self.export_sources_folder)

    def package(self):
        copy(self, "httplib.h", self.source_folder, Path(self.package_folder, "include/httplib"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "httplib")
        self.cpp_info.set_property("cmake_target_name", "httplib::httplib")
        self.cpp_info.includedirs = ["include", "include/httplib"]
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
