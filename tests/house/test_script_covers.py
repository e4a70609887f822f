"""Everything that a test can write in C++ as a value can be written in a script document too. Each setter and free
function of the public headers below has a key in the tables of src/document, or is excluded here with a reason. Run:
python3 tests/house/test_script_covers.py"""

import re
import unittest
from pathlib import Path

SRC = Path(__file__).resolve().parent.parent.parent / "src"
# The rows in this file are keys of `when`.
FIELDS = SRC / "script/field_matchers.cpp"

# The key, or the word of a value, if it differs from the function's name.
OTHER_NAMES = {
    "Options": {"model": "models", "any_model": "models", "key": "keys", "key_header": "key_headers", "base_path": "base_paths", "without_finding": "without_findings"},
    "Reply": {
        "malformed_tool_call": "malformed_arguments",
        "custom_tool_call": "input",
        "header": "headers",
        "add_header": "headers",
        "fault": "faults",
        "extra_chunk": "extra_chunks",
        "chunk": "chunks",
        "templated": "template",
    },
    "Failure": {"header": "headers", "add_header": "headers", "body": "error_body", "json_body": "error_json"},
    "HttpReply": {"fault": "faults", "header": "headers", "add_header": "headers"},
    "KeyOptions": {"disabled": "state"},
    "StubBuilder": {"named": "name"},
    "pace.hpp": {
        "by_tokens": "tokens",
        "by_words": "words",
        "by_characters": "characters",
        "by_bytes": "bytes",
        "by_pieces": "pieces",
    },
    "reply.hpp": {
        "malformed_tool_call": "malformed_arguments",
        "custom_tool_call": "input",
        "json_chunk": "json",
        "then_nothing_more": "nothing_more",
    },
    "hold.hpp": {},
}

FUNCTION = "a function of the test, which JSON cannot express"
EXCEPTIONS = {
    ("Options", "tokenizer"): FUNCTION,
    ("Options", "on_exchange"): FUNCTION,
    ("Options", "on_connection_hit"): FUNCTION,
    ("Options", "verify_on_destruction"): "affects only the Gateway object in the test, not what it serves",
    ("Reply", "pace"): "its keys stand in the reply itself",
    ("Pace", "or_else"): "joins two values; the gateway does so with its own pace",
    ("matchers.hpp", "matching"): FUNCTION,
    ("matchers.hpp", "matching_call"): FUNCTION,
    ("failure.hpp", "failure"): "the object with status, code and message",
}

# The class, its header, and the tables with its keys.
CLASSES = [
    ("Options", "gateway/options.hpp", ["gateway_rows", "model_rows", "document_rows"]),
    ("Reply", "model/reply.hpp", ["reply_rows", "tool_call_rows"]),
    ("Failure", "model/failure.hpp", ["reply_rows"]),
    ("Failure", "model/failure.hpp", ["forced_failure_rows"]),
    ("Failure", "model/failure.hpp", ["http_reply_rows"]),
    ("Failure", "model/failure.hpp", ["chaos_setter_rows", "setter_rows"]),
    ("Chaos", "script/chaos.hpp", ["chaos_setter_rows"]),
    ("KeyOptions", "keys/api_key.hpp", ["key_rows"]),
    ("SseDialect", "model/sse_dialect.hpp", ["DialectRow::rows"]),
    ("Pace", "model/pace.hpp", ["pace_rows"]),
    ("TokenUsage", "model/reply.hpp", ["usage_rows"]),
    ("HttpReply", "model/http_reply.hpp", ["http_reply_rows"]),
    ("StubBuilder", "gateway/chat_script.hpp", ["stub_rows"]),
]
# The header, the return types of its functions, and the file that names their results.
FUNCTIONS = [
    ("matchers.hpp", "script/matchers.hpp", ["Matcher", "TextMatcher"], "document/script_matchers.cpp"),
    ("fault.hpp", "model/fault.hpp", ["Trigger", "Effect"], "model/fault.cpp"),
    ("chaos.hpp", "script/chaos.hpp", ["DrawnTrigger"], "script/chaos_plan.hpp"),
    ("connection_fault.hpp", "model/connection_fault.hpp", ["ConnectionFault"], "document/script_faults.cpp"),
    ("failure.hpp", "model/failure.hpp", ["Failure"], "model/failure_rows.hpp"),
    ("pace.hpp", "model/pace.hpp", ["Timing", "Rate", "Chunking"], "document/script_values.cpp"),
    ("range.hpp", "model/range.hpp", ["Range"], "document/script_values.cpp"),
    ("reply.hpp", "model/reply.hpp", ["Reply", "StreamChunk", "NothingMore"], "document/script_*.cpp"),
    ("hold.hpp", "model/hold.hpp", ["HoldPoint"], "document/script_replies.cpp"),
]


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def public_part(text, name):
    """Returns the body of a class up to its private part."""
    begin = re.search(rf"\bclass (?:\[\[nodiscard\]\] )?{name}\b[^;{{]*\{{", text)
    if not begin:
        raise AssertionError(f"there is no class {name}")
    end = re.search(r"\n \w*private:|\n};", text[begin.end() :])
    return text[begin.end() : begin.end() + end.start()]


