"""What tests/mutation/ makes of C++: which mistakes it finds in a function, and that each is one switch away; and what it
counts. Run: python3 tests/house/test_mutation.py"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mutation"))

import mutate  # noqa: E402
from mutated_tree import lines_of, switched  # noqa: E402
from operators import find_mutants  # noqa: E402


def mistakes(body, around="void f() {{ {} }}"):
    """(operator, what stands there with the mistake) of each mutant."""
    text = around.format(body)
    return [(mutant.operator, " ".join(mutant.mutated(text).split())) for mutant in find_mutants("a.cpp", text)]


class Operators(unittest.TestCase):
    def test_each_operator(self):
        for body, expected in [
                ("if (a < b) g();", [("boundary", "a <= b"), ("condition", "true"), ("condition", "false"),
                                     ("relation", "a >= b"), ("left out", "")]),
                ("x = a == b;", [("left out", ""), ("relation", "a != b")]),
                ("while (a && !b) g();", [("condition", "false"), ("connector", "a || !b"), ("negation", "b"),
                                          ("left out", "")]),
                ("for (int i = 0; i < 9; ++i) g();",
                 [("constant", "1"), ("boundary", "i <= 9"), ("condition", "false"), ("relation", "i >= 9"),
                  ("constant", "10"), ("constant", "8"), ("arithmetic", "--i"), ("left out", "")]),
                ("for (const auto& a : all) g(a);", [("left out", ""), ("loop", "break;")]),
                ("const int x = a + b * c;", [("arithmetic", "a - b * c"), ("arithmetic", "b / c")]),
                ("x += a ? b : c;", [("left out", ""), ("arithmetic", "x -= a ? b : c"), ("condition", "true"),
                                     ("condition", "false")]),
                ("return a;", [("other value returned", "return ::mutation::other(a);")]),
                ("return true;", [("other value returned", "return ::mutation::other(true);")]),
                ("return;", [("left out", "")]),
                ("return nullptr;", []),
                ("return {a, 1s};", [("constant", "2s"), ("constant", "0s")]),
                ("if (const auto x = g(); x > 0) return;",
                 [("boundary", "x >= 0"), ("condition", "true"), ("condition", "false"), ("relation", "x <= 0"),
                  ("constant", "1"), ("left out", "")]),
                ("if (const auto x = g()) h(x);", [("condition", "const auto x = g(); false"), ("left out", "")]),
                ("const auto f = [&a](int b) { return a + b; };",
                 [("other value returned", "return ::mutation::other(a + b);"), ("arithmetic", "a - b")])]:
            with self.subTest(body):
                self.assertEqual(sorted(mistakes(body)), sorted(expected))

    def test_what_is_no_code_of_a_function_is_left_alone(self):
        for text in ["constexpr int most = 5;", "struct A { int b = 1; bool c{true}; };", "enum class A { b = 1 };",
                     "template <int N = 3> class A;", "constexpr int f() { return 1 + 2; }", "#define A(x) ((x) + 1)",
                     "void f() { // a < 1\n g(\"1 < 2\", 'a', R\"(a + 1)\"); /* 1 */ }".replace("g(", "T x("),
                     "void f() { std::array<int, 5> a; std::vector<std::vector<int>> b; A* c; A&& d; }"]:
            with self.subTest(text):
                self.assertEqual(find_mutants("a.cpp", text), [])

    def test_functions_are_found_wherever_they_are(self):
        for text in ["namespace a { namespace { void f() { g(); } } }", "class A : public B { public: void f() { g(); } };",
                     "A::A(int b) : b_(b), c_{b} { g(); }", "template <class T> auto f(T t) -> int { g(); }",
                     "bool operator<(A a, A b) { g(); }", "struct A { bool operator()(int) const noexcept { g(); } };",
                     "const auto x = 1; void f() const { struct B { void h() { g(); } }; }"]:
            with self.subTest(text):
                self.assertEqual([mutant.operator for mutant in find_mutants("a.cpp", text)], ["left out"])


PROGRAM = """#include <cstdio>
#include <optional>
#include <string>
#include <vector>
std::optional<int> found(int a) {
  if (a < 0) return std::nullopt;
  return a;
}
int f(int a, const std::vector<int>& list) {
  constexpr int most = 3;
  int sum = 0;
  for (const int one : list)
    if (one <= most && !(one == a)) sum += one * 2;
  if (const auto some = found(a)) sum += *some;
  return a > 10 ? -1 : sum;
}
int main() { std::printf("%d %d %d\\n", f(1, {1, 2, 3, 4}), f(-1, {3}), f(11, {})); }
"""


class Switches(unittest.TestCase):
    def test_one_build_has_each_mistake(self):
        mutants = dict(enumerate((mutant for mutant in find_mutants("a.cpp", PROGRAM)
                                  if mutant.line < PROGRAM[:PROGRAM.index("int main")].count("\n") + 1), 1))
        self.assertGreater(len(mutants), 25)
        with tempfile.TemporaryDirectory() as folder:
            source, program, reached = (os.path.join(folder, name) for name in ("a.cpp", "a", "reached"))
            written = switched(PROGRAM, mutants, source)
            self.assertEqual(sorted(lines_of(written)), sorted(mutants))
            with open(source, "w", encoding="utf-8") as file:
                file.write(written)
            subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-w", "-o", program, source], check=True)
            with open(reached, "wb") as file:
                file.write(bytes(len(mutants) + 1))

            def run(number):
                environment = {**os.environ, "MUTANT": str(number), "MUTANTS_REACHED": reached}
                return subprocess.run([program], env=environment, stdout=subprocess.PIPE, check=False).stdout

            self.assertEqual(run(0), b"11 6 -1\n")
            with open(reached, "rb") as file:
                self.assertEqual(file.read(), b"\0" + b"\1" * len(mutants))
            lives = [mutants[number].mutated(PROGRAM) for number in mutants if run(number) == b"11 6 -1\n"]
            # These are of no consequence here: the numbers beside are not asked for.
            self.assertEqual(sorted(lives), sorted(["a <= 0", "1", "a >= 10", "9"]))


class Score(unittest.TestCase):
    def results(self):
        states = {"a": "killed", "b": "timeout", "c": "survived", "d": "survived", "e": "unreached", "f": "waiting"}
        return {"seed": "1", "possible": 9, "refused": [], "mutants": [
            {"identity": name, "file": "x.cpp", "line": 1, "operator": "constant", "diff": ["-1", "+2"], "state": state,
             "by": "sources.x" if state in mutate.KILLED else ""} for name, state in states.items()]}

    def printed(self, results):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            mutate.report(results)
        return out.getvalue()

    def test_the_score_is_of_those_that_are_not_the_same_program(self):
        results = self.results()
        self.assertIn("2 of 5 mutants die: 40.0 %", self.printed(results))
        self.assertEqual(mutate.note_equivalent(results, {"c": "the sum is 0", "e": "nobody asks"}), [])
        self.assertIn("2 of 3 mutants die: 66.7 %", self.printed(results))
        self.assertIn("1 survive, 0 are reached by no test, 1 wait. 2 more are the same program.", self.printed(results))
        self.assertIn("x.cpp:1: constant (the same program: the sum is 0)", self.printed(results))
        self.assertEqual(mutate.note_equivalent(results, {}), [])
        self.assertIn("2 of 5 mutants die", self.printed(results))

    def test_a_note_needs_a_reason_and_a_mutant_that_lives(self):
        results = self.results()
        wrong = mutate.note_equivalent(results, {"a": "why", "c": " ", "z": "why"})
        self.assertEqual([line.split(":")[0].split(",")[0] for line in wrong],
                         ["not the same program", "without a reason", "no mutant of this run"])
        self.assertIn("2 of 5 mutants die", self.printed(results))


if __name__ == "__main__":
    unittest.main()
