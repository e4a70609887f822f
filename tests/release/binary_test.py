"""Tests of a release's program as a file: its system requirements, its size, and its version text.

Usage: binary_test.py FILE TARGET VERSION; TARGET is one of tools/release.sh. Uses only Python's standard library.
"""

import pathlib
import re
import struct
import sys
import unittest

FILE, TARGET, VERSION = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
BYTES = FILE.read_bytes()
SYSTEM, MACHINE = TARGET.split("-")
MB = 1_000_000

PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_GNU_STACK = 1, 2, 3, 0x6474E551
LC_SYMTAB, LC_LOAD_DYLIB, LC_CODE_SIGNATURE, LC_BUILD_VERSION = 0x2, 0xC, 0x1D, 0x32


class Everywhere(unittest.TestCase):
    def test_it_has_the_version(self):
        self.assertIn(VERSION.encode() + b"\0", BYTES)

    def test_it_contains_no_folder_of_the_build_machine(self):
        checkout = pathlib.Path(__file__).resolve().parents[2]
        for folder in (checkout, pathlib.Path.home(), pathlib.Path("/tmp")):
            found = re.search(re.escape(bytes(folder)) + rb"/[^\0]{1,80}(\.[ch]pp|\.h|\.c)\b", BYTES)
            self.assertIsNone(found and found[0])


@unittest.skipUnless(SYSTEM == "linux", "not for Linux")
class Linux(unittest.TestCase):
    def setUp(self):
        self.assertEqual(BYTES[:6], b"\x7fELF\x02\x01", "no ELF of 64 bits, little endian")
        self.machine, = struct.unpack_from("<H", BYTES, 18)
        start, sections = struct.unpack_from("<QQ", BYTES, 32)
        size, count, _, self.section_count = struct.unpack_from("<HHHH", BYTES, 54)
        self.segments = [struct.unpack_from("<IIQQQQQQ", BYTES, start + each * size) for each in range(count)]
        self.section_types = [
            struct.unpack_from("<I", BYTES, sections + each * 64 + 4)[0] for each in range(self.section_count)
        ]

    def test_it_is_for_this_processor(self):
        self.assertEqual(self.machine, {"x86_64": 62, "arm64": 183}[MACHINE])

    def test_it_has_at_most_five_megabytes(self):
        self.assertLessEqual(len(BYTES), 5 * MB)

    def test_it_needs_no_library_of_the_system(self):
        self.assertNotIn(PT_INTERP, [segment[0] for segment in self.segments])
        for _, _, offset, _, _, size, _, _ in (each for each in self.segments if each[0] == PT_DYNAMIC):
            tags = [tag for tag, _ in struct.iter_unpack("<qQ", BYTES[offset:offset + size])]
            self.assertNotIn(1, tags, "it has a DT_NEEDED")

    def test_it_has_no_symbols_and_no_debug_information(self):
        self.assertNotIn(2, self.section_types, "it has a .symtab")
        self.assertNotIn(b".debug_info\0", BYTES)

    def test_its_threads_have_eight_mebibytes_of_stack(self):
        (stack,) = [segment for segment in self.segments if segment[0] == PT_GNU_STACK]
        self.assertEqual(stack[6], 8 * 1024 * 1024)
        self.assertEqual(stack[1] & 1, 0, "its stacks can be executed")


@unittest.skipUnless(SYSTEM == "macos", "not for macOS")
class MacOS(unittest.TestCase):
    def setUp(self):
        magic, self.machine, _, kind, count = struct.unpack_from("<IIIII", BYTES)
        self.assertEqual((magic, kind), (0xFEEDFACF, 2), "no Mach-O program of 64 bits")
        self.commands, place = [], 32
        for _ in range(count):
            command, size = struct.unpack_from("<II", BYTES, place)
            self.commands.append((command & 0x7FFFFFFF, BYTES[place:place + size]))
            place += size

    def test_it_is_for_this_processor(self):
        self.assertEqual(self.machine, {"x86_64": 0x01000007, "arm64": 0x0100000C}[MACHINE])

    def test_it_needs_only_the_systems_library(self):
        needed = [content[24:].split(b"\0")[0] for command, content in self.commands if command == LC_LOAD_DYLIB]
        self.assertEqual(needed, [b"/usr/lib/libSystem.B.dylib"])

    def test_it_runs_on_macos_13_and_later(self):
        (version,) = [struct.unpack_from("<I", content, 12)[0] for kind, content in self.commands if kind == LC_BUILD_VERSION]
        self.assertEqual(version, 13 << 16)

    @unittest.skipUnless(MACHINE == "arm64", "only Apple's own processors ask for one")
    def test_it_has_a_signature(self):
        self.assertIn(LC_CODE_SIGNATURE, [kind for kind, _ in self.commands])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
