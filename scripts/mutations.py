"""Mutations: small changes of a Python file that a test should notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.FloorDiv: "*",
    ast.Div: "*",
    ast.Mod: "+",
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """A part of a file, by its offsets in characters, and what takes its place."""

    line: int
    start: int
    end: int
    old: str
    new: str

    def applied(self, source: str) -> str:
        return source[: self.start] + self.new + source[self.end :]

    def __str__(self) -> str:
        return f"{_short(self.old)} -> {_short(self.new)}"


def mutations(source: str) -> list[Mutation]:
    """All mutations of a file, in the order of its lines."""
    tree = ast.parse(source)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    ignored = _ignored(tree)
    found = []
    for node in ast.walk(tree):
        if node in ignored:
            continue
        for part, new in _replacements(node):
            start = starts[part.lineno - 1] + _column(source, starts, part.lineno, part.col_offset)
            end = starts[part.end_lineno - 1] + _column(
                source, starts, part.end_lineno, part.end_col_offset
            )
            found.append(Mutation(part.lineno, start, end, source[start:end], new))
    return sorted(found, key=lambda one: (one.start, one.end, one.new))


def _column(source: str, starts: Sequence[int], line: int, offset: int) -> int:
    """The column in characters; `ast` counts bytes."""
    text = source[starts[line - 1] : starts[line]]
    return len(text.encode()[:offset].decode())


def _ignored(tree: ast.Module) -> set[ast.AST]:
    """What no test can notice: annotations, imports for types, assertions."""
    roots: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation:
            roots.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            roots += [node.returns] if node.returns else []
        elif isinstance(node, ast.Assert) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        ):
            roots.append(node)
    return {deeper for root in roots for deeper in ast.walk(root)}


def _replacements(  # noqa: C901 -- a table
    node: ast.AST,
) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            yield node, f"{_text(left)} {_COMPARISONS[type(op)]} {_text(right)}"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            if not _is_text(left) and not _is_text(right):
                yield node, f"{_text(left)} {_OPERATORS[type(op)]} {_text(right)}"
        case ast.BoolOp(op=op, values=values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield node, f"({word.join(_text(value) for value in values)})"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield test, f"not {_text(test)}"
        case ast.Constant(value=bool(value)):
            yield node, str(not value)
        case ast.Constant(value=int(value)) if abs(value) < 1 << 40:
            yield node, str(value + 1)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield value, "None"
        case ast.Expr(value=ast.Call()):
            yield node, "pass"
        case ast.AugAssign(target=target, op=ast.Add(), value=value):
            yield node, f"{ast.unparse(target)} -= {ast.unparse(value)}"


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 60 else f"{words[:57]}..."
