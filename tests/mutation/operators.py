"""The mutation operators: where a function can be changed by one small mistake, and how.

The established set: relations and their boundaries, logical connectors, arithmetic, constants changed by one,
conditions that are always true or false, loops that never start, removed statements, other returned values.
"""

import re
from dataclasses import dataclass, field

from cpp_code import ASSIGNMENTS, CLASS_WORDS, Code, PRECEDENCE

BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
NEGATIONS = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
CONNECTORS = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
STEPS = {"++": "--", "--": "++"}
INTEGER = re.compile(r"(0[xX][\da-fA-F']+|[\d']+)([uUlLzZ]*|_?[a-z]+)")
DECIMAL = re.compile(r"(\d+\.\d*)(\w*)")
# A mutation of these return values would change nothing, or would not have the type.
RETURNED_AS_THEY_ARE = {"nullptr", "std::nullopt", "*this"}


@dataclass
class Mutant:
    """One change: each of `edits` (start, end, text) is applied inside [start, end) of the file."""
    file: str
    line: int
    operator: str
    start: int
    end: int
    form: str  # the form of the switch: expression, condition, declaration, statement
    edits: list
    declared: str = ""  # the name that a condition declares
    also: list = field(default_factory=list)  # edits of the switch if both variants are present

    def mutated(self, text):
        """Returns the text of [start, end) with the mistake."""
        parts, place = [], self.start
        for start, end, new in sorted(self.edits):
            parts += [text[place:start], new]
            place = end
        return "".join(parts + [text[place:self.end]])


