"""Checks everything except C++ in README.md, CONTRIBUTING.md and docs/: links, sizes, and that all public names are
documented.

Usage: docs_test.py CHECKOUT. Uses only Python's standard library.
"""

import re
import sys
import unittest
from pathlib import Path

from profile_errors import rows_of

CHECKOUT = Path(sys.argv[1]).resolve()
README, CONTRIBUTING = CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md"
TOPICS = sorted(page for page in (CHECKOUT / "docs").glob("*.md") if page.name != "README.md")
PAGES = [README, CONTRIBUTING, CHECKOUT / "docs/README.md", *TOPICS]

# Public names without documentation, and the reasons.
UNDOCUMENTED = {
    "current": "what the default argument of SourceLocation parameters calls",
    "fulfilled": "creates a Wait; only the library calls it",
    "timed_out": "likewise",
}


def without_blocks(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """The anchors of a page's headings, as GitHub generates them, and explicit anchors."""
    text = without_blocks(page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]*)">', text))


def public_names(interface):
    """Yields (type, name) of each public function and field, and ("", name) of each free function."""
    for opened, closed in ((r"namespace mock_gateway \{ inline namespace MOCK_GATEWAY_ABI \{ namespace detail \{",
                            r"\}\}\}  // namespace mock_gateway::detail"), (r"namespace detail \{", r"\}  // namespace detail")):
        interface = re.sub(rf"^{opened}$.*?^{closed}$", "", interface, flags=re.MULTILINE | re.DOTALL)
    function = re.compile(r"(?:[\w:<>,*&\[\] ]+[ *&])?(\w+)\((?!\s*\*)")
    field = re.compile(r"[\w:<>,*& ]+ (\w+)(?: = .*|\{.*\})?;")
    owner, public, skip = "", True, False
    for line in interface.splitlines():
        opened = re.match(r"(class|struct) (?:\[\[nodiscard\]\] )?(\w+).*\{$", line)
        if opened:
            owner, public = opened[2], opened[1] == "struct"
        elif line.startswith("};"):
            owner, public = "", True
        elif re.fullmatch(r" *(public|private|protected):", line):
            public = line.strip() == "public:"
        elif public and not line.lstrip().startswith("//"):
            indent = "  " if owner else ""
            code = line[len(indent) :]
            if not line.startswith(indent) or re.match(r"\s|friend|using|enum|static_assert|template|explicit|return|#", code):
                continue
            code = re.sub(r"\[\[nodiscard\]\] |static |inline |constexpr ", "", code)
            found = function.match(code) or (owner and field.fullmatch(code.split("  //")[0]))
            if found and found[1] not in {owner, "operator"} and "operator" not in code:
                yield owner, found[1]


class Docs(unittest.TestCase):
    def test_links_have_targets(self):
        for page in PAGES:
            text = re.sub(r"`[^`\n]*`", "", without_blocks(page.read_text(encoding="utf-8")))
            for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
                with self.subTest(page=page.name, target=target, anchor=anchor):
                    file = (page.parent / target) if target else page
                    self.assertTrue(file.exists(), f"{page.name}: there is no {target}")
                    if anchor:
                        self.assertIn(anchor, anchors(file), f"{page.name}: {target} has no such heading")

    def test_paths_exist(self):
        for page in PAGES:
            for path in re.findall(r"`((?:src|tests|docs|examples|endpoint|cmake|\.ci)/[\w./*-]*)", page.read_text(encoding="utf-8")):
                there = any(CHECKOUT.glob(path)) if "*" in path else (CHECKOUT / path).exists()
                self.assertTrue(there, f"{page.name}: there is no {path}")

    def test_the_readme_is_short(self):
        text = README.read_bytes()
        self.assertLessEqual(text.count(b"\n"), 250, "README.md: lines")
        self.assertLessEqual(len(text), 20 * 1024, "README.md: bytes")

    def test_the_index_names_every_page(self):
        index = (CHECKOUT / "docs/README.md").read_text(encoding="utf-8")
        for page in TOPICS:
            self.assertTrue(f"]({page.name})" in index, f"docs/README.md does not name {page.name}")

    def test_the_readme_names_every_example(self):
        text = README.read_text(encoding="utf-8")
        for entry in (CHECKOUT / "examples").iterdir():
            if entry.is_dir() or entry.suffix == ".cpp":
                self.assertTrue(f"examples/{entry.name}" in text, f"README.md does not name {entry.name}")

    def test_whole_files_are_quoted_exactly(self):
        shown = 0
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            for name, code in re.findall(r"^```cpp (examples/\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
                shown += 1
                self.assertEqual((CHECKOUT / name).read_text(encoding="utf-8"), code, f"{page.name} shows another {name}")
        self.assertGreater(shown, 0)

    def test_the_header_begins_with_a_complete_test(self):
        example = (CHECKOUT / "examples/first_test.cpp").read_text(encoding="utf-8")
        wanted = [f"//     {line}".rstrip() if line else "//" for line in example[example.index("#define"):].splitlines()]
        shown = (CHECKOUT / "mock_gateway.hpp").read_text(encoding="utf-8").splitlines()[:60]
        begin = shown.index(wanted[0])
        self.assertEqual(shown[begin:begin + len(wanted)], wanted)

    def test_every_public_name_is_documented(self):
        interface = (CHECKOUT / "mock_gateway.hpp").read_text(encoding="utf-8").split("#endif  // MOCK_GATEWAY_HPP")[0]
        names = set(public_names(interface))
        self.assertGreater(len(names), 200, "the header does not look as it did")
        text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
        code = " ".join(re.findall(r"`([^`\n]+)`", text) + re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL))
        told = set(re.findall(r"\w+", code))
        missing = sorted(f"{owner}::{name}" for owner, name in names if name not in told and name not in UNDOCUMENTED)
        self.assertEqual(missing, [], "neither README.md nor docs/ names these")
        self.assertEqual(sorted(name for name in UNDOCUMENTED if name in told), [], "UNDOCUMENTED lists these, but they are documented")

    def test_the_page_on_profiles_has_every_error_of_a_profile(self):
        errors = rows_of((CHECKOUT / "src/model/profile.cpp").read_text(encoding="utf-8"))
        self.assertEqual([len(rows) > 4 for rows in errors.values()], [True] * 5, "profile.cpp does not look as it did")
        page = (CHECKOUT / "docs/profiles.md").read_text(encoding="utf-8")
        for profile, rows in errors.items():
            section = page.split(f"### {profile}\n")[1].split("\n#")[0]
            lines = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
            self.assertEqual([tuple(line[:5]) for line in lines[2:]], rows, profile)
            self.assertTrue(all(line[5] for line in lines), f"{profile}: a row has no source")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
