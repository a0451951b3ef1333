"""The statements of a file, as text without comments: what rules look into and lines point at.

The file is only parsed, never run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LARGEST = 100_000
Functions = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = ("body", "orelse", "finalbody", "handlers")


@dataclass(frozen=True)
class Statement:
    """One statement: the function it stands in, "" outside of any, its first line, its text."""

    function: str
    line: int
    text: str

    @property
    def said(self) -> str:
        """What patterns are tried on: `forward> scores = q @ k.mT`."""
        return f"{self.function}> {self.text}"


def read_statements(source: str) -> tuple[Statement, ...]:
    """Every statement in order, of compound ones the head; () if the file cannot be read."""
    try:
        return tuple(_within(parse(source).body, ""))
    except (ValueError, RecursionError, MemoryError):
        return ()


def parse(source: str) -> ast.Module:
    """The tree of a file; an empty one if it cannot be read."""
    try:
        return ast.parse(source if len(source) <= LARGEST else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def find_line(statements: Sequence[Statement], pattern: str, is_last: bool = False) -> int | None:
    """The line of the first statement of which the pattern holds, or of the last."""
    wanted = re.compile(pattern)
    found = [one.line for one in statements if wanted.search(one.said)]
    return found[-1 if is_last else 0] if found else None


def _within(nodes: Sequence[ast.AST], function: str) -> Iterator[Statement]:
    for node in nodes:
        if not isinstance(node, (ast.stmt, ast.excepthandler)):
            continue
        text = _head(node)
        if text:
            yield Statement(function, node.lineno, text)
        inner = node.name if isinstance(node, Functions) else function
        for block in BLOCKS:
            yield from _within(getattr(node, block, []), inner)


def _head(node: ast.AST) -> str:
    if isinstance(node, Functions):
        above = "".join(f"@{ast.unparse(decorator)} " for decorator in node.decorator_list)
        return f"{above}def {node.name}({ast.unparse(node.args)})"
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}({', '.join(map(ast.unparse, node.bases))})"
    if isinstance(node, (ast.If, ast.While)):
        return f"if {ast.unparse(node.test)}"
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return f"with {', '.join(ast.unparse(item) for item in node.items)}"
    if isinstance(node, (ast.Try, ast.excepthandler)):
        return ""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return "" if is_text else ast.unparse(node)
