"""Disguises a file as a hurried copyist would: other names, comments and order, the same code."""

from __future__ import annotations

import ast
import random

# Called by torch or by the grader under these names.
FIXED = {"__init__", "__new__", "__call__", "forward", "self"}


class Renaming(ast.NodeTransformer):
    """Every name that the file itself makes, replaced by a drawn one."""

    def __init__(self, tree: ast.Module, rng: random.Random) -> None:
        self.rng = rng
        made = [name for node in ast.walk(tree) for name in _made(node)]
        self.names = {
            name: f"{rng.choice('abcdefgh')}_{rng.randrange(10**6)}"
            for name in sorted({*made} - FIXED)
        }

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """A variable."""
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """An argument, its annotation gone."""
        node.arg = self.names.get(node.arg, node.arg)
        node.annotation = None
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        """An attribute, if it is one that the file makes."""
        self.generic_visit(node)
        node.attr = self.names.get(node.attr, node.attr)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """A function."""
        self.generic_visit(node)
        node.name = self.names.get(node.name, node.name)
        node.returns = None
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Methods in another order too."""
        self.generic_visit(node)
        node.name = self.names.get(node.name, node.name)
        self.rng.shuffle(node.body)
        return node


def disguise(source: str, rng: random.Random) -> str:
    """The same program under other names, with its methods shuffled and comments put in."""
    tree = ast.parse(source)
    text = ast.unparse(ast.fix_missing_locations(Renaming(tree, rng).visit(tree)))
    lines = []
    for line in text.splitlines():
        if rng.random() < 0.2:
            lines.append(f"{line[: len(line) - len(line.lstrip())]}# step {rng.randrange(100)}")
        lines.append(line)
    return "\n".join(lines) + "\n"


def _made(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return [node.attr]
    return []
