"""Helper modules of a course: their sources came over the pipe, and no file of them is opened.

They run in the sealed worker, as part of what imports them.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from types import CodeType


class Helpers(InspectLoader):
    """Sources by module name, and what imports them."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources

    def find(self, name: str) -> ModuleSpec | None:
        """How to import it; None for what is no helper."""
        if name not in self._sources:
            return None
        # Tracebacks and `inspect` look for the text there; there is no file to read it from.
        source, place = self._sources[name], self._place(name)
        linecache.cache[place] = (len(source), None, source.splitlines(True), place)
        spec = ModuleSpec(name, self, origin=place)
        spec.has_location = True
        return spec

    def get_source(self, fullname: str) -> str:
        """The text of a helper."""
        return self._sources[fullname]

    def get_code(self, fullname: str) -> CodeType:
        """The helper compiled; its lines bear its own name, never that of the graded file."""
        source, place = self._sources[fullname], self._place(fullname)
        code: CodeType = compile(source, place, "exec", dont_inherit=True)
        return code

    def is_package(self, fullname: str) -> bool:
        """A helper is a single file."""
        return False

    def _place(self, name: str) -> str:
        # A graded file has no folder before its name.
        return f"helpers/{name}.py"
