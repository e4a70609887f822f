"""Tests that MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR comes before the include folder of nlohmann/json. That folder may be
/usr/include, and a cross compiler would then use another httplib.h from there.

Usage: include_order_test.py CHECKOUT. Uses only Python's standard library.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CHECKOUT = pathlib.Path(sys.argv.pop(1)).resolve()


class IncludeOrder(unittest.TestCase):
    def test_the_named_folder_comes_first(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "named").mkdir()
            (folder / "named/httplib.h").write_text('#define CPPHTTPLIB_VERSION "0.41.0"\n')
            (folder / "other").mkdir()
            (folder / "targets.cmake").write_text(
                "add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)\n"
                "set_target_properties(nlohmann_json::nlohmann_json PROPERTIES\n"
                f"  INTERFACE_INCLUDE_DIRECTORIES {folder}/other)\n"
                # uses_header is compiled in header-only mode; the library itself is the compiled mode.
                "cmake_language(DEFER CALL add_executable uses_header cmake/compiled.cpp)\n"
                "cmake_language(DEFER CALL target_link_libraries uses_header mock_gateway::header_only)\n"
            )
            configured = subprocess.run(
                ["cmake", "-S", CHECKOUT, "-B", folder / "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
                + [f"-DMOCK_GATEWAY_HTTPLIB_INCLUDE_DIR={folder}/named", "-DMOCK_GATEWAY_BUILD_TESTS=OFF"]
                + [f"-DCMAKE_PROJECT_mock_gateway_INCLUDE={folder}/targets.cmake", "-DMOCK_GATEWAY_BUILD_EXAMPLES=AUTO"],
                capture_output=True,
                text=True,
            )
            self.assertEqual(configured.returncode, 0, configured.stderr)
            seen = {}
            for entry in json.loads((folder / "build/compile_commands.json").read_text()):
                places = [entry["command"].find(f"{folder}/{each}") for each in ("named", "other")]
                target = re.search(r"/([\w-]+)\.dir/", entry["command"])[1]
                if places[0] >= 0:
                    seen[target] = True
                    self.assertLess(*places, entry["command"])
            self.assertLessEqual({"mock_gateway", "mock_gateway_http_objects", "uses_header"}, set(seen))


if __name__ == "__main__":
    unittest.main()
