"""Arguments that no signature shows: those that a constructor takes out of **kwargs or *args."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from grader.model import Argument, CandidateClass

CONSTRUCTOR = re.compile(r"def __init__\(([^()]*)\)")
LOOKED_UP = (
    r"""\b{name}(?:\[|\.(?:get|pop)\()\s*["'](\w+)["']\s*(?:,\s*([^,()\[\]]{{1,80}}?)\s*)?[\])]"""
)
UNPACKED = r"\b(\w+(?:\s*,\s*\w+){{1,7}})\s*=\s*{name}\b"
POSITIONAL = "positional_only"
# Far more than anyone takes.
MAX_HIDDEN = 16


def reveal(cls: CandidateClass, source: str) -> CandidateClass:
    """The class with what its constructor looks up in its variable arguments made plain."""
    below = "\n".join(source.split("\n")[max(cls.line - 1, 0) :])
    found = CONSTRUCTOR.search(below)
    if found is None or "*" not in found[1]:
        return cls
    shown = [a for a in cls.constructor if not a.kind.startswith("var")]
    known = {a.name for a in shown}
    extra = {a.name: a for a in _hidden(found[1], below) if a.name not in known}
    if any(a.kind == POSITIONAL for a in extra.values()):
        # What comes before them has to come by position as well.
        shown = [replace(a, kind=POSITIONAL) for a in shown]
    return replace(cls, constructor=(*shown, *list(extra.values())[:MAX_HIDDEN]))


def _hidden(signature: str, body: str) -> Iterator[Argument]:
    for stars, name in re.findall(r"(\*\*?)(\w+)", signature):
        if stars == "*":
            unpacked = re.search(UNPACKED.format(name=name), body)
            names = re.findall(r"\w+", unpacked[1]) if unpacked else []
            yield from (Argument(one, POSITIONAL, True) for one in names)
        else:
            for key, default in re.findall(LOOKED_UP.format(name=name), body):
                yield Argument(key, "keyword_only", not default, default)
