"""What a sealed worker can import: what was imported before it was sealed.

The source is searched for the names that it imports, as text, and these are imported first. What
is asked for later and is not there is noted: the grader then begins again with a fresh worker that
imports it in time. Nothing of the candidate's runs while files can be opened.
"""

from __future__ import annotations

import importlib
import re
import sys
import unicodedata  # noqa: F401  Python's parser imports it where a name is not ASCII
from collections.abc import Iterable, Sequence
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec
from types import ModuleType
from typing import Any

from .helpers import Helpers
from .torch_import import META_KERNELS

STATEMENT = re.compile(r"^[ \t;]*(?:from|import)[ \t]+([\w. \t,]+)", re.MULTILINE)
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
MAX_NAMES = 400
# What torch is made of, or imports itself when it comes to it.
TORCH = {
    *("torch", "functorch", "torchgen", "sympy", "mpmath", "networkx", "jinja2", "markupsafe"),
    *("filelock", "fsspec", "typing_extensions", "opt_einsum", "packaging"),
}
COMMENT = re.compile(r"#.*")
# Words of a source that say what will be imported when it comes to them. Some of these imports take
# a second: what is only spoken of, or part of a longer name, is no such word.
LATE = {
    "assert_close": "torch.distributed.tensor",
    "checkpoint": "torch._dynamo",
    "einops": "einops._torch_specific",
    "meta": META_KERNELS,
    "skip_init": META_KERNELS,
    "matplotlib": "matplotlib.backends.backend_agg",
    "vmap": "torch._functorch.predispatch",
    "functorch": "torch._functorch.predispatch",
    "torch.func": "torch._functorch.predispatch",
}
# Their import does something: opens a browser, prints, starts programs or runs tests.
NEVER = re.compile(
    r"(antigravity|this|__phello__|test|idlelib|turtledemo|lib2to3|ensurepip|venv|pip|grader)(\.|$)"
    r"|torch\.(testing\._internal|distributed(?!\.tensor$)|utils\.(benchmark|bottleneck))(\.|$)"
    r"|torch\._inductor(?!(\.compiler_bisector|\.config)?$)(\.|$)"
    r"|(.*\.)?__main__(\.|$)"
)


def named_in(source: str) -> list[str]:
    """The modules that a source names in its import statements, or will need by its words."""
    found = {
        name.strip().split(" ")[0]
        for statement in STATEMENT.finditer(source)
        for name in statement[1].split(" import ")[0].split(",")
    }
    code = COMMENT.sub("", source)
    found |= {module for word, module in LATE.items() if _is_said(word, code)}
    return sorted(filter(NAME.fullmatch, found))[:MAX_NAMES]


def _is_said(word: str, code: str) -> bool:
    return word in code and re.search(rf"\b{re.escape(word)}\b", code) is not None


def may_import(name: str, packages: Sequence[str]) -> bool:
    """True for a module of the standard library, of torch, or of one of `packages`."""
    first = name.partition(".")[0]
    known = first in sys.stdlib_module_names or first in TORCH or first in packages
    return known and NAME.fullmatch(name) is not None and NEVER.match(name) is None


def preload(names: Iterable[str], packages: Sequence[str]) -> list[str]:
    """Import what may be imported; returns the names tried, whether or not there is such a module.

    Names of what a module defines, rather than of modules, are tried too and do no harm.
    """
    tried = [name for name in names if may_import(name, packages)]
    for name in tried:
        try:
            importlib.import_module(name)
        except Exception:
            # Said again, to the candidate, when their own line asks for it.
            continue
    return tried


class Shelf:
    """The last place where a closed book looks for a module: notes what was wanted, finds nothing.

    Put in place of all that would open files, whose errors would say something else each time.
    """

    def __init__(self) -> None:
        self._wanted: set[str] = set()
        self._tried: set[str] = set()
        self._packages: Sequence[str] = ()
        self._helpers = Helpers({})

    def close(self, tried: Iterable[str], packages: Sequence[str], helpers: Helpers) -> None:
        """From now on: what was imported before, what is part of the interpreter, and helpers."""
        self._tried, self._packages, self._helpers = set(tried), packages, helpers
        sys.meta_path[:] = [BuiltinImporter, FrozenImporter, self]

    def find_spec(
        self, name: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A helper of the course; else None: not on the shelf."""
        helper = self._helpers.find(name)
        if helper is not None:
            return helper
        if name not in self._tried and may_import(name, self._packages):
            self._wanted.add(name)
        return None

    def take_wanted(self) -> list[str]:
        """What was wanted since the last time."""
        names, self._wanted = sorted(self._wanted), set()
        return names[:MAX_NAMES]
