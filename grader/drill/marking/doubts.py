"""Where words of doubt stand: negations, refutations, ways to say that one does not know."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from grader.drill.marking.spelling import split_words
from grader.drill.marking.words import FOLDER, Word
from grader.files import read_data


def begins(words: Sequence[Word], place: int, kind: str) -> bool:
    """True where one of the ways of this kind, a key of doubts.yaml, begins at this place."""
    return any(
        tuple(word.raw for word in words[place : place + len(way)]) == way
        for way in _ways(kind).get(words[place].raw, ())
    )


@functools.cache
def _ways(kind: str) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """All ways by their first word."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for text in read_data(FOLDER / "doubts.yaml")[kind]:
        way = tuple(word.raw for word in split_words(text))
        found[way[0]] = (*found.get(way[0], ()), way)
    return found