class Finder:
    """Finds the mutants of one file."""

    def __init__(self, file, text):
        self.file = file
        self.code = Code(text)
        self.tokens = self.code.tokens
        self.found = []
        self.also = []

    def mutants(self):
        for first, last in self.code.bodies():
            self._statements(first, last)
        self.found.sort(key=lambda mutant: (mutant.start, -mutant.end, mutant.operator))
        return self.found

    # --- Statements -----------------------------------------------------------------------------------------------------

    def _statements(self, index, last):
        while index < last:
            index = self._statement(index, last)

    def _statement(self, index, last):
        """Parses one statement and returns the token after it."""
        code = self.code
        if code.is_sign(index, ";"):
            return index + 1
        if code.is_sign(index, "{"):
            self._statements(index + 1, code.match[index])
            return code.match[index] + 1
        if code.word(index, "if"):
            return self._if(index, last)
        if code.word(index, "while", "for", "switch", "catch") and code.is_sign(index + 1, "("):
            return self._loop(index, last)
        if code.word(index, "do", "else", "try"):
            return self._statement(index + 1, last)
        if code.word(index, "case", "default") and (colon := code.find(index, last, ":")) is not None:
            return colon + 1
        if code.word(index, *CLASS_WORDS) and (brace := code.find(index, last, "{", ";", "=", "(")) is not None \
                and code.is_sign(brace, "{"):
            for first, end in code.bodies(index, code.match[brace] + 1):
                self._statements(first, end)
            return code.match[brace] + 1
        semicolon = code.find(index, last, ";")
        end = last if semicolon is None else semicolon
        self._simple(index, end)
        return end + 1

    def _if(self, index, last):
        code = self.code
        constant = code.word(index + 1, "constexpr")
        opening = index + (2 if constant else 1)
        closing = code.match[opening]
        if not constant:
            self._condition_of_if(opening + 1, closing)
        after = self._statement(closing + 1, last)
        return self._statement(after + 1, last) if code.word(after, "else") else after

    def _condition_of_if(self, first, last):
        code = self.code
        semicolon = code.find(first, last, ";")
        if semicolon is not None:
            self._expression(first, semicolon)
            first = semicolon + 1
        assignment = code.find(first, last, "=")
        if assignment is None:
            self._condition(first, last, "true", "false")
            self._expression(first, last)
            return
        # The declared variable must exist for any condition.
        self._expression(assignment + 1, last)
        declared = self.tokens[assignment - 1]
        if declared.kind == "name" and semicolon is None:
            end = self.tokens[last - 1].end
            self._add("condition", first, last, "declaration", [(end, end, "; false")])
            self.found[-1].declared = declared.text

    def _loop(self, index, last):
        code = self.code
        keyword, closing = self.tokens[index].text, code.match[index + 1]
        first = index + 2
        if keyword == "for":
            parts = []
            while (semicolon := code.find(first, closing, ";")) is not None:
                parts.append((first, semicolon))
                first = semicolon + 1
            if parts:
                self._expression(*parts[0])
                if parts[1][0] < parts[1][1]:
                    self._condition(*parts[1], "false")
                    self._expression(*parts[1])
                self._expression(first, closing)
            else:
                colon = code.find(first, closing, ":")
                if colon is not None:
                    self._expression(colon + 1, closing)
                    end = self._end_of_statement(closing + 1, last)
                    self._add("loop", closing + 1, end, "statement",
                              [(self.tokens[closing + 1].start, self.tokens[end - 1].end, "break;")])
        elif keyword == "while":
            if code.is_sign(closing + 1, ";"):  # of do … while
                self._expression(first, closing)
                return closing + 2
            if not code.word(first, "true"):
                if code.find(first, closing, "=") is None:
                    self._condition(first, closing, "false")
                self._expression(first, closing)
        elif keyword == "switch":
            self._expression(first, closing)
        return self._statement(closing + 1, last)

    def _end_of_statement(self, index, last):
        """Returns the token after a statement that is not mutated."""
        kept, self.found = self.found, []
        try:
            return self._statement(index, last)
        finally:
            self.found = kept

    def _simple(self, first, end):
        """Mutates a statement that ends with the semicolon at `end`."""
        code = self.code
        if first >= end or code.word(first, "using", "typedef", "static_assert", "goto", "namespace"):
            return
        if code.word(first, "return"):
            if end > first + 1:
                self._return(first, end)
            else:
                self._left_out(first, end)
            return
        if code.word(first, "break", "continue"):
            self._left_out(first, end)
            return
        if code.word(first, "throw"):
            if not code.is_sign(end + 1, "}"):
                self._left_out(first, end)
            self._expression(first + 1, end)
            return
        if self._is_expression(first, end):
            self._left_out(first, end)
            self._expression(first, end)
            return
        # A compile-time constant becomes a run-time constant.
        constants = [token for token in range(first, end) if code.word(token, "constexpr")][:1]
        self.also = [(self.tokens[token].start, self.tokens[token].end, "const") for token in constants]
        if constants and code.word(constants[0] - 1, "static"):
            self.also.append((self.tokens[constants[0] - 1].start, self.tokens[constants[0]].start, ""))
        self._expression(first, end)
        self.also = []

    def _is_expression(self, first, end):
        """Whether a statement is a call, an assignment or an increment, and not a declaration."""
        code = self.code
        index = first
        while code.is_sign(index, "++", "--", "*", "("):
            if code.is_sign(index, "("):
                index = code.match[index] + 1
                break
            index += 1
        if code.is_sign(first, "++", "--"):
            return True
        if code.word(index, "static_cast") or code.word(index, "delete"):
            return code.word(index, "delete")
        called = False
        while index < end:
            token = self.tokens[index]
            if token.kind == "sign" and token.text in ASSIGNMENTS:
                return index > first and not (self.tokens[index - 1].kind == "name" and index - 1 > first and
                                              self.tokens[index - 2].kind == "name")
            if code.is_sign(index, "++", "--"):
                return True
            if code.is_sign(index, "<<") and token.spaced:
                return True
            if token.kind == "name" or code.is_sign(index, "::", ".", "->"):
                if token.kind == "name" and index > first and not code.is_sign(index - 1, "::", ".", "->", "*", "(") \
                        and not code.word(index - 1, "template"):
                    return False
                called = False
                index += 1
            elif code.opens(index):
                called = code.is_sign(index, "(")
                index = code.match[index] + 1
            else:
                return False
        return called

    def _left_out(self, first, end):
        begin, after = self.tokens[first].start, self.tokens[end].end
        self._add("left out", first, end + 1, "statement", [(begin, after, "")])

    def _return(self, first, end):
        text = self._text(first + 1, end)
        if not self.code.is_sign(first + 1, "{") and text not in RETURNED_AS_THEY_ARE:
            begin, after = self.tokens[first + 1].start, self.tokens[end - 1].end
            self._add("other value returned", first, end + 1, "statement",
                      [(begin, begin, "::mutation::other("), (after, after, ")")])
        if end - first == 2 and (self.tokens[first + 1].kind == "number" or text in ("true", "false")):
            return  # a constant changed by one is the same mistake
        self._expression(first + 1, end)

    # --- Expressions ----------------------------------------------------------------------------------------------------

    def _expression(self, first, last):
        code = self.code
        index = first
        while index < last:
            token = self.tokens[index]
            if code.is_sign(index, "{") and index in code.match and code.is_lambda(index):
                kept, self.also = self.also, []
                self._statements(index + 1, code.match[index])
                self.also = kept
                index = code.match[index] + 1
                continue
            if code.is_sign(index, "<") and code.opens(index):  # template arguments
                index = code.match[index] + 1
                continue
            if code.is_sign(index, "[") and code.opens(index) and code.is_sign(code.match[index] + 1, "(", "{") and \
                    self._is_capture(index):
                index = code.match[index] + 1
                continue
            if token.kind == "number":
                self._number(index)
            elif code.word(index, "true", "false"):
                self._replace("constant", index, index + 1, [(token, "false" if token.text == "true" else "true")])
            elif token.kind == "sign" and index not in code.match:
                self._sign(index, first, last)
            index += 1

    def _is_capture(self, index):
        return index == 0 or not (self.code.closes(index - 1) or self.tokens[index - 1].kind == "name")

    def _number(self, index):
        token = self.tokens[index]
        if found := INTEGER.fullmatch(token.text):
            value = int(found[1].replace("'", ""), 0) if not re.fullmatch("0[0-7]+", found[1]) else None
            if value is None:
                return
            for other in ([1] if value == 0 else [value + 1, value - 1]):
                self._replace("constant", index, index + 1, [(token, f"{other}{found[2]}")])
        elif found := DECIMAL.fullmatch(token.text):
            self._replace("constant", index, index + 1, [(token, f"({token.text} + 1)")])

    def _sign(self, index, first, last):
        code, token = self.code, self.tokens[index]
        if code.is_sign(index, "!") and not token.spaced:
            end = self._operand_of_prefix(index, last)
            self._add("negation", index, end, "condition", [(token.start, token.end, "")])
        elif token.text in STEPS:
            if index > first and (code.is_sign(index - 1, ")", "]") or self.tokens[index - 1].kind == "name"):
                begin, end = code.left_operand(index, first, 11), index + 1
            else:
                begin, end = index, self._operand_of_prefix(index, last)
            self._replace("arithmetic", begin, end, [(token, STEPS[token.text])])
        elif token.text == "?" and token.spaced:
            begin = code.left_operand(index, first, 1)
            self._condition(begin, index, "true", "false")
        elif token.text in ARITHMETIC and token.spaced:
            if self.tokens[index - 1].kind != "string" and self.tokens[index + 1].kind != "string":
                self._binary("arithmetic", index, first, last, ARITHMETIC[token.text])
        elif code.is_binary(index):
            if token.text in BOUNDARIES:
                self._binary("boundary", index, first, last, BOUNDARIES[token.text])
            if token.text in NEGATIONS:
                self._binary("relation", index, first, last, NEGATIONS[token.text])
            if token.text in CONNECTORS:
                self._binary("connector", index, first, last, CONNECTORS[token.text])

    def _operand_of_prefix(self, index, last):
        """Returns the token after the operand of a prefix operator."""
        code = self.code
        end = index + 1
        while end < last and not code.closes(end) and not code.is_binary(end) and not code.is_sign(end, ";", ":", ",", "?"):
            end = code.skip(end)
        return end

    def _binary(self, operator, index, first, last, other):
        token = self.tokens[index]
        strength = PRECEDENCE[token.text]
        begin = self.code.left_operand(index, first, strength)
        end = self.code.right_operand(index, last, strength)
        if token.text in ASSIGNMENTS:  # their operand is everything to the right
            end = self.code.find(index + 1, last, ",") or last
        if begin < index and end > index + 1:
            self._replace(operator, begin, end, [(token, other)])

    def _condition(self, first, last, *values):
        begin, end = self.tokens[first].start, self.tokens[last - 1].end
        if self._text(first, last) in ("true", "false"):
            return
        for value in values:
            self._add("condition", first, last, "condition", [(begin, end, value)])

    # --- Results ------------------------------------------------------------------------------------------------------

    def _text(self, first, last):
        return self.code.text[self.tokens[first].start:self.tokens[last - 1].end] if first < last else ""

    def _replace(self, operator, first, last, changes):
        self._add(operator, first, last, "expression", [(token.start, token.end, text) for token, text in changes])

    def _add(self, operator, first, last, form, edits):
        start, end = self.tokens[first].start, self.tokens[last - 1].end
        line = self.code.line(min(edits)[0])
        self.found.append(Mutant(self.file, line, operator, start, end, form, edits, also=list(self.also)))


def find_mutants(file, text):
    return Finder(file, text).mutants()
