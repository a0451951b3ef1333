"""From the cells of a notebook to source text: what a class needs, and nothing else.

A notebook holds much that is not the class: data, training, plots. What a class needs is found by
names, from its definition to the statements that bind the names in it, and so on.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.notebook import read_cell


@dataclass(frozen=True)
class Statement:
    """A statement at the top of a cell: its lines, the names it binds, and those it uses.

    `patches` are names of which it sets an attribute or an item.
    """

    text: str
    binds: frozenset[str]
    uses: frozenset[str]
    patches: frozenset[str]
    is_future: bool = False
    is_star: bool = False


def gather(cells: Sequence[str], names: Iterable[str]) -> str:
    """The source that defines these names, in the order in which it was run.

    Of a name that was bound again and again the last statement counts. A name that no cell binds
    is left to the builtins.
    """
    statements = [found for cell in cells for found in read_statements(cell)]
    last = {name: at for at, found in enumerate(statements) for name in found.binds}
    # Which names a star brings cannot be seen from here.
    wanted = {at for at, found in enumerate(statements) if found.is_star}
    left = [last[name] for name in names if name in last]
    left += sorted(wanted)
    seen: set[int] = set()
    while left:
        at = left.pop()
        if at in seen:
            continue
        seen.add(at)
        left += [last[name] for name in statements[at].uses if name in last]
        left += _patches_of(statements, statements[at].binds)
    futures = list(dict.fromkeys(s.text for s in statements if s.is_future))
    return _join(futures, [statements[at].text for at in sorted(seen)])


def _patches_of(statements: Sequence[Statement], bound: frozenset[str]) -> list[int]:
    return [at for at, found in enumerate(statements) if found.patches & bound]


def _join(futures: Sequence[str], texts: Sequence[str]) -> str:
    """Imports from the future first; a blank line between blocks."""
    lines = [*futures]
    for text in dict.fromkeys(texts):
        if text not in futures:
            is_block = "\n" in text
            lines += ["", "", text, ""] if is_block else [text]
    return "\n".join(lines).strip("\n") + "\n"


def classes_of(cell: str) -> list[str]:
    """The classes that a cell defines, in order."""
    tree = _parse(read_cell(cell))
    return [] if tree is None else [n.name for n in tree.body if isinstance(n, ast.ClassDef)]


def read_statements(cell: str) -> Iterator[Statement]:
    """The statements of a cell; none where it is no Python."""
    source = read_cell(cell)
    tree = _parse(source)
    lines = source.split("\n")
    for node in tree.body if tree else ():
        decorated = [one.lineno for one in getattr(node, "decorator_list", [])]
        first = min([node.lineno, *decorated])
        yield _read(node, "\n".join(lines[first - 1 : node.end_lineno]))


def _parse(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            # What is odd about a string was said when the cell was run.
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _read(node: ast.stmt, text: str) -> Statement:
    stars = isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
    binds, uses = _names(text)
    return Statement(
        text,
        binds,
        uses,
        patches=frozenset(_patched(node)),
        is_future=isinstance(node, ast.ImportFrom) and node.module == "__future__",
        is_star=stars,
    )


def _names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """(bound, used) in the notebook; names that a function keeps to itself are neither."""
    try:
        top = symtable.symtable(text, "<cell>", "exec")
    except (SyntaxError, ValueError):
        # Parsed, and yet nothing that could have run.
        return frozenset(), frozenset()
    symbols = top.get_symbols()
    bound = (one.get_name() for one in symbols if one.is_assigned() or one.is_imported())
    used = (one.get_name() for one in symbols if one.is_referenced())
    return frozenset(bound), frozenset([*used, *_used_inside(top)])


def _used_inside(table: symtable.SymbolTable) -> Iterator[str]:
    for child in table.get_children():
        yield from (s.get_name() for s in child.get_symbols() if s.is_global())
        yield from _used_inside(child)


def _patched(node: ast.stmt) -> Iterator[str]:
    """Names of which this statement sets a part: `Attention.forward = forward`."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets:
        root: ast.AST | None = target
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if root is not target and isinstance(root, ast.Name):
            yield root.id
