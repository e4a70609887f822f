"""Tests src/assemble.py, which developers run after editing src/. Run: python3 tests/house/test_assemble.py"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ASSEMBLE = Path(__file__).resolve().parents[2] / "src" / "assemble.py"
COMPILER = shutil.which(os.environ.get("CXX", "c++"))

VERSION = """#pragma once
// Public switch.
#ifndef MOCK_GATEWAY_HEADER_ONLY
#define MOCK_GATEWAY_HEADER_ONLY 0
#endif
#define MOCK_GATEWAY_VERSION "1.2.3"
"""
CLOCK_HPP = """#pragma once

#include <string>
#include <chrono>  // milliseconds

#include "version.hpp"

namespace mock_gateway {
/// The time.
std::string now(std::chrono::milliseconds offset);
}  // namespace mock_gateway
"""
CLOCK_CPP = """#include "clock.hpp"

#include <cstddef>

namespace mock_gateway {
std::string now(std::chrono::milliseconds offset) { return std::to_string(offset.count()); }
}  // namespace mock_gateway
"""
GATEWAY_HPP = """#pragma once

#include <memory>
#include <string>  // string

#include "../core/clock.hpp"

namespace mock_gateway {
class Gateway {
 public:
  Gateway();
  ~Gateway();
  std::string url() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
}  // namespace mock_gateway
"""
GATEWAY_CPP = """#include "gateway.hpp"

#include "../http/sockets.hpp"

namespace mock_gateway {
struct Gateway::Impl {
  detail::Server server;
};
Gateway::Gateway() : impl_{std::make_unique<Impl>()} {}
Gateway::~Gateway() = default;
std::string Gateway::url() const { return impl_->server.url() + now(std::chrono::milliseconds(1'000)); }
}  // namespace mock_gateway
"""
SERVER_HPP = """#pragma once

#include <sys/socket.h>

#include <string>

#include "../core/clock.hpp"

namespace mock_gateway {
namespace detail {
class Server {
 public:
  std::string url() const;
  static int count() { return 0; }
};
}  // namespace detail
}  // namespace mock_gateway
"""
SERVER_CPP = """#include "sockets.hpp"

namespace mock_gateway {
namespace detail {
std::string Server::url() const { return "http://localhost/ { static namespace { " + now({}); }
}  // namespace detail
}  // namespace mock_gateway
"""
DOCTEST_HPP = """#pragma once

// Reports to doctest.

#include <cfloat>
#include <string>

#include "../core/text.hpp"
#include "../gateway/gateway.hpp"

#ifndef FRAMEWORK
#include <ctime>
#endif

namespace mock_gateway {
namespace {
struct Adapter {
  Adapter() { excerpt(); }
} adapter;
int report(int value) { return value; }
const int reported = report(DBL_DIG);
}  // namespace
}  // namespace mock_gateway
"""
WAITS = """
class Wait {
 public:
  [[nodiscard]] virtual bool over() = 0;
  virtual ~Wait();
  virtual void rest();
  virtual void wake() noexcept {}
};
class Doze final : public Wait {
 public:
  [[nodiscard]] bool over() override { return true; }
  ~Doze() override;

 protected:
  void rest() final;

 private:
  void wake() noexcept override;
};
"""
ADAPTERS = {
    "adapters/doctest.hpp": DOCTEST_HPP,
    "adapters/catch2.hpp": "#pragma once\n\n#include <cfloat>\n#include <cstddef>\n",
    "core/text.hpp": '#pragma once\n#include <string>\n#include "version.hpp"\nstd::string excerpt();\n',
    "core/text.cpp": (
        '#include "text.hpp"\n#include <cstddef>\nstd::string excerpt() { return {}; }\n'
    ),
}
TREE = {
    "mock_gateway.hpp": '// A test double.\n//\n// Known limits: all.\n\n#include "gateway/gateway.hpp"\n#include "core/clock.hpp"\n'
    "// Each behind a guard.\n#ifdef MOCK_GATEWAY_ADAPTER_DOCTEST\n" '#include "adapters/doctest.hpp"\n#endif\n',
    "core/version.hpp": VERSION,
    "core/clock.hpp": CLOCK_HPP,
    "core/clock.cpp": CLOCK_CPP,
    "http/sockets.hpp": SERVER_HPP,
    "http/sockets.cpp": SERVER_CPP,
    "gateway/gateway.hpp": GATEWAY_HPP,
    "gateway/gateway.cpp": GATEWAY_CPP,
}


class AssembleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.header = self.folder / "mock_gateway.hpp"
        self.write(TREE)

    def write(self, files):
        for name, text in files.items():
            path = self.folder / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def change(self, name, old, new):
        path = self.folder / "src" / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def assemble(self, *options, status=0):
        run = subprocess.run(
            [sys.executable, str(ASSEMBLE), "--src", str(self.folder / "src"), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=60,
        )
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run

    def assembled(self):
        self.assemble()
        return self.header.read_text(encoding="utf-8")

    def assert_refused(self, *expected):
        """Checks that the error output contains each line of `expected`, and that nothing is written."""
        run = self.assemble(status=2)
        for line in expected:
            self.assertIn(line, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), len(expected), run.stderr)
        self.assertFalse(self.header.exists())

    def compile(self, *arguments, status=0):
        run = subprocess.run(
            [
                COMPILER,
                "-std=c++17",
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Wundef",
                "-Werror",
                "-I",
                str(self.folder),
                *arguments,
            ],
            cwd=self.folder,
            timeout=120,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
        )
        self.assertEqual(run.returncode, status, run.stdout)
        return run.stdout

    # ---- the form of the header

    def test_parts_come_in_layers_first_interfaces_then_implementations(self):
        banners = re.findall(r"^// ---- (\S+) -+$", self.assembled(), re.MULTILINE)
        self.assertEqual(
            banners,
            [
                "core/version.hpp",
                "core/clock.hpp",
                "gateway/gateway.hpp",
                "http/sockets.hpp",
                "core/clock.cpp",
                "http/sockets.cpp",
                "gateway/gateway.cpp",
            ],
        )

    def test_public_headers_keep_the_order_of_the_root_header_and_other_parts_that_of_the_layers(self):
        self.write(
            {
                "model/data.hpp": "#pragma once\n",
                "core/base.hpp": "#pragma once\n",
                "http/wire.hpp": "#pragma once\n",
                "core/bits.hpp": "#pragma once\n",
            }
        )
        self.change(
            "mock_gateway.hpp", '#include "core', '#include "model/data.hpp"\n#include "core/base.hpp"\n#include "core'
        )
        self.change(
            "http/sockets.hpp",
            '#include "../core',
            '#include "wire.hpp"\n#include "../core/bits.hpp"\n#include "../core',
        )
        banners = re.findall(r"^// ---- (\S+) -+$", self.assembled(), re.MULTILINE)
        self.assertEqual(banners[1:5], ["core/clock.hpp", "gateway/gateway.hpp", "model/data.hpp", "core/base.hpp"])
        self.assertEqual(banners[5:8], ["core/bits.hpp", "http/wire.hpp", "http/sockets.hpp"])

    def test_the_header_opens_with_description_license_and_a_warning(self):
        text = self.assembled()
        self.assertTrue(text.startswith("// A test double.\n//\n// Known limits: all.\n"))
        self.assertLess(text.index("SPDX-License-Identifier: MIT"), text.index("#ifndef"))
        self.assertLess(text.index("do not edit this file by hand"), text.index("#ifndef"))

    def test_an_internal_header_included_by_the_interface_is_refused(self):
        self.write({"core/state.hpp": '#pragma once\n#include "bits.hpp"\n', "core/bits.hpp": "#pragma once\n"})
        self.change("gateway/gateway.hpp", '#include "../core', '#include "../core/state.hpp"\n#include "../core')
        where = "is internal, and the interface reaches it here: include it in a .cpp, or name it in mock_gateway.hpp"
        self.assert_refused(
            f"src/core/state.hpp:2: core/bits.hpp {where}",
            f"src/gateway/gateway.hpp:6: core/state.hpp {where}",
        )

    def test_the_contents_list_has_the_line_of_every_part(self):
        lines = self.assembled().splitlines()
        contents = [re.fullmatch(r"// +(\d+)    (\S+/\S+)", line) for line in lines[lines.index("// Contents, by line:") :]]
        contents = [(int(row[1]), row[2]) for row in contents if row]
        self.assertEqual(len(contents), 7)
        for line, name in contents:
            self.assertTrue(lines[line - 1].startswith(f"// ---- {name} "), lines[line - 1])

    def test_standard_includes_are_moved_up_and_sorted(self):
        text = self.assembled()
        interface, implementation = text.split("#endif  // MOCK_GATEWAY_HPP")
        self.assertIn(
            "\n\n#include <chrono>\n#include <memory>\n#include <string>\n\n// ---- core/version.hpp",
            interface,
        )
        self.assertIn("\n\n#include <cstddef>\n\n#include <sys/socket.h>\n\n// The mode", implementation)
        self.assertEqual(text.count("#include <string>"), 1)

    def test_an_include_under_a_condition_or_after_a_directive_stays_in_place(self):
        self.change(
            "http/sockets.hpp",
            "#include <sys/socket.h>\n\n#include <string>\n",
            "#include <array>\n#ifdef _WIN32\n#include <winsock2.h>\n#else\n#include <sys/socket.h>\n#endif\n"
            "#define LIMIT 5\n#include <signal.h>\n#ifdef LIMIT\n#include <string>\n#endif\n",
        )
        text = self.assembled()
        self.assertIn(
            "#ifdef _WIN32\n#include <winsock2.h>\n#else\n#include <sys/socket.h>\n#endif\n"
            "#define LIMIT 5\n#include <signal.h>\n",
            text,
        )
        self.assertLess(text.index("#include <array>"), text.index("// ---- http/sockets.hpp"))

    def test_project_includes_and_pragma_once_are_removed_and_comments_kept(self):
        text = self.assembled()
        self.assertNotIn("#pragma once", text)
        self.assertNotIn('#include "', text)
        self.assertIn("/// The time.", text)

    def test_text_that_only_looks_like_a_directive_is_kept(self):
        self.change(
            "http/sockets.cpp",
            "std::string Server",
            'inline constexpr const char* sample = R"(\n#include "nothing.hpp"\n\n\n#include <nothing>\n)";\n'
            '/*\n#include "nothing.hpp"\n*/\nstd::string Server',
        )
        self.assertIn(
            'R"(\n#include "nothing.hpp"\n\n\n#include <nothing>\n)";\n/*\n#include "nothing.hpp"\n*/', self.assembled()
        )

    def test_the_header_is_ascii_and_its_literals_mean_the_same(self):
        self.change("http/sockets.cpp", "std::string Server", "// × …\n"
                    'inline constexpr const char* sample = R"x("ü\\é")x" "…7";\nstd::string Server')
        text = self.assembled()
        self.assertTrue(text.isascii())
        self.assertIn("// \\xd7 ...\n", text)
        self.assertIn(r'sample = "\"\303\274\\\303\251\"" "\342\200\2467";', text)

    def test_the_output_is_the_same_every_time(self):
        first = self.assembled()
        self.assertEqual(first, self.assembled())
        self.assertTrue(first.endswith("\n"))
        self.assertNotIn(str(self.folder), first)

    # ---- check mode

    def test_check_passes_on_a_fresh_header_and_fails_on_a_stale_one(self):
        self.assemble("--check", status=1)
        self.assemble()
        self.assemble("--check")
        before = self.header.read_bytes()
        self.change("core/clock.hpp", "The time.", "The time of day.")
        run = self.assemble("--check", status=1)
        self.assertIn("run `python3 src/assemble.py`", run.stderr)
        self.assertEqual(self.header.read_bytes(), before)

    # ---- rules

    def test_a_lower_layer_may_not_include_a_higher_one(self):
        self.change("core/clock.cpp", "#include <cstddef>\n", '#include "../http/sockets.hpp"\n')
        self.assert_refused("src/core/clock.cpp:3: core/clock.cpp may not include http/sockets.hpp from a higher layer")

    def test_a_cycle_of_includes_is_shown_completely(self):
        self.write({"core/a.hpp": '#include "b.hpp"\n', "core/b.hpp": '\n#include "a.hpp"\n'})
        self.change("core/clock.hpp", '#include "version.hpp"', '#include "version.hpp"\n#include "a.hpp"')
        self.assert_refused("src/core/b.hpp:2: a circle of includes: core/a.hpp -> core/b.hpp -> core/a.hpp")

    def test_httplib_may_be_included_only_in_http(self):
        self.change("http/sockets.cpp", '#include "sockets.hpp"\n', '#include "sockets.hpp"\n\n#include <httplib.h>\n')
        self.assertIn("#include <httplib.h>", self.assembled())
        self.header.unlink()
        self.change(
            "gateway/gateway.cpp", '#include "gateway.hpp"\n', '#include "gateway.hpp"\n\n#include <httplib.h>\n'
        )
        self.assert_refused("src/gateway/gateway.cpp:3: httplib.h may be included only in src/http/")

    def test_system_headers_are_included_only_for_sockets_and_processes(self):
        self.change("gateway/gateway.cpp", '#include "gateway.hpp"\n', '#include "gateway.hpp"\n\n#include <unistd.h>\n')
        self.assert_refused(
            "src/gateway/gateway.cpp:3: <unistd.h> is a system's own, and belongs in core/process, http/poller, "
            "http/sockets, http/workers"
        )

    def test_an_anonymous_namespace_is_refused(self):
        self.change("core/clock.cpp", "namespace mock_gateway {\n", "namespace mock_gateway {\nnamespace\n{\n}\n")
        self.assert_refused("src/core/clock.cpp:7: no anonymous namespace")

    def test_static_is_refused_at_namespace_scope_and_fine_elsewhere(self):
        self.change(
            "core/clock.cpp",
            "std::string now(std::chrono::milliseconds offset) {",
            "static_assert(true);\nstatic int calls;\n"
            "std::string now(std::chrono::milliseconds offset) { static int n; ++n;",
        )
        self.assert_refused("src/core/clock.cpp:7: no static at namespace scope")

    def test_each_function_that_a_source_defines_is_marked(self):
        self.change(
            "core/clock.cpp",
            "namespace mock_gateway {\n",
            "namespace mock_gateway {\nnamespace detail {\n"
            "struct Sum {\n  Sum(int a, int b);\n  ~Sum();\n  int a_, b_, c_;\n};\n"
            "Sum::Sum(int a, int b) : a_{a}, b_(b), c_{(a)} {}\n"
            "// Not a heading: {\nSum::~Sum() = default;\n"
            "[[nodiscard]] int\ntwo_lines(int a) { return a; }\n"
            "}  // namespace detail\n",
        )
        text = self.assembled()
        for marked in (
            "\nMOCK_GATEWAY_INLINE std::string now(",
            "\nMOCK_GATEWAY_INLINE Gateway::~Gateway() = default;",
            "\nMOCK_GATEWAY_INLINE Sum::Sum(int a, int b) : a_{a}, b_(b), c_{(a)} {}",
            "{\nMOCK_GATEWAY_INLINE Sum::~Sum() = default;",
            "\n[[nodiscard]] MOCK_GATEWAY_INLINE int\ntwo_lines(",
        ):
            self.assertIn(marked, text)
        self.assertEqual(len(re.findall("^.*MOCK_GATEWAY_INLINE [^\n]", text, re.M)), 10)

    def test_a_header_marks_its_functions_itself(self):
        self.change("core/clock.hpp", "offset);", "offset);\nint zero() { return 0; }")
        self.assert_refused("src/core/clock.hpp:11: a function defined in a header needs inline")

    def test_the_namespace_carries_mode_and_version(self):
        text = self.assembled()
        opened = text.count("\nnamespace mock_gateway { inline namespace MOCK_GATEWAY_ABI {\n")
        self.assertEqual(opened, text.count("\n}}  // namespace mock_gateway\n"))
        self.assertEqual(opened, len(re.findall("^namespace mock_gateway", text, re.M)))
        self.assertIn("#define MOCK_GATEWAY_ABI compiled_1_2\n", text)

    def test_a_nested_namespace_in_one_line_carries_mode_and_version_too(self):
        before = "mock_gateway"
        for inner in ("detail", "detail::clock"):
            self.change("core/clock.cpp", f"namespace {before} {{", f"namespace mock_gateway::{inner} {{")
            self.change("core/clock.cpp", f"}}  // namespace {before}", f"}}  // namespace mock_gateway::{inner}")
            before = f"mock_gateway::{inner}"
            text = self.assembled()
            self.assertIn(f"\nnamespace mock_gateway {{ inline namespace MOCK_GATEWAY_ABI {{ namespace {inner} {{\n", text)
            self.assertIn(f"\n}}}}}}  // namespace mock_gateway::{inner}\n", text)

    @unittest.skipUnless(COMPILER, "needs a C++ compiler")
    def test_files_of_different_modes_do_not_link(self):
        self.assemble()
        use = '#include "mock_gateway.hpp"\n'
        (self.folder / "a.cpp").write_text(
            use + "int main() { return mock_gateway::Gateway().url().empty(); }\n"
        )
        (self.folder / "b.cpp").write_text("#define MOCK_GATEWAY_IMPLEMENTATION\n" + use)
        self.compile("-c", "b.cpp")
        self.compile("a.cpp", "b.o", "-o", "program")
        self.compile("-DMOCK_GATEWAY_HEADER_ONLY=1", "-c", "b.cpp", "-o", "c.o")
        missing = self.compile("a.cpp", "c.o", "-o", "program", status=1)
        self.assertIn("mock_gateway::compiled_1_2::Gateway", missing)

    def test_definitions_that_need_no_inline_are_unchanged(self):
        self.change(
            "core/clock.cpp",
            "namespace mock_gateway {\n",
            "namespace mock_gateway {\nnamespace detail {\n"
            "class Sum : public std::string {\n public:\n  Sum(int a, int b);\n  int a_, b_, c_;\n};\n"
            "Sum::Sum(int a, int b) : a_{a}, b_(b), c_{(a)} {}\n"
            "template <class T, class = decltype(std::declval<T>().size())>\nstruct Sized {};\n"
            "template <class T>\nint size(T value) {\n  return value.size();\n}\n"
            "inline constexpr auto twice = [](int value) { return 2 * value; };\n"
            "int declared(int);\nenum class Kind { one, two };\n}  // namespace detail\n"
            'extern "C" {\ninline int from_c() { return 0; }\n}\n',
        )
        self.assemble()

    def test_extern_c_opens_no_scope(self):
        self.change(
            "core/clock.cpp",
            "namespace mock_gateway {\n",
            'extern "C" {\nstatic int calls;\n}\nnamespace mock_gateway {\n',
        )
        self.assert_refused("src/core/clock.cpp:6: no static at namespace scope")

    def test_a_source_outside_the_layers_is_refused(self):
        self.write({"extra.cpp": "\n", "core/deep/part.cpp": "\n", "util/part.cpp": "\n"})
        self.assert_refused(
            "src/extra.cpp:1: a part lives in the folder of its layer",
            "src/core/deep/part.cpp:1: a part lives in the folder of its layer",
            "src/util/part.cpp:1: a part lives in the folder of its layer",
        )

    def test_a_header_that_nothing_includes_is_refused(self):
        self.write({"model/lost.hpp": "#pragma once\n"})
        self.assert_refused("src/model/lost.hpp:1: nothing includes this part")

    def test_an_include_of_a_missing_part_is_refused(self):
        self.change("core/clock.cpp", '#include "clock.hpp"', '#include "core/clock.hpp"')
        self.assert_refused("src/core/clock.cpp:1: no such part")

    def test_a_part_included_under_a_condition_is_refused(self):
        self.change(
            "gateway/gateway.hpp", '#include "../core/clock.hpp"', '#if 1\n#include "../core/clock.hpp"\n#endif'
        )
        self.assert_refused("src/gateway/gateway.hpp:7: a part cannot be included under a condition")

    # ---- adapters

    def test_each_adapter_is_a_tail_with_its_own_guard(self):
        self.write(ADAPTERS)
        tail = self.assembled().split("#endif  // MOCK_GATEWAY_HEADER_ONLY || defined(MOCK_GATEWAY_IMPLEMENTATION)")[1]
        directives = [line for line in tail.splitlines() if line.startswith(("#", "    defined", "// ----"))]
        self.assertEqual(
            [re.sub(" -+$", "", line) for line in directives],
            [
                "#if defined(MOCK_GATEWAY_ADAPTER_CATCH2) || \\",
                "    defined(MOCK_GATEWAY_ADAPTER_DOCTEST)",
                "#if MOCK_GATEWAY_HEADER_ONLY",
                "#define MOCK_GATEWAY_ABI header_only_1_2",
                "#define MOCK_GATEWAY_INLINE inline",
                "#else",
                "#define MOCK_GATEWAY_ABI compiled_1_2",
                "#define MOCK_GATEWAY_INLINE",
                "#endif",
                "#if defined(MOCK_GATEWAY_ADAPTER_CATCH2) && !defined(MOCK_GATEWAY_ADAPTER_CATCH2_INCLUDED)",
                "#define MOCK_GATEWAY_ADAPTER_CATCH2_INCLUDED",
                "#include <cfloat>",
                "#include <cstddef>",  # the implementation's; not every file includes it
                "// ---- adapters/catch2.hpp",
                "#endif  // MOCK_GATEWAY_ADAPTER_CATCH2",
                "#if defined(MOCK_GATEWAY_ADAPTER_DOCTEST) && !defined(MOCK_GATEWAY_ADAPTER_DOCTEST_INCLUDED)",
                "#define MOCK_GATEWAY_ADAPTER_DOCTEST_INCLUDED",
                "#include <cfloat>",
                "// ---- adapters/doctest.hpp",
                "#ifndef FRAMEWORK",
                "#include <ctime>",
                "#endif",
                "#endif  // MOCK_GATEWAY_ADAPTER_DOCTEST",
                "#undef MOCK_GATEWAY_ABI",
                "#undef MOCK_GATEWAY_INLINE",
                "#endif  // adapters",
            ],
        )

    def test_headers_that_only_an_adapter_includes_are_part_of_the_interface(self):
        self.write(ADAPTERS)
        interface = self.assembled().split("#endif  // MOCK_GATEWAY_HPP")[0]
        self.assertIn("// ---- core/text.hpp", interface)
        self.assertNotIn("// ---- adapters/", interface)

    def test_an_adapters_functions_are_inline_outside_its_anonymous_namespace(self):
        self.write(ADAPTERS)
        self.change("adapters/doctest.hpp", "}  // namespace\n", "}  // namespace\nint lost() { return 0; }\n")
        self.assert_refused("src/adapters/doctest.hpp:23: a function defined in a header needs inline")

    @unittest.skipUnless(COMPILER, "needs a C++ compiler")
    def test_an_adapter_may_be_requested_in_any_file_at_any_time(self):
        self.write(ADAPTERS)
        self.assemble()
        late = '#include "mock_gateway.hpp"\n#define MOCK_GATEWAY_ADAPTER_DOCTEST\n#include "mock_gateway.hpp"\n'
        again = '#include "mock_gateway.hpp"\nint digits() { return mock_gateway::reported; }\n'
        for name in ("a", "b"):
            (self.folder / f"{name}.cpp").write_text(late + again.replace("digits", name))
        (self.folder / "main.cpp").write_text("int a(); int b(); int main() { return a() == b() ? 0 : 1; }\n")
        (self.folder / "implementation.cpp").write_text(
            '#define MOCK_GATEWAY_IMPLEMENTATION\n#include "mock_gateway.hpp"\n'
        )
        for mode, files in (("1", []), ("0", ["implementation.cpp"])):
            self.compile(f"-DMOCK_GATEWAY_HEADER_ONLY={mode}", "a.cpp", "b.cpp", "main.cpp", *files, "-o", "program")
            subprocess.run([str(self.folder / "program")], check=True, timeout=30)

    # ---- results of compilers

    @unittest.skipUnless(COMPILER, "needs a C++ compiler")
    def test_header_only_files_link_together(self):
        self.assemble()
        use = '#include "mock_gateway.hpp"\n#include "mock_gateway.hpp"\n'
        (self.folder / "a.cpp").write_text(
            use + "int other(); int main() { return other() + (mock_gateway::Gateway().url().size() ? 0 : 1); }\n"
        )
        (self.folder / "b.cpp").write_text(
            use + "int other(); int other() { return mock_gateway::Gateway().url().empty(); }\n"
        )
        self.compile("-DMOCK_GATEWAY_HEADER_ONLY=1", "a.cpp", "b.cpp", "-o", "program")
        subprocess.run([str(self.folder / "program")], check=True, timeout=30)

    @unittest.skipUnless(COMPILER, "needs a C++ compiler")
    def test_a_file_that_uses_nothing_gets_no_function_of_the_library(self):
        self.change("http/sockets.hpp", "namespace detail {\n", "namespace detail {\n" + WAITS)
        self.change(
            "http/sockets.cpp",
            "namespace detail {\n",
            "namespace detail {\nWait::~Wait() = default;\nvoid Wait::rest() { Server().url(); }\n"
            "Doze::~Doze() = default;\nvoid Doze::rest() { Wait::rest(); }\nvoid Doze::wake() noexcept { Wait::wake(); }\n",
        )
        self.assemble()
        (self.folder / "a.cpp").write_text('#include "mock_gateway.hpp"\nint unrelated() { return 0; }\n')
        self.compile("-DMOCK_GATEWAY_HEADER_ONLY=1", "-S", "-O0", "a.cpp", "-o", "a.s")
        functions = re.findall(r"^\s*\.type\s+(\w+), *[@%]function", (self.folder / "a.s").read_text(), re.MULTILINE)
        self.assertEqual([name for name in functions if "mock_gateway" in name], [])

    @unittest.skipUnless(COMPILER, "needs a C++ compiler")
    def test_the_implementation_may_follow_the_interface_in_the_same_file(self):
        self.assemble()
        (self.folder / "a.cpp").write_text(
            '#include "mock_gateway.hpp"\n' "int main() { return mock_gateway::Gateway().url().empty(); }\n"
        )
        (self.folder / "b.cpp").write_text(
            '#include "mock_gateway.hpp"\n#define MOCK_GATEWAY_IMPLEMENTATION\n'
            '#include "mock_gateway.hpp"\n#include "mock_gateway.hpp"\n'
        )
        self.compile("a.cpp", "b.cpp", "-o", "program")
        subprocess.run([str(self.folder / "program")], check=True, timeout=30)

    @unittest.skipUnless(COMPILER, "needs a C++ compiler")
    def test_min_and_max_may_be_macros_as_windows_h_defines_them(self):
        self.change("core/clock.cpp", "offset.count()", "std::max(std::chrono::milliseconds::min(), offset).count()")
        self.assemble()
        includes = "".join(f"#include <{name}>\n" for name in ("algorithm", "chrono", "memory", "string"))
        macros = "#define min(a, b) a b\n#define max(a, b) a b\n"
        (self.folder / "a.cpp").write_text(f'{includes}{macros}#include "mock_gateway.hpp"\n{macros}')
        self.compile("-DMOCK_GATEWAY_HEADER_ONLY=1", "-fsyntax-only", "a.cpp")

    @unittest.skipUnless(COMPILER, "needs a C++ compiler")
    def test_private_macros_end_with_the_header(self):
        self.assemble()
        for mode in ([], ["-DMOCK_GATEWAY_HEADER_ONLY=1"], ["-DMOCK_GATEWAY_IMPLEMENTATION"]):
            macros = self.compile(*mode, "-E", "-dM", "mock_gateway.hpp")
            self.assertIn("#define MOCK_GATEWAY_VERSION ", macros)
            self.assertNotIn("MOCK_GATEWAY_INLINE", macros)

    @unittest.skipUnless(COMPILER, "needs a C++ compiler")
    def test_a_second_implementation_in_addition_to_the_compiled_library_is_refused(self):
        self.assemble()
        for mode, advice in (
            ("-DMOCK_GATEWAY_IMPLEMENTATION", "remove MOCK_GATEWAY_IMPLEMENTATION"),
            ("-DMOCK_GATEWAY_HEADER_ONLY=1", "link mock_gateway::header_only for MOCK_GATEWAY_HEADER_ONLY=1"),
        ):
            self.compile("-DMOCK_GATEWAY_COMPILED", "-fsyntax-only", "mock_gateway.hpp")
            said = self.compile("-DMOCK_GATEWAY_COMPILED", mode, "-fsyntax-only", "mock_gateway.hpp", status=1)
            self.assertIn(advice, said)


if __name__ == "__main__":
    unittest.main()