def setters(text, name):
    """Returns the functions that return a changed copy. For a builder: those that return the builder or a mounted
    stub."""
    body = public_part(text, name)
    made = f"{name}|Stub" if name == "StubBuilder" else name
    found = re.findall(rf"(?:^|[\s>\]])(?:{made})\s+(\w+)\s*\([^;{{]*?\)\s*(?:const|&&)", body)
    return sorted({one for one in found if one != "operator"})


def functions(text, types):
    """Returns the free functions of a namespace that return one of these types."""
    outside = re.sub(r"\b(class|struct) [^;{]*\{.*?\n\};", "", text, flags=re.S)
    outside = re.sub(r"namespace detail \{.*?\n\}", "", outside, flags=re.S)
    found = re.findall(rf"(?:^|\n)(?:inline )?(?:{'|'.join(types)}) (\w+)\(", outside)
    return sorted(set(found))


def rows():
    """Returns the keys of each table, including keys that may accompany its own: {"reply_rows": {"text", …}}."""
    tables = {}
    text = "".join(path.read_text() for path in sorted((SRC / "document").glob("*.cpp")))
    for name, body in re.findall(r"ScriptRow (\w+)\[\] = \{(.*?)\n\};", text, flags=re.S):
        tables[name] = set(re.findall(r'\{\s*"(\w+)",\s*&', body))
    # Tables that are generated from the rows of C++ types.
    for path in ["model/acceptance.hpp", "model/sse_dialect.cpp"]:
        for name, body in re.findall(r"Row ([\w:]+)\[\d*\] = \{(.*?)\n\};", (SRC / path).read_text(), flags=re.S):
            tables[name] = set(re.findall(r'\n    \{(?:[\w:]+, )?"(\w+)",', body))
    for name, body in re.findall(r"RequestField (\w+)\[\] = \{(.*?)\n\};", FIELDS.read_text(), flags=re.S):
        tables[name] = set(re.findall(r'\{\s*"(\w+)",\s*Kind', body))
    for body in re.findall(r"ScriptTable \w+\{(.*?)\};", text, flags=re.S):
        name = re.search(r"\b\w+_rows\b", body)
        if "failure_setters" in body and name:
            tables[name.group()] |= tables["setter_rows"]
    return tables


def words(pattern):
    """Returns every quoted text that is a name, in the matching files of src/."""
    text = "".join(path.read_text() for path in sorted(SRC.glob(pattern)))
    return set(re.findall(r'"(\w+)"', text))


class ScriptCovers(unittest.TestCase):
    def setUp(self):
        self.used = set()

    def key_of(self, owner, name):
        """Returns the key; None for functions that a document excludes."""
        if (owner, name) in EXCEPTIONS:
            self.used.add((owner, name))
            return None
        return OTHER_NAMES.get(owner, {}).get(name, name)

    def test_each_setter_and_function_has_a_key(self):
        tables = rows()
        self.assertGreater(len(tables), 25)
        missing = []
        counted = 0
        for name, header, in_tables in CLASSES:
            keys = set().union(*(tables[table] for table in in_tables))
            found = setters(without_comments((SRC / header).read_text()), name)
            self.assertTrue(found, name)
            for setter in found:
                counted += 1
                key = self.key_of(name, setter)
                if key is not None and key not in keys:
                    missing.append(f"{name}::{setter}: no key \"{key}\" in {' or '.join(in_tables)}")
        for owner, header, types, where in FUNCTIONS:
            known = words(where)
            if header == "script/matchers.hpp":
                known |= tables["message_fields"] | tables["request_fields"]
            found = functions(without_comments((SRC / header).read_text()), types)
            self.assertTrue(found, owner)
            for function in found:
                counted += 1
                key = self.key_of(owner, function)
                if key is not None and key not in known:
                    missing.append(f"{function}() of {header}: no \"{key}\" in src/{where}")
        self.assertEqual(missing, [])
        # The minimum that the parser of headers above must find.
        self.assertGreater(counted, 190)

    def test_no_exception_is_out_of_date(self):
        self.test_each_setter_and_function_has_a_key()
        self.assertEqual(set(EXCEPTIONS) - self.used, set())

    def test_each_choice_of_an_enum_has_a_word(self):
        """Options accept enums by the names of their values."""
        for header, name, where in [
            ("gateway/options.hpp", "Unmatched", "document/script_gateway.cpp"),
            ("model/profile.hpp", "Profile", "model/profile.cpp"),
        ]:
            known = words(where)
            body = re.search(rf"enum class {name} \{{(.*?)\}}", without_comments((SRC / header).read_text()), re.S)
            for value in re.findall(r"\w+", body.group(1)):
                self.assertIn(value, known, f"{name}::{value}")


if __name__ == "__main__":
    unittest.main()
