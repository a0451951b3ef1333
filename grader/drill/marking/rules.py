"""Rules: what has to stand close together in an answer for a point to be made.

A rule is one line: `variance|方差 + $hd` asks for one word of each part, in any order, within two
sentences that follow each other. A part that begins with `!` must not stand there. A word stands
for its endings too, `saturat*` for whatever begins so, `a .. b` for both in this order with at most
five words between; `$name` is a line of lexicon.yaml.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.drill.marking.spelling import split_words
from grader.drill.marking.words import FOLDER
from grader.files import read_data

ANY = ".."


@dataclass(frozen=True)
class Term:
    """Words in a row; None stands for a gap, a word with a `*` for its beginning."""

    forms: tuple[str | None, ...]


@dataclass(frozen=True)
class Rule:
    """Parts that must all stand there, each as one of its terms; and terms that must not."""

    parts: tuple[tuple[Term, ...], ...]
    absent: tuple[Term, ...] = ()


def parse_rule(line: str) -> Rule:
    """A rule from its line; raises KeyError for a $name that the lexicon lacks.

    Raises ValueError for a term without words.
    """
    parts = [part.strip() for part in line.split(" + ")]
    absent = [term for part in parts if part.startswith("!") for term in _terms(part[1:])]
    wanted = [tuple(_terms(part)) for part in parts if not part.startswith("!")]
    return Rule(tuple(wanted), tuple(absent))


def _terms(part: str) -> Iterator[Term]:
    for way in part.split("|"):
        way = way.strip()
        if way.startswith("$"):
            yield from _terms(_lexicon()[way[1:]])
        else:
            forms = tuple(_forms(way))
            if not forms or forms[0] is None:
                raise ValueError(f"a term without words in {part!r}")
            yield Term(forms)


def _forms(way: str) -> Iterator[str | None]:
    for at, stretch in enumerate(way.split(ANY)):
        if at:
            yield None
        for piece in re.split(r"(\S+\*)", stretch):
            if piece.endswith("*") and piece != "*":
                yield piece.lower()
            else:
                yield from (word.stem for word in split_words(piece))


@functools.cache
def _lexicon() -> dict[str, str]:
    found: dict[str, str] = read_data(FOLDER / "lexicon.yaml")
    return found
