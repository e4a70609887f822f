"""What check_macros.py finds, on small headers. Run: python3 tests/house/test_check_macros.py"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent / "check_macros.py"

HEADER = """#ifndef MOCK_GATEWAY_HPP
#define MOCK_GATEWAY_HPP
#include <cerrno>
#ifndef MOCK_GATEWAY_HEADER_ONLY
#define MOCK_GATEWAY_HEADER_ONLY 1
#endif
#define MOCK_GATEWAY_VERSION_MAJOR 0
#define MOCK_GATEWAY_VERSION_MINOR 1
#define MOCK_GATEWAY_VERSION_PATCH 0
#define MOCK_GATEWAY_VERSION "0.1.0"
// interface
#endif
#if MOCK_GATEWAY_HEADER_ONLY || defined(MOCK_GATEWAY_IMPLEMENTATION)
#ifndef MOCK_GATEWAY_IMPLEMENTATION_INCLUDED
#define MOCK_GATEWAY_IMPLEMENTATION_INCLUDED
#include <csignal>
#ifdef _WIN32
#include <winsock2.h>
#endif
// implementation
#endif
#endif
"""
# Stands for a test framework: a header that is there, and that the others do not include.
TAIL = """
#if defined(MOCK_GATEWAY_ADAPTER_FLOAT)
#if defined(MOCK_GATEWAY_ADAPTER_FLOAT) && !defined(MOCK_GATEWAY_ADAPTER_FLOAT_INCLUDED)
#define MOCK_GATEWAY_ADAPTER_FLOAT_INCLUDED
#include <cfloat>
#include <float.h>
// code
#endif  // MOCK_GATEWAY_ADAPTER_FLOAT
#endif  // adapters
"""


@unittest.skipUnless(shutil.which(os.environ.get("CXX", "c++")), "needs a C++ compiler")
class CheckMacrosTest(unittest.TestCase):
    def check(self, header):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mock_gateway.hpp"
            path.write_text(header, encoding="utf-8")
            run = subprocess.run(
                [sys.executable, str(CHECK), str(path), "-DSOMETHING"],
                timeout=60,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                universal_newlines=True,
            )
        self.assertEqual(run.stderr, "")
        self.assertEqual(run.returncode, 0 if "no macro left behind" in run.stdout else 1)
        return run.stdout.splitlines()

    def test_a_clean_header_passes(self):
        self.assertEqual(self.check(HEADER), ["mock_gateway.hpp: no macro left behind in 3 modes"])

    def test_a_private_macro_left_defined_is_found_in_every_mode(self):
        found = self.check(HEADER.replace("// interface", "#define MOCK_GATEWAY_INLINE inline"))
        self.assertEqual(
            found,
            [
                f"{mode}: MOCK_GATEWAY_INLINE is left defined and not public"
                for mode in ("interface only", "header-only", "implementation")
            ],
        )

    def test_a_missing_public_macro_is_found(self):
        found = self.check(HEADER.replace("#define MOCK_GATEWAY_VERSION_MINOR 1\n", ""))
        self.assertEqual(found[0], "interface only: MOCK_GATEWAY_VERSION_MINOR is missing")

    def test_a_macro_of_another_name_leaks_only_where_it_is_defined(self):
        found = self.check(HEADER.replace("// implementation", "#define SMUGGLED 1"))
        self.assertEqual(
            found,
            [
                f"{mode}: SMUGGLED leaks: no header that we include defines it"
                for mode in ("header-only", "implementation")
            ],
        )

    def test_tampering_with_others_macros_is_found(self):
        found = self.check(HEADER.replace("// interface", "#undef EINTR\n#undef EIO\n#define EIO 99"))
        self.assertEqual(
            found[:2], ["interface only: EINTR is undefined by us", "interface only: EIO is changed by us"]
        )

    def test_an_adapter_whose_framework_is_there_is_a_mode_of_its_own(self):
        self.assertEqual(self.check(HEADER + TAIL), ["mock_gateway.hpp: no macro left behind in 4 modes"])
        missing = TAIL.replace("float.h", "no/such/framework.h")
        self.assertEqual(self.check(HEADER + missing), ["mock_gateway.hpp: no macro left behind in 3 modes"])

    def test_a_macro_that_an_adapter_leaves_behind_is_found(self):
        found = self.check(HEADER + TAIL.replace("// code", "#define MOCK_GATEWAY_ABI x\n#define SMUGGLED 1"))
        self.assertEqual(
            found,
            [
                "with MOCK_GATEWAY_ADAPTER_FLOAT: MOCK_GATEWAY_ABI is left defined and not public",
                "with MOCK_GATEWAY_ADAPTER_FLOAT: SMUGGLED leaks: no header that we include defines it",
            ],
        )

    def test_configuring_cpp_httplib_is_no_leak(self):
        found = self.check(HEADER.replace("// implementation", "#define CPPHTTPLIB_USE_POLL"))
        self.assertEqual(found, ["mock_gateway.hpp: no macro left behind in 3 modes"])


if __name__ == "__main__":
    unittest.main()
