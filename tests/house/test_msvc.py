"""Refuses code in src/ that MSVC rejects or that windows.h breaks. CI has no MSVC, and the other compilers accept this
code even with -Wpedantic. Code under a condition on the compiler or the system is not checked.
Run: python3 tests/house/test_msvc.py"""

import re
import sys
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "src"))
from assemble import OPAQUE, PLATFORM_PARTS, blank_out  # noqa: E402

LONGEST_LITERAL = 16380  # bytes of "…"
LONGEST_TEXT = 65535     # bytes of adjacent literals
WORD = r"(?<!\.)\b({})\b"
CALL = r"(?<![\w.>:])(?:(?:std)?::)?({})\s*\("  # of no member, and in no other namespace
# The words to look for, or none; the pattern around them; an example; why it is refused; what to write; and the
# beginnings of the names of files that may have it.
ROWS = [
    ("", r"__builtin_(?!FILE\b|LINE\b|FUNCTION\b)\w+", "return __builtin_expect(x, 1);", "a builtin of GCC", "standard C++", ()),
    ("__attribute__ __asm__ __extension__ __PRETTY_FUNCTION__ __typeof__ __restrict__", WORD, "__attribute__((weak)) int x;",
     "a word of GCC", "standard C++, or a branch for MSVC", ()),
    ("gnu clang", r"\[\[\s*({})::", "[[gnu::cold]] void f();", "an attribute of GCC (C5030)", "standard C++", ()),
    ("and or not xor bitand bitor compl and_eq or_eq xor_eq not_eq", WORD, "if (a and b) return;",
     "no operator without /permissive-", "&&, ||, !", ()),
    ("warning include_next", r"^\s*#\s*({})\b", "#warning old", "a directive of GCC", "#error, or nothing", ()),
    ("__VA_ARGS__ __VA_OPT__", r"##\s*__VA_ARGS__|__VA_OPT__", "#define LOG(f, ...) log(f, ##__VA_ARGS__)",
     "an extension, or C++20", "a variadic template", ()),
    ("near far small interface hyper pascal cdecl IN OUT OPTIONAL ERROR DELETE TRUE FALSE CONST VOID ABSOLUTE RELATIVE STRICT IGNORE "
     "INFINITE NO_ERROR GetMessage SendMessage GetObject CreateEvent CreateFile CreateProcess DeleteFile CopyFile MoveFile "
     "LoadString GetCurrentTime ReportEvent Yield", WORD, "int near = 0;", "a macro of windows.h", "another name", PLATFORM_PARTS),
    ("long", r"(?<!long )\b{}\b(?! long| double)", "unsigned long bytes = 0;",
     "32 bits on Windows", "std::int64_t, std::size_t or int", (*PLATFORM_PARTS, "gateway/gateway.cpp", "http/server.cpp")),
    ("pid_t off_t mode_t useconds_t u_int uint ulong", WORD, "pid_t child;", "a type of POSIX", "a type of <cstdint>", PLATFORM_PARTS),
    ("ssize_t", WORD, "ssize_t size = 0;", "a type of POSIX, on Windows of httplib.h", "std::ptrdiff_t",
     (*PLATFORM_PARTS, "http/server.cpp")),
    ("localtime_r gmtime_r timegm setenv unsetenv strcasecmp strncasecmp isatty fileno popen pclose getpid usleep nanosleep strtok_r "
     "strndup memmem asprintf realpath mkstemp mkdtemp fork pipe dup2 kill sigaction", CALL, "::gmtime_r(&seconds, &time);",
     "a function of POSIX", "standard C++, src/core/calendar.hpp or src/core/process.hpp", PLATFORM_PARTS),
    ("fopen freopen getenv strerror sprintf vsprintf strcpy strcat strncpy strtok sscanf localtime gmtime ctime asctime tmpnam "
     "mbstowcs wcstombs", CALL, "return std::strerror(errno);", "deprecated (C4996), an error with /sdl",
     "snprintf, streams, or message() of an error category", PLATFORM_PARTS),
    ("isalpha isalnum isdigit isspace isupper islower isprint isxdigit ispunct iscntrl", CALL, "if (std::isspace(c)) return;",
     "an assertion fails for bytes from 0x80 in debug builds", "the functions of src/core/text.hpp", ()),
    ("aligned_alloc quick_exit at_quick_exit timespec_get", CALL, "std::aligned_alloc(8, 8);", "not everywhere",
     "operator new, std::exit, std::chrono", ()),
    ("M_PI M_E M_LN2 M_LN10 M_SQRT2", WORD, "double turn = 2 * M_PI;", "missing without _USE_MATH_DEFINES", "the number", ()),
    ("begin end cbegin cend", r"\*\s*(?:const\s+)?\w+\s*=\s*[^;=]*\.({})\(\)", "const char* first = text.begin();",
     "iterators of std::array and std::string_view are classes", "auto, or data()", ()),
    ("from_chars to_chars", r"\b({})\([^;]*\.c?(begin|end)\(\)", "std::from_chars(text.begin(), text.end(), value);",
     "iterators of std::string_view are classes", "data() and data() + size()", ()),
    ("", r"\+\s*\[[^]\n]*\]\s*\(", "Handler handler = +[](int) {};",
     "ambiguous: a lambda converts to a function pointer per calling convention", "the type of the pointer", ()),
]
CONDITION = re.compile(r"_MSC_VER|_WIN32|__\w+__|__has_include")


