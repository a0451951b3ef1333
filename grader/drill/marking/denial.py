"""Whether what an answer states is turned round: by a not before it, or by being called wrong."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from grader.drill.marking.spelling import split_words
from grader.drill.marking.words import FOLDER, Word
from grader.files import read_data

# How many words before a statement may still deny it, and how far the next sentence is read.
BEFORE, BEYOND = 40, 8


def is_denied(words: Sequence[Word], own: set[int]) -> bool:
    """True where what the words at the places `own` state is denied, or called wrong."""
    sentence = words[min(own)].sentence
    clauses = {words[place].clause for place in own}
    before = range(max(min(own) - BEFORE, 0), max(own))
    negated = (
        place
        for place in before
        if words[place].clause in clauses
        and place not in own
        and _begins(words, place, "negations")
    )
    return next(negated, None) is not None or _is_refuted(words, sentence, own)


def _is_refuted(words: Sequence[Word], sentence: int, own: set[int]) -> bool:
    """True where the sentence, or the next if it speaks of this one, calls it wrong."""
    first, last = min(own), max(own)
    while first and words[first - 1].sentence == sentence:
        first -= 1
    while last + 1 < len(words) and words[last + 1].sentence == sentence:
        last += 1
    following = last + 1
    if following < len(words) and _begins(words, following, "pointers"):
        last = min(following + BEYOND, len(words) - 1)
    places = (place for place in range(first, last + 1) if place not in own)
    return any(_begins(words, place, "refutations") for place in places)


def _begins(words: Sequence[Word], place: int, kind: str) -> bool:
    return any(
        tuple(word.raw for word in words[place : place + len(way)]) == way for way in _doubts(kind)
    )


@functools.cache
def _doubts(kind: str) -> tuple[tuple[str, ...], ...]:
    ways = read_data(FOLDER / "doubts.yaml")[kind]
    return tuple(tuple(word.raw for word in split_words(way)) for way in ways)
