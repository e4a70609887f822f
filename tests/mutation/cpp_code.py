"""C++ as tokens, brackets and function bodies: the part of the language that the mutation operators need.

It relies on clang-format: `<`, `>`, `*`, `&` and `&&` with a space on both sides are operators, and otherwise brackets
of templates, pointers or references.
"""

import bisect
import re
from dataclasses import dataclass

TOKEN = re.compile(r"""
    (?P<blank>\s+ | //[^\n]* | /\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
  | (?P<string>(?:u8|u|U|L)?R"(?P<fence>[^(\s]*)\(.*?\)(?P=fence)" | (?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*"\w*)
  | (?P<character>(?:u8|u|U|L)?'(?:[^'\\\n]|\\.)+')
  | (?P<number>\.?\d(?:'?[\w.]|[eEpP][+-])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->\*|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|.)
""", re.VERBOSE | re.MULTILINE | re.DOTALL)

OPENING = {"(": ")", "{": "}", "[": "]"}
CLOSING = set(OPENING.values())
CLASS_WORDS = {"class", "struct", "union", "enum"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
# The precedence of binary operators.
PRECEDENCE = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7, ">=": 7, "==": 6, "!=": 6,
    "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1, "?": 0, ":": 0, **dict.fromkeys(ASSIGNMENTS, 0), ",": -1}
# Words that end an operand.
BOUNDARY_WORDS = {"return", "throw", "case", "else", "do", "co_return", "co_yield"}


@dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int
    spaced: bool = False  # surrounded by white space


class Code:
    """The tokens of a file, with the partner of each bracket."""

    def __init__(self, text):
        self.text = text
        self.tokens = []
        for found in TOKEN.finditer(text):
            if found.lastgroup == "fence" or found["string"] is not None:
                kind = "string"
            else:
                kind = found.lastgroup
            if kind not in ("blank", "directive"):
                spaced = text[found.start() - 1:found.start()].isspace() and text[found.end():found.end() + 1].isspace()
                self._append(kind, found.group(), found.start(), spaced)
        self.match = self._brackets()
        self.line_starts = [0] + [place.end() for place in re.finditer("\n", text)]

    def _append(self, kind, text, start, spaced):
        # `>>` that closes two templates is two tokens.
        if text == ">>" and not spaced:
            self._append(kind, ">", start, False)
            self._append(kind, ">", start + 1, False)
            return
        self.tokens.append(Token(kind, text, start, start + len(text), spaced))

    def _brackets(self):
        match, open_ones = {}, []
        for index, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in OPENING or (token.text == "<" and not token.spaced and not self.word(index - 1, "operator")):
                open_ones.append(index)
            elif token.text in CLOSING or (token.text == ">" and not token.spaced):
                if token.text != ">":  # it was no template
                    while open_ones and self.tokens[open_ones[-1]].text == "<":
                        open_ones.pop()
                elif not open_ones or self.tokens[open_ones[-1]].text != "<":
                    continue
                if open_ones:
                    opening = open_ones.pop()
                    match[opening], match[index] = index, opening
        return match

    def is_sign(self, index, *texts):
        return 0 <= index < len(self.tokens) and self.tokens[index].kind == "sign" and self.tokens[index].text in texts

    def word(self, index, *texts):
        return 0 <= index < len(self.tokens) and self.tokens[index].kind == "name" and self.tokens[index].text in texts

    def closes(self, index):
        """Whether the token closes a bracket."""
        return index in self.match and self.match[index] < index

    def opens(self, index):
        return index in self.match and self.match[index] > index

    def skip(self, index):
        """Returns the token after this one; after a bracket, the token after its partner."""
        return self.match[index] + 1 if self.opens(index) else index + 1

    def line(self, offset):
        return bisect.bisect_right(self.line_starts, offset)

    def find(self, start, end, *texts):
        """Returns the first such sign outside brackets, or None."""
        index = start
        while index < end:
            if self.is_sign(index, *texts):
                return index
            index = self.skip(index)
        return None

    def is_binary(self, index):
        """Whether the token is an operator between two operands."""
        token = self.tokens[index]
        if token.kind != "sign" or token.text not in PRECEDENCE:
            return False
        return token.text == "," or (index not in self.match and token.spaced)

    def left_operand(self, index, first, weakest):
        """Returns the beginning of the left operand, which has no operator weaker than `weakest`."""
        begin = index
        while begin > first:
            before = begin - 1
            if self.closes(before):
                begin = self.match[before]
                continue
            token = self.tokens[before]
            if before in self.match or self.word(before, *BOUNDARY_WORDS) or self.is_sign(before, ";", "{", "}"):
                break
            if self.is_sign(before, ":") or (self.is_binary(before) and PRECEDENCE[token.text] < weakest):
                break
            begin = before
        return begin

    def right_operand(self, index, last, weakest):
        """Returns the token after the operator's right operand."""
        end = index + 1
        while end < last:
            token = self.tokens[end]
            if self.closes(end) or self.is_sign(end, ";", ":"):
                break
            if end > index + 1 and self.is_binary(end) and PRECEDENCE[token.text] <= weakest:
                break
            end = self.skip(end)
        return end

    def is_lambda(self, index):
        """Whether the `{` starts the body of a lambda."""
        before = index - 1
        while self.word(before, "mutable", "noexcept"):
            before -= 1
        returned = before
        while returned > 0 and (self.tokens[returned].kind == "name" or self.is_sign(returned, "::", "*", "&")
                                or (self.closes(returned) and self.tokens[returned].text == ">")):
            returned = self.match[returned] - 1 if self.closes(returned) else returned - 1
        if returned != before and self.is_sign(returned, "->"):
            before = returned - 1
        if self.is_sign(before, ")") and self.closes(before):
            before = self.match[before] - 1
        if not (self.is_sign(before, "]") and self.closes(before)):
            return False
        captures = self.match[before] - 1
        return not (captures >= 0 and (self.tokens[captures].kind == "name" and not self.word(captures, "return")
                                       or self.is_sign(captures, ")", "]")))

    def bodies(self, start=0, end=None):
        """Yields (first, last) of the tokens in each function of namespaces and classes."""
        end = len(self.tokens) if end is None else end
        begin = index = start
        while index < end:
            if self.is_sign(index, ";") or (self.is_sign(index, ":") and
                                            self.word(index - 1, "public", "private", "protected")):
                begin = index = index + 1
            elif self.is_sign(index, "{") and index in self.match:
                kind = self._kind_of_block(begin, index)
                closing = self.match[index]
                if kind in ("namespace", "class"):
                    yield from self.bodies(index + 1, closing)
                elif kind == "function":
                    yield index + 1, closing
                index = closing + 1
                if kind in ("namespace", "function"):
                    begin = index
            else:
                index = self.skip(index)

    def _kind_of_block(self, begin, brace):
        if self.word(begin, "template"):
            begin = self.skip(begin + 1)
        head = []
        index = begin
        while index < brace:
            head.append(index)
            index = self.skip(index)
        if any(self.word(item, "namespace", "extern") for item in head):
            return "namespace"
        parameters = next((item for item in head if self.is_sign(item, "(")), None)
        if any(self.is_sign(item, "=") and (parameters is None or item < parameters) and
               not self.word(item - 1, "operator") for item in head):
            return "initializer"
        if parameters is None:
            if any(self.word(item, "enum") for item in head):
                return "enum"
            return "class" if any(self.word(item, *CLASS_WORDS) for item in head) else "initializer"
        if any(self.word(item, "constexpr", "consteval") for item in head):
            return "constant function"
        # Members initialized with braces come before the body of a constructor.
        has_members = any(self.is_sign(item, ":") and item > parameters for item in head)
        if has_members and not self.is_sign(brace - 1, ")", "}"):
            return "initializer"
        return "function"
