"""nlohmann/json under its Conan Center name, if Conan Center cannot be reached: NLOHMANN_FOLDER contains nlohmann/."""

import os
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.files import copy, load


class NlohmannJson(ConanFile):
    name = "nlohmann_json"
    package_type = "header-library"

    def set_version(self):
        folder = Path(os.environ["NLOHMANN_FOLDER"], "nlohmann")
        text = load(self, next(each for each in (folder / "detail/abi_macros.hpp", folder / "json.hpp") if each.exists()))
        parts = (re.search(rf"^#define NLOHMANN_JSON_VERSION_{part} (\d+)", text, re.MULTILINE)[1]
                 for part in ("MAJOR", "MINOR", "PATCH"))
        self.version = ".".join(parts)

    def export_sources(self):
        copy(self, "nlohmann/*", os.environ["NLOHMANN_FOLDER"], self.export_sources_folder)

    def package(self):
        copy(self, "nlohmann/*", self.source_folder, Path(self.package_folder, "include"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "nlohmann_json")
        self.cpp_info.set_property("cmake_target_name", "nlohmann_json::nlohmann_json")
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
