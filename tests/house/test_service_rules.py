"""Checks that the tables of docs/documented-surface.md name exactly the rules of src/request/service_rules.hpp, each with
its source, and that each rule has a condition. Run: python3 tests/house/test_service_rules.py"""

import re
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
SERVICES = {"OpenAI": "openai", "DashScope": "dashscope", "DeepSeek": "deepseek"}


def text(name):
    return (CHECKOUT / name).read_text(encoding="utf-8")


def rules():
    """Returns (service, name) of each row."""
    table = re.search(r"inline constexpr Rule rules\[\] = \{\n(.*?)\n\};", text("src/request/service_rules.hpp"), re.S)[1]
    return re.findall(r'^    \{(\w+), "(\w+)",', table, re.M)


def documented():
    """Returns (service, name) and the source for each name in the tables."""
    section = re.search(r"\n## Enforce a service's rules\n(.*?)\n## ", text("docs/documented-surface.md"), re.S)[1]
    found = []
    for title, lines in re.findall(r"^\| (\w+) refuses with 400 \| rule \| source \|\n\|[-|]+\|\n((?:\|.*\n)+)", section, re.M):
        for line in lines.splitlines():
            _, names, source = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            found += [((SERVICES[title], name), source) for name in re.findall(r"`(\w+)`", names)]
    return found


class ServiceRules(unittest.TestCase):
    def test_the_tables_name_every_rule_once(self):
        self.assertGreater(len(rules()), 25)
        self.assertEqual(sorted(rules()), sorted(rule for rule, _ in documented()))

    def test_every_rule_has_a_source(self):
        for rule, source in documented():
            self.assertRegex(source, r"\]\(https://github\.com/[\w.-]+/[\w.-]+(/issues/\d+)?\)$", rule)

    def test_every_rule_has_a_condition_and_every_condition_a_rule(self):
        source = "".join(text(path.relative_to(CHECKOUT)) for path in sorted((CHECKOUT / "src/request").glob("chat_*.cpp")))
        calls = re.findall(r'\b(?:breaks|judge|judge_length)\(\s*"(\w+)"', source)
        self.assertEqual(sorted(set(calls)), sorted({name for _, name in rules()}))


if __name__ == "__main__":
    unittest.main()
