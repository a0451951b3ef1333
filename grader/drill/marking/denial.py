"""Whether what an answer states is turned round: by a not before it, or by being called wrong."""

from __future__ import annotations

from collections.abc import Sequence

from grader.drill.marking.doubts import begins
from grader.drill.marking.words import Word

# How many words before a statement may still deny it, and how far the next sentence is read.
BEFORE, BEYOND = 40, 8


def is_denied(words: Sequence[Word], own: set[int]) -> bool:
    """True where what the words at the places `own` state is denied, or called wrong."""
    clauses = {words[place].clause for place in own}
    before = range(max(min(own) - BEFORE, 0), max(own))
    is_negated = any(
        words[place].clause in clauses and begins(words, place, "negations")
        for place in before
        if place not in own
    )
    return is_negated or _is_refuted(words, own)


def _is_refuted(words: Sequence[Word], own: set[int]) -> bool:
    """True where the sentence, or the next if it speaks of this one, calls it wrong."""
    first, last = min(own), max(own)
    sentence = words[first].sentence
    while first and words[first - 1].sentence == sentence:
        first -= 1
    while last + 1 < len(words) and words[last + 1].sentence == sentence:
        last += 1
    following = last + 1
    if following < len(words) and begins(words, following, "pointers"):
        last = min(following + BEYOND, len(words) - 1)
    places = (place for place in range(first, last + 1) if place not in own)
    return any(begins(words, place, "refutations") for place in places)
