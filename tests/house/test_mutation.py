"""Checks that tests/mutation/ finds the possible mistakes of a small program, and that one switch selects each. Run:
python3 tests/house/test_mutation.py"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mutation"))

from mutated_tree import lines_of, switched  # noqa: E402
from operators import find_mutants  # noqa: E402

OPERATORS = {"arithmetic", "boundary", "condition", "connector", "constant", "left out", "loop", "negation",
             "other value returned", "relation"}
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
    def test_one_build_contains_each_mistake(self):
        mutants = dict(enumerate((mutant for mutant in find_mutants("a.cpp", PROGRAM)
                                  if mutant.line < PROGRAM[:PROGRAM.index("int main")].count("\n") + 1), 1))
        self.assertGreater(len(mutants), 25)
        self.assertEqual({mutant.operator for mutant in mutants.values()}, OPERATORS)
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
            # These have no effect here: the numbers next to them are not tested.
            self.assertEqual(sorted(lives), sorted(["a <= 0", "1", "a >= 10", "9"]))


if __name__ == "__main__":
    unittest.main()