def checked(text):
    """Returns the code that is compiled everywhere: other lines, comments and the contents of literals are blank."""
    conditions, lines = [], []
    for line in blank_out(text).splitlines():
        directive = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|endif)\b(.*)", line)
        if directive and directive[1] == "endif":
            conditions.pop()
        elif directive and directive[1] == "elif":
            conditions[-1] |= bool(CONDITION.search(directive[2]))
        elif directive:
            conditions.append(bool(CONDITION.search(directive[2])))
        lines.append("" if directive or any(conditions) else line)
    return "\n".join(lines)


def pattern_of(row):
    return re.compile(row[1].replace("{}", row[0].replace(" ", "|")), re.M)


def mistakes(text, name=""):
    code = checked(text)
    words = set(re.findall(r"\w+", code))
    for row in ROWS:
        names, _, _, reason, instead, files = row
        if name.startswith(files or "-") or (names and words.isdisjoint(names.split())):
            continue
        for found in pattern_of(row).finditer(code):
            line = code.count("\n", 0, found.start()) + 1
            yield f"{name}:{line}: {found[0].strip()}: {reason}; write {instead}"
    end, size = 0, 0
    for literal in OPAQUE.finditer(text):
        if literal[0][0] not in 'R"':
            continue
        bytes_of = len(literal[0].encode())
        size = (size if not text[end : literal.start()].strip() else 0) + bytes_of
        end = literal.end()
        if bytes_of > LONGEST_LITERAL or size > LONGEST_TEXT:
            line = text.count("\n", 0, literal.start()) + 1
            yield f"{name}:{line}: a literal of {max(bytes_of, size)} bytes (C2026); split it"


class Msvc(unittest.TestCase):
    def test_no_file_has_a_mistake(self):
        files = sorted((CHECKOUT / "src").rglob("*.[hc]pp"))
        self.assertGreater(len(files), 200)
        found = [one for path in files
                 for one in mistakes(path.read_text(encoding="utf-8"), path.relative_to(CHECKOUT / "src").as_posix())]
        found += mistakes((CHECKOUT / "examples/first_test.cpp").read_text(encoding="utf-8"), "examples/first_test.cpp")
        self.assertEqual(found, [], "\n".join(found))

    def test_the_header_is_ascii(self):
        self.assertTrue((CHECKOUT / "mock_gateway.hpp").read_bytes().isascii(), "assemble.py replaces other characters")

    def test_each_row_finds_its_example(self):
        for row in ROWS:
            _, _, example, reason, instead, _ = row
            with self.subTest(example):
                found = pattern_of(row).search(example)
                self.assertIn(f":2: {found[0].strip()}: {reason}; write {instead}", list(mistakes("int a;\n" + example)))

    def test_comments_literals_and_branches_for_a_compiler_are_left_out(self):
        for _, _, example, *_ in ROWS:
            with self.subTest(example):
                for text in (f"// {example}", f"/* {example}\n*/", f'f("{example}");', f'f(R"x({example})x");',
                             f"#ifdef __GNUC__\n{example}\n#endif", f"#ifdef _WIN32\n#else\n#if X\n{example}\n#endif\n#endif"):
                    self.assertEqual(list(mistakes(text)), [])

    def test_ordinary_code_is_accepted(self):
        for code in ("long long a; unsigned long long b; long double c;", "child.kill(); store->pipe(); own::isspace(c);",
                     "std::snprintf(text, 9, \"%d\", 1);", "near_miss(); x.near = 1;", "a + b[0](1);", "const auto* a = b.data();",
                     "__builtin_LINE()", "auto at = text.begin();", "pipeline(1); notable();"):
            self.assertEqual(list(mistakes(code)), [])

    def test_long_literals(self):
        self.assertEqual(list(mistakes('"' + "x" * (LONGEST_LITERAL - 2) + '"')), [])
        self.assertEqual(len(list(mistakes('f();\n"' + "x" * LONGEST_LITERAL + '"'))), 1)
        self.assertEqual(len(list(mistakes('"' + "x" * 16000 + '"', "")) + list(mistakes(('"' + "x" * 16000 + '"\n') * 4))), 0)
        self.assertEqual(len(list(mistakes(('"' + "x" * 16000 + '"\n') * 5))), 1)


if __name__ == "__main__":
    unittest.main()
