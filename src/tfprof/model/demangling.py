"""Decodes names of C++ functions that a compiler mangled by the Itanium ABI: `_ZN2ns1fIiEEvPT_`.

Only what names of kernels consist of is known. A name with anything else stays as it is, and so
does one that would become too long: a few letters can stand for a text of any length.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tfprof.model.mangled_name import (
    ANONYMOUS,
    BUILTIN,
    BUILTIN_D,
    DIGITS,
    MOST_TEXT,
    OPERATORS,
    STD,
    SUFFIXES,
    MangledName,
    Pack,
    Type,
    UnknownError,
)

# What is appended to the name of a part or copy of a function, such as `.kd`.
_SUFFIX = re.compile(r"\.[A-Za-z_][A-Za-z0-9_]*(?:\.[0-9]+)*", re.ASCII)


def demangled(name: str) -> str:
    """The name as in the source, or the same name if it is not mangled or not understood."""
    if not name.startswith("_Z") or len(name) > MOST_TEXT:
        return name
    reader = _Reader(name)
    try:
        found = reader.encoding()
        suffix = name[reader.at :]
    except (UnknownError, IndexError):
        return name
    clones: list[str] = _SUFFIX.findall(suffix)
    if "".join(clones) != suffix:
        return name
    return "".join([found, *(f" [clone {clone}]" for clone in clones)])


class _Reader(MangledName):
    """The rules of the ABI."""

    # Functions and their names.

    def encoding(self, *, is_outer: bool = True, has_parameters: bool = True) -> str:
        """A function with its parameters, or a variable.

        What a function returns is left out unless it `is_outer`, as in other demanglers.
        """
        name, ends_in_arguments, qualifiers = self.whole_name()
        if self.at == len(self.name) or self.name[self.at] in "E.":
            return name
        returned = self.type() if ends_in_arguments else None
        parameters = self.parameters()
        text = f"{name}({parameters}){qualifiers}" if has_parameters else name
        if returned is None or not is_outer:
            return self.made(text)
        gap = "" if returned.after else " "
        return self.made(f"{returned.before}{gap}{text}{returned.after}")

    def parameters(self) -> str:
        """The types up to the end of the function."""
        found: list[str] = []
        while self.at < len(self.name) and self.name[self.at] not in "E.":
            found.append(self.type().text)
        return self.made("" if found == ["void"] else _listed(found))

    def whole_name(self) -> tuple[str, bool, str]:
        """The name of a function, whether it ends in arguments of a template, and `const`."""
        if self.starts("N"):
            return self.nested()
        if self.starts("Z"):
            return self.local()
        if self.starts("S") and not self.starts("St"):
            scope = self.substitution().text
        else:
            scope = f"{'std::' if self.skip('St') else ''}{self.unqualified()}"
            if self.starts("I"):
                self.remember(Type(scope))
        if not self.starts("I"):
            return scope, False, ""
        return self.made(f"{scope}{self.template_arguments()}"), True, ""

    def nested(self) -> tuple[str, bool, str]:
        self.require("N")
        qualifiers = "".join(
            [
                text
                for letter, text in (("r", " restrict"), ("V", " volatile"), ("K", " const"))
                if self.skip(letter)
            ]
        )
        qualifiers += " &" if self.skip("R") else " &&" if self.skip("O") else ""
        scope, ends_in_arguments, is_known = "", False, True
        while not self.skip("E"):
            if not is_known:
                self.remember(Type(scope))
            ends_in_arguments, is_known = False, False
            if self.starts("I") and scope:
                scope = f"{scope}{self.template_arguments()}"
                ends_in_arguments = True
            elif self.starts("S") and not self.starts("St"):
                scope, is_known = self.substitution().text, True
            elif self.skip("St"):
                scope, is_known = "std", True
            elif self.starts("T"):
                scope = self.template_parameter().text
            else:
                scope = f"{scope}{'::' if scope else ''}{self.unqualified()}"
            self.made(scope)
        return scope, ends_in_arguments, qualifiers

    def local(self) -> tuple[str, bool, str]:
        """A name inside a function."""
        self.require("Z")
        outer, self.arguments = self.arguments, []
        before = self.parameters_read
        with self.deeper():
            function = self.encoding(is_outer=False)
        self.parameters_read = before  # its parameters are its own
        self.require("E")
        if self.starts("s") or self.starts("d"):
            raise UnknownError
        inner, ends_in_arguments, qualifiers = self.whole_name()
        self.discriminator()
        self.arguments = outer or self.arguments
        return self.made(f"{function}::{inner}"), ends_in_arguments, qualifiers

    def discriminator(self) -> None:
        """Skip the number of a local name."""
        if self.skip("__"):
            self.number()
            self.require("_")
        elif self.skip("_"):
            self.number()

    def unqualified(self) -> str:
        """One part of a name, which is never a constructor: that is no kernel."""
        letter = self.name[self.at]
        if letter.isdigit():
            found = self.source_name()
        elif self.skip("Ul"):
            found = self.closure()
        elif self.skip("Ut"):
            found = f"{{unnamed type#{self.index() + 1}}}"
        elif self.skip("L"):
            found = self.unqualified()  # of a function that only this file has
        elif (operator := OPERATORS.get(self.name[self.at : self.at + 2])) is not None:
            self.at += 2
            found = f"operator{operator}"
        else:
            raise UnknownError
        while self.skip("B"):
            found = f"{found}[abi:{self.source_name()}]"
        return found

    def closure(self) -> str:
        outer, self.arguments = self.arguments, []  # those of the lambda are unknown
        parameters = self.parameters()
        self.arguments = outer
        self.require("E")
        return f"{{lambda({parameters})#{self.index() + 1}}}"

    def source_name(self) -> str:
        length = self.number()
        found = self.name[self.at : self.at + length]
        if len(found) < length or not length:
            raise UnknownError
        self.at += length
        return "(anonymous namespace)" if found.startswith(ANONYMOUS) else found

    # Arguments of templates.

    def template_arguments(self) -> str:
        """The arguments of a template, to which the types after them may refer."""
        self.require("I")
        found: list[str] = []
        while not self.skip("E"):
            self.add_argument(found)
        self.arguments = found
        text = ", ".join(filter(None, found))
        return self.made(f"<{text}{' ' if text.endswith('>') else ''}>")

    def add_argument(self, found: list[str]) -> None:
        outer = self.arguments
        if self.skip("J"):
            pack: list[str] = []
            while not self.skip("E"):
                self.add_argument(pack)
            found.append(Pack(self.made(_listed(pack))))
        elif self.starts("L"):
            found.append(self.literal())
        elif self.skip("X"):
            found.append(self.expression())
            self.require("E")
        elif self.skip("Tn"):
            self.arguments = found
            self.type()  # of the argument after it
        else:
            found.append(self.type().text)
        self.arguments = outer

    def literal(self) -> str:
        self.require("L")
        if self.skip("_Z"):
            return self.function_literal()
        letter = self.name[self.at]
        kind = self.type().text
        sign = "-" if self.skip("n") else ""
        if letter == "b" and self.name[self.at : self.at + 2] in ("0E", "1E"):
            self.at += 2
            return "true" if self.name[self.at - 2] == "1" else "false"
        end = self.name.index("E", self.at) if "E" in self.name[self.at : self.at + 24] else -1
        digits = self.name[self.at : max(end, 0)]
        if not (digits.isascii() and digits.isdigit()) or letter in "fde":
            raise UnknownError
        self.at = end + 1
        if letter in SUFFIXES:
            return f"{sign}{digits}{SUFFIXES[letter]}"
        return self.made(f"({kind}){sign}{digits}")

    def function_literal(self, *, has_parameters: bool = True) -> str:
        """A function that is an argument of a template."""
        outer, self.arguments = self.arguments, []
        with self.deeper():
            found = self.encoding(is_outer=False, has_parameters=has_parameters)
        self.arguments = outer
        self.require("E")
        return found

    def expression(self) -> str:
        """The few expressions that arguments of kernels have: a constant, or a function."""
        if self.starts("L"):
            found = self.literal()
        elif self.starts("T"):
            found = self.template_parameter().text
        elif self.skip("adL_Z"):
            found = f"&{self.function_literal(has_parameters=False)}"
        else:
            raise UnknownError
        return self.made(found)

    def template_parameter(self) -> Type:
        is_expanded = self.name[self.at - 2 : self.at] == "Dp"
        self.require("T")
        place = self.index()
        if place >= len(self.arguments):
            raise UnknownError
        found = self.arguments[place]
        if isinstance(found, Pack) and not is_expanded:
            raise UnknownError  # such as `T const&...`, which is not the same as `T...`
        self.parameters_read += 1
        return Type(found)

    # Types.

    def again(self, start: int) -> Type:
        """The type that begins there, with the arguments of this function."""
        at, was_repeated = self.at, self.is_repeated
        self.at, self.is_repeated = start, True
        found = self.type()
        self.at, self.is_repeated = at, was_repeated
        return found

    def type(self) -> Type:
        start, first, before = self.at, len(self.known), self.parameters_read
        self.made(" ")
        with self.deeper():
            found = self.unsettled_type()
        if not self.is_repeated:
            self.settle(first, start, has_parameters=self.parameters_read > before)
        return found

    def unsettled_type(self) -> Type:
        letter = self.name[self.at]
        rule = _RULES.get(letter)
        if rule is not None:
            return rule(self)
        if letter in BUILTIN:
            self.at += 1
            return Type(BUILTIN[letter])
        if letter.isdigit() or letter in "NZ":
            return self.class_type()
        raise UnknownError

    def class_type(self) -> Type:
        """A class or an enumeration; the arguments of its template are not those of the name."""
        outer = self.arguments
        if self.starts("N"):
            found, _, _ = self.nested()
        elif self.starts("Z"):
            found, _, _ = self.local()
        else:
            found = f"{'std::' if self.skip('St') else ''}{self.unqualified()}"
            if self.starts("I"):
                self.remember(Type(found))
                found = f"{found}{self.template_arguments()}"
        self.arguments = outer
        return self.remember(Type(found))

    def substitution(self) -> Type:
        two = self.name[self.at : self.at + 2]
        if two in STD:
            self.at += 2
            return Type(STD[two])
        self.require("S")
        place = self.index(len(DIGITS))
        if place >= len(self.known):
            raise UnknownError
        known = self.known[place]
        if known.arguments is None:
            return known.found
        self.parameters_read += 1
        if known.arguments is self.arguments:
            return known.found
        if known.start < 0:
            raise UnknownError
        return self.again(known.start)

    def substituted(self) -> Type:
        """A type that starts with a reference to what was there before."""
        if self.starts("St"):
            return self.class_type()
        found = self.substitution()
        if not self.starts("I"):
            return found
        outer = self.arguments
        text = f"{found.text}{self.template_arguments()}"
        self.arguments = outer
        return self.remember(Type(text))

    def parameter(self) -> Type:
        """A parameter of a template, or a type made from one."""
        found = self.remember(self.template_parameter())
        if not self.starts("I"):
            return found
        outer = self.arguments
        text = f"{found.text}{self.template_arguments()}"
        self.arguments = outer
        return self.remember(Type(text))

    def pointer(self) -> Type:
        mark = {"P": "*", "R": "&", "O": "&&"}[self.name[self.at]]
        self.at += 1
        inner = self.type()
        if mark != "*" and inner.before.endswith("&"):
            # A reference to a reference is `&&` only if both are.
            before = inner.before.rstrip("&")
            is_lasting = mark == "&" or inner.before == f"{before}&"
            return self.remember(Type(f"{before}{'&' if is_lasting else '&&'}", inner.after))
        if inner.after.startswith((" (", " [")):
            # In front of parameters: `void (*)(int)`.
            after = inner.after.removeprefix(" (")
            opening = "(" if after != inner.after else ""
            return self.remember(Type(f"{inner.before} ({mark}", f"){opening}{after}"))
        return self.remember(Type(f"{inner.before}{mark}", inner.after))

    def qualified(self) -> Type:
        words = [
            word
            for letter, word in (("r", "__restrict__"), ("V", "volatile"), ("K", "const"))
            if self.skip(letter)
        ]
        inner = self.type()
        return self.remember(Type(" ".join([inner.before, *reversed(words)]), inner.after))

    def function(self) -> Type:
        self.require("F")
        self.skip("Y")
        returned = self.type()
        parameters = self.parameters()
        self.require("E")
        return self.remember(Type(returned.before, f" ({parameters}){returned.after}"))

    def array(self) -> Type:
        self.require("A")
        size = "" if self.starts("_") else str(self.number())
        self.require("_")
        inner = self.type()
        after = inner.after.removeprefix(" ")
        return self.remember(Type(inner.before, f" [{size}]{after}"))

    def extended(self) -> Type:
        """A type whose code starts with a D."""
        two = self.name[self.at : self.at + 2]
        if two == "Dp":
            self.at += 2
            return self.remember(self.type())
        if self.skip("DF"):
            bits = self.number()
            found = "std::bfloat16_t" if self.skip("b") and bits == 16 else f"_Float{bits}"
            self.skip("_")
            return Type(found)
        if two not in BUILTIN_D:
            raise UnknownError
        self.at += 2
        return Type(BUILTIN_D[two])

    def vendor(self) -> Type:
        self.require("u")
        return self.remember(Type(self.source_name()))


_RULES: dict[str, Callable[[_Reader], Type]] = {
    "S": _Reader.substituted,
    "T": _Reader.parameter,
    **dict.fromkeys("PRO", _Reader.pointer),
    **dict.fromkeys("rVK", _Reader.qualified),
    "F": _Reader.function,
    "A": _Reader.array,
    "D": _Reader.extended,
    "u": _Reader.vendor,
}


def _listed(texts: list[str]) -> str:
    return ", ".join(filter(None, texts))
