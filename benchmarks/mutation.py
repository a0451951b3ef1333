"""Makes mutants of a source text: each is the text with one small thing changed.

A change is a span of the text and what takes its place, so that a mutant differs from its original
in that one place, comments and all. Annotations, docstrings and what an exception says are left
alone, as are functions that nothing names and the block under `__name__`: no grader could see them
change. So are defaults, since no task asks for one.
"""

from __future__ import annotations

import ast
import random
import warnings
from collections.abc import Iterator
from typing import NamedTuple

OPERATORS = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
COMPARISONS = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq, ast.Gt),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
AXES = (-3, -2, -1, 0, 1, 2, 3)
DROPPABLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Raise)
# Fields of nodes in which a change does not show, or breaks no promise.
UNSEEN = ("annotation", "returns", "decorator_list", "defaults", "kw_defaults", "exc", "msg")
# In either order the same.
SYMMETRIC = ("transpose", "swapaxes", "swapdims")
COMPOUND = (ast.BinOp, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.IfExp, ast.Lambda)


class Mutant(NamedTuple):
    """One mutant: its kind of change, the line before and after, and the whole source."""

    kind: str
    before: str
    after: str
    source: str

    @property
    def key(self) -> str:
        """What it is called in a list; no line numbers, so that it outlives edits elsewhere."""
        return f"{self.kind}: {self.before} => {self.after}"


class Change(NamedTuple):
    """A node of the tree, and the node that takes its place."""

    kind: str
    old: ast.expr | ast.stmt
    new: ast.expr | ast.stmt


def mutate(source: str, order: random.Random) -> Iterator[Mutant]:
    """Every mutant that compiles, in random order, those that read the same left out."""
    tree = ast.parse(source)
    seen = {ast.dump(tree)}
    found = list(changes(tree))
    for change in order.sample(found, len(found)):
        mutant = apply(source, change)
        try:
            read = ast.dump(ast.parse(mutant.source))
            with warnings.catch_warnings():
                # Of things that are odd, as mutants are.
                warnings.simplefilter("ignore")
                compile(mutant.source, "mutant.py", "exec")
        except (SyntaxError, ValueError):
            continue
        if read not in seen:
            seen.add(read)
            yield mutant


def apply(source: str, change: Change) -> Mutant:
    """The source with the old node's span replaced; columns of the tree count bytes."""
    lines = source.encode().splitlines(keepends=True)
    old = change.old
    first, last = old.lineno - 1, (old.end_lineno or old.lineno) - 1
    text = ast.unparse(change.new)
    if isinstance(change.new, COMPOUND):
        text = f"({text})"
    head, tail = lines[first][: old.col_offset], lines[last][old.end_col_offset :]
    changed = head + text.encode() + tail
    before = b"".join(lines[first : last + 1])
    whole = b"".join([*lines[:first], changed, *lines[last + 1 :]]).decode()
    return Mutant(change.kind, _plain(before), _plain(changed), whole)


def _plain(line: bytes) -> str:
    """Code on one line, without its comment."""
    return " ".join(line.decode().split("  #")[0].split())


def changes(tree: ast.Module) -> Iterator[Change]:
    """Every change to the code of a module that could show."""
    attributes = attributes_alike(tree)
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    unused = [node for node in tree.body if getattr(node, "name", None) not in named]
    for scope in ast.walk(tree):
        if isinstance(scope, ast.FunctionDef) and scope not in unused:
            names = names_bound(scope)
            for node in visible_nodes(scope):
                if isinstance(node, ast.expr):
                    yield from expression_changes(node)
                    yield from exchanges(node, names, attributes)
                elif isinstance(node, ast.stmt):
                    yield from statement_changes(node)


