"""Which kinds of masks a file tells apart: the ranks and dtypes that its source compares.

A file that is given a mask of a shape it was not written for returns something all the same, by
broadcasting. That is no mistake; but what a file asks for by itself it has to get right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.calling.roles import FORWARD, role_in

# The number of axes of something, by each way to ask for it.
AXES = r"(?:\b(\w+)\s*\.\s*(?:dim\(\)|ndim\b|ndimension\(\))|\blen\((\w+)\.(?:shape|size\(\))\))"
COMPARED = r"\)?\s*(?:==|!=|not in|in)\s*[(\[{]?\s*(\d(?:\s*,\s*\d)*)"
RANK = re.compile(AXES + COMPARED)
# The same that is given a name first, and `match` with its cases.
NAMED = re.compile(r"\b(\w+)\s*:?=\s*" + AXES)
MATCHED = re.compile(r"^( *)match " + AXES + r":\n((?:\1 +.*\n|\s*\n)*)", re.MULTILINE)
CASES = re.compile(r"^\s*case ([^:]*\d[^:]*):", re.MULTILINE)
DTYPE = re.compile(
    r"\b(\w+)\s*\.\s*dtype\s*(?:==|!=|is\b|in\b|not in\b)|is_floating_point\((\w+)\)"
    r"|\b(\w+)\.is_floating_point\(\)"
)
BOOLEAN = re.compile(
    r"\b(\w+)\.dtype\s*(?:==|!=|is(?: not)?|(?:not )?in)\s*[(\[{]?\s*(?:torch\.)?bool\b"
)

MASKING = (
    r"~\s*{name}\b|\b{name}\s*[=!]=\s*(?:[01]|True|False)\b|\b{name}\.(?:bool|logical_not|eq|ne)\("
    r"|\b(?:masked_fill_?|where)\([^()]*\b{name}\b"
)


@dataclass(frozen=True)
class ToldApart:
    """The ranks that are asked for by number, and the names whose dtypes are asked for."""

    ranks: tuple[int, ...] = ()
    dtypes: frozenset[str] = frozenset()


def tell_apart(source: str, name: str | None, alone: bool) -> ToldApart:
    """What the source asks of the mask argument `name`; `alone`, of whatever is called a mask."""
    # Nothing else is asked whether it is bool, whatever a function calls it.
    booleans = {found[1] for found in BOOLEAN.finditer(source)}

    def meant(said: str) -> bool:
        told = said in booleans or role_in(said, FORWARD) in ("mask", "padding")
        return said == name or (alone and told)

    ranks = {
        int(number)
        for said, numbers in _ranks(source)
        if meant(said)
        for number in re.findall(r"\d", numbers)
    }
    dtypes = {said for found in DTYPE.finditer(source) if meant(said := _first_group(found))}
    return ToldApart(tuple(sorted(ranks)), frozenset(dtypes))


def _ranks(source: str) -> Iterator[tuple[str, str]]:
    """Whose number of axes is compared, and with which numbers."""
    yield from ((_first_group(found), found[3]) for found in RANK.finditer(source))
    for named in NAMED.finditer(source):
        compared = re.compile(rf"\b{named[1]}\b" + COMPARED)
        yield from ((named[2] or named[3], found[1]) for found in compared.finditer(source))
    for matched in MATCHED.finditer(source + "\n"):
        cases = " ".join(CASES.findall(matched[4]))
        yield matched[2] or matched[3], cases


def _first_group(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group)


def is_written_as_mask(source: str, name: str) -> bool:
    """True where the source asks of an argument what is asked of masks alone."""
    return re.search(MASKING.format(name=re.escape(name)), source) is not None
