"""The import of torch, a quarter shorter; what comes of it is the same torch.

What is left out is the kernels for tensors without values, `device="meta"`, that are written in
Python. Whatever wants them imports them like any other module: `imports.LATE` has the words of a
source that say so, and whatever more of torch a source imports brings them along.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

META_KERNELS = "torch._meta_registrations"


def import_torch() -> ModuleType:
    """torch, without its kernels for tensors that have no values."""
    with _modules_by_name(), _left_out(META_KERNELS):
        import torch
    _let_generators_be_made(torch)
    sys.meta_path.insert(0, _KernelsFirst())
    return torch


class _Placeholder:
    """Finds an empty module for one name, which becomes the real one if anything is read of it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name == self.name else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        def load(attribute: str) -> Any:
            # Whoever walks over all modules asks for these, and is content without.
            if attribute.startswith("__"):
                raise AttributeError(attribute)
            self.take_away()
            return getattr(importlib.import_module(self.name), attribute)

        vars(module)["__getattr__"] = load

    def take_away(self) -> None:
        """Leave no trace of the empty module, so that the next import finds the real one."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            module = sys.modules.pop(self.name, None)
            above, _, name = self.name.rpartition(".")
            package = vars(sys.modules.get(above, self))
            if module is not None and package.get(name) is module:
                del package[name]


class _KernelsFirst:
    """Whatever more of torch is imported, the kernels come before it.

    They and much of the rest import each other, which goes well in the order of a whole import.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith("torch."):
            return None
        sys.meta_path.remove(self)
        if name == META_KERNELS:
            return None
        importlib.import_module(META_KERNELS)
        module = sys.modules.get(name)
        if module is None:
            return None
        # Imported along with them, it must not be run once more: where a module has come by the
        # time that it is found, Python goes by the module's own specification.
        self.own = module.__spec__
        module.__spec__ = ModuleSpec(name, self)  # type: ignore[arg-type]
        return module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it has been run."""
        module.__spec__ = self.own


@contextlib.contextmanager
def _left_out(name: str) -> Iterator[None]:
    """Meanwhile, an import of this module imports nothing."""
    placeholder = _Placeholder(name)
    sys.meta_path.insert(0, placeholder)
    try:
        yield
    finally:
        placeholder.take_away()


@contextlib.contextmanager
def _modules_by_name() -> Iterator[None]:
    """Let `inspect` find the module of a frame by the name in it.

    Where torch registers its operators it asks for that of each caller, and to find it by file the
    real paths of all modules are worked out first: a thirtieth of the whole import.
    """
    by_file = inspect.getmodule

    def find(thing: Any, filename: str | None = None) -> Any:
        if inspect.isframe(thing):
            return sys.modules.get(thing.f_globals.get("__name__", ""))
        return by_file(thing, filename)

    inspect.getmodule = find  # type: ignore[assignment]  # it is asked in one way only
    try:
        yield
    finally:
        inspect.getmodule = by_file


def _let_generators_be_made(torch: Any) -> None:
    """Do what torch 2.13 and later do among those kernels: no `torch.Generator` without it."""
    set_metaclass = getattr(torch._C, "_set_generator_metaclass", None)
    if set_metaclass is not None and META_KERNELS not in sys.modules:
        from torch._opaque_base import OpaqueBaseMeta

        set_metaclass(OpaqueBaseMeta)