def visible_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Nodes below a function without annotations, docstrings, raised texts and inner functions."""
    for name, value in ast.iter_fields(scope):
        if name in UNSEEN:
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.FunctionDef | ast.JoinedStr):
                continue
            text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not text:
                yield node
                # The number of an axis is changed as a whole, with its sign.
                if not is_negative_number(node):
                    yield from visible_nodes(node)


def is_negative_number(node: ast.AST) -> bool:
    """True for -1 and its like, which Python reads as an operation."""
    minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    return minus and isinstance(node.operand, ast.Constant)


def expression_changes(node: ast.expr) -> Iterator[Change]:
    """Another operator, comparison, number or truth value; a call or a negation dropped."""
    if isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), ()):
            yield Change("operator", node, ast.BinOp(node.left, operator(), node.right))
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for comparison in COMPARISONS.get(type(node.ops[0]), ()):
            new = ast.Compare(node.left, [comparison()], node.comparators)
            yield Change("comparison", node, new)
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield Change("condition", node, ast.BoolOp(other, node.values))
    elif isinstance(node, ast.IfExp):
        yield Change("condition", node, ast.IfExp(node.test, node.orelse, node.body))
    elif isinstance(node, ast.Call):
        yield from call_changes(node)
    elif is_negative_number(node):
        yield from numbers(node, ast.literal_eval(node))
    elif isinstance(node, ast.UnaryOp):
        yield Change("negation", node, node.operand)
    elif isinstance(node, ast.Constant):
        yield from numbers(node, node.value)


def numbers(node: ast.expr, value: object) -> Iterator[Change]:
    """Other values near this one; small whole numbers may be axes."""
    if isinstance(value, bool):
        yield Change("truth", node, ast.Constant(not value))
    elif isinstance(value, int):
        near = AXES if value in AXES else (value - 1, value + 1)
        for other in near:
            if other != value and abs(other - value) <= 3:
                yield Change("number", node, ast.Constant(other))
    elif isinstance(value, float):
        for changed in (0.0, 1.0, value * 2, -value, value + 0.01):
            if changed != value:
                yield Change("number", node, ast.parse(repr(changed), mode="eval").body)


def call_changes(node: ast.Call) -> Iterator[Change]:
    """A call dropped, two of its arguments exchanged, or a named one left out."""
    if isinstance(node.func, ast.Attribute) and not is_module(node.func.value):
        yield Change("dropped call", node, node.func.value)
    if node.args and not isinstance(node.args[0], ast.Starred):
        yield Change("dropped call", node, node.args[0])
    symmetric = getattr(node.func, "attr", "") in SYMMETRIC and len(node.args) == 2
    for at in range(0 if symmetric else len(node.args) - 1):
        args = [*node.args[:at], node.args[at + 1], node.args[at], *node.args[at + 2 :]]
        yield Change("exchanged arguments", node, ast.Call(node.func, args, node.keywords))
    for keyword in node.keywords:
        kept = [one for one in node.keywords if one is not keyword]
        yield Change("dropped argument", node, ast.Call(node.func, node.args, kept))


def is_module(node: ast.expr) -> bool:
    """True for the names under which torch and its parts are known."""
    return isinstance(node, ast.Name) and node.id in ("torch", "nn", "F", "math", "np")


def statement_changes(node: ast.stmt) -> Iterator[Change]:
    """A statement dropped, a condition turned round or made constant."""
    if isinstance(node, DROPPABLE):
        yield Change("dropped statement", node, ast.Pass())
    if isinstance(node, ast.If):
        for test in (ast.UnaryOp(ast.Not(), node.test), ast.Constant(True), ast.Constant(False)):
            yield Change("condition", node.test, test)
    elif isinstance(node, ast.AugAssign):
        for operator in OPERATORS.get(type(node.op), ()):
            yield Change("operator", node, ast.AugAssign(node.target, operator(), node.value))


def exchanges(
    node: ast.expr, names: dict[str, int], attributes: dict[str, set[str]]
) -> Iterator[Change]:
    """Another variable that has a value by then, or another attribute made in the same way."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        for other, line in sorted(names.items()):
            if other != node.id and line < node.lineno:
                yield Change("exchanged names", node, ast.Name(other, ast.Load()))
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        for other in sorted(attributes.get(node.attr, set()) - {node.attr}):
            new = ast.Attribute(node.value, other, ast.Load())
            yield Change("exchanged attributes", node, new)


def names_bound(scope: ast.FunctionDef) -> dict[str, int]:
    """Arguments but `self`, and what is assigned in this function: name -> first line."""
    bound = {argument.arg: 0 for argument in scope.args.args if argument.arg != "self"}
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = min(node.lineno, bound.get(node.id, node.lineno))
    return bound


def attributes_alike(tree: ast.Module) -> dict[str, set[str]]:
    """Attribute name -> the names of those assigned from the same kind of expression."""
    kinds: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            value = node.value
            kind = ast.dump(value.func) if isinstance(value, ast.Call) else "plain"
            kinds.setdefault(kind, set()).add(node.targets[0].attr)
    return {name: group for group in kinds.values() for name in group}
