"""Whether an exception is a file's own no to a kind of mask, or a branch for that kind that breaks.

A file need not take floats, but what it has a branch for it has to get right.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence

from grader.mistakes.statements import parse
from grader.model import Fault

# What Python and torch say of a dtype for which nothing was done.
OF_DTYPE = re.compile(
    r"dtype|\b[Bb]ool|\b[Ff]loat|Double|integer|not implemented for|bitwise|local variable"
)
# Other ways to raise.
REFUSAL = re.compile(r"(\w+\.)*_?(assert|check|fail|raise)\w*\(", re.IGNORECASE)
EQUAL = (ast.Eq, ast.Is, ast.In)
# A test for one float dtype says nothing of the others.
WORDS = {
    "bool": r"\bbool\b",
    "float": r"\b(float64|double)\b|\.dtype\b",
    "float32": r"\bfloat(32)?\b|\.dtype\b",
}


def refuses(source: str, fault: Fault | None, dtype: str, names: Collection[str] = ()) -> bool:
    """True where the file itself, or torch for lack of a branch, says no to masks of a dtype.

    `names` are the arguments whose dtypes the file asks for: where there are none, and for what is
    no matter of dtypes, a branch is taken for granted.
    """
    if fault is None:
        return False
    nodes = list(ast.walk(parse(source)))
    if fault.line is None or any(_says_no(node, fault.line) for node in nodes):
        return True
    if not names or not OF_DTYPE.search(fault.text):
        return False
    return not any(_has_branch(node, dtype, names) for node in nodes)


def names_outright(source: str, dtype: str, names: Collection[str]) -> bool:
    """True where a test names this dtype: what is no bool may be meant to be an integer."""
    wanted = re.compile(r"\bbool\b" if dtype == "bool" else r"float|half|double")
    tests = [one.test for one in ast.walk(parse(source)) if isinstance(one, (ast.If, ast.IfExp))]
    parts = [part for test in tests for part in ast.walk(test) if _is_asked(part, names)]
    return any(wanted.search(ast.unparse(part)) for part in parts)


def _says_no(node: ast.AST, line: int) -> bool:
    if not isinstance(node, ast.stmt) or not node.lineno <= line <= (node.end_lineno or 0):
        return False
    if isinstance(node, ast.Expr):
        return REFUSAL.match(ast.unparse(node)) is not None
    return isinstance(node, (ast.Raise, ast.Assert))


def _has_branch(node: ast.AST, dtype: str, names: Collection[str]) -> bool:
    """True for a condition of which one side is for masks of this dtype, and does something."""
    if not isinstance(node, (ast.If, ast.IfExp)):
        return False
    holds = _holds(node.test, dtype, names)
    if holds is None:
        return False
    taken, other = (node.body, node.orelse) if holds else (node.orelse, node.body)
    if isinstance(taken, ast.expr):
        return not isinstance(taken, ast.Name)
    return _does_something(taken) or isinstance(_last(other), ast.Return)


def _does_something(block: object) -> bool:
    return isinstance(block, list) and any(not isinstance(one, ast.Pass) for one in block)


def _last(block: object) -> ast.AST | None:
    return block[-1] if isinstance(block, list) and block else None


def _holds(test: ast.expr, dtype: str, names: Collection[str]) -> bool | None:
    """Whether a test is true of masks of this dtype; None where that hangs on something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _holds(test.operand, dtype, names)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        return _joined([_holds(one, dtype, names) for one in test.values], test.op)
    if not _is_asked(test, names):
        return None
    if isinstance(test, ast.Call):
        return dtype != "bool"
    assert isinstance(test, ast.Compare)
    said = ast.unparse(test.comparators[0])
    if not re.search(f"{WORDS[dtype]}|{WORDS['bool']}", said):
        return None
    return (re.search(WORDS[dtype], said) is not None) == isinstance(test.ops[0], EQUAL)


def _joined(known: Sequence[bool | None], operator: ast.boolop) -> bool | None:
    """Of what is not about dtypes nothing is held against either side."""
    said = [one for one in known if one is not None]
    if not said:
        return None
    return all(said) if isinstance(operator, ast.And) else any(said)


def _is_asked(test: ast.AST, names: Collection[str]) -> bool:
    """True for `m.dtype == ...`, `m.is_floating_point()` and `torch.is_floating_point(m)`."""
    if isinstance(test, ast.Compare):
        left = test.left
        return (
            isinstance(left, ast.Attribute) and left.attr == "dtype" and _is_one(left.value, names)
        )
    if not isinstance(test, ast.Call) or not ast.unparse(test.func).endswith("is_floating_point"):
        return False
    asked = test.args[0] if test.args else getattr(test.func, "value", None)
    return asked is not None and _is_one(asked, names)


def _is_one(node: ast.AST, names: Collection[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names
