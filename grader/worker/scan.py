"""Words in a source that a person may want to look at: ways round what is counted or checked.

Parsed in the sealed worker, before anything of it runs: a source may bring a parser down. Nothing
is concluded from what is found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

# Names as they are written, from the first on; what lies below them counts too.
WORDS = {
    *("ctypes", "cffi", "gc", "inspect", "sys._getframe", "sys.modules", "sys.meta_path"),
    *("importlib", "__import__", "builtins", "eval", "exec", "compile", "globals"),
    *("torch._C", "torch.ops", "torch.library", "torch._ops", "torch._dynamo", "torch.overrides"),
    *("torch.utils._python_dispatch", "__torch_function__", "__torch_dispatch__", "__code__"),
    *("marshal", "pickle", "os._exit", "os.write", "__subclasses__", "__globals__", "__closure__"),
    *("sys.settrace", "sys.setprofile", "sys.monitoring", "sys._current_frames", "mha_worker"),
}
# The same wherever they stand: ways from a frame to those around it, which are not the file's.
ATTRIBUTES = {"f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame", "cr_frame"}
# A method may be called eval; these are the same wherever they stand.
ANYWHERE = ATTRIBUTES | {word for word in WORDS if word.startswith("__")}
# What the text of a file has to hold if any of them is in it.
SAID = re.compile(
    rf"\b(?:{'|'.join(sorted(word.rpartition('.')[2] for word in WORDS | ATTRIBUTES))})\b"
)
MAX_FOUND = 20


def find_flags(source: str) -> list[tuple[str, int]]:
    """(word, line) of each word to look at, at most one line for a word; [] for what is no Python.

    Names given in an import count under their whole name.
    """
    # A name may be written with other letters that Python takes for these.
    if source.isascii() and not SAID.search(source):
        return []
    try:
        tree = ast.parse(source)
        found: dict[str, int] = {}
        for name, line in _names(tree):
            for word in _words_in(name):
                found.setdefault(word, line)
    except Exception:
        return []
    return sorted(found.items(), key=lambda pair: (pair[1], pair[0]))[:MAX_FOUND]


def _words_in(name: str) -> set[str]:
    parts = name.split(".")
    starts = {".".join(parts[: size + 1]) for size in range(len(parts))}
    return starts & (WORDS | ATTRIBUTES) | {parts[-1]} & ANYWHERE


def _names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, (ast.Attribute, ast.Name)):
            yield _dotted(node), node.lineno
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno


def _dotted(node: ast.AST) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(parts))
