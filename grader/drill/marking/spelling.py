"""Ways of writing one thing made one: √d, sqrt(d) and 根号 d."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from grader.drill.marking.stem import stem
from grader.drill.marking.words import FOLDER, Word, cut_words
from grader.files import read_data


def split_words(text: str) -> list[Word]:
    """The words of a text in order, the ways of writing one thing made one."""
    return _respell(list(cut_words(text)))


@functools.cache
def _spellings() -> Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """By first word: sequences of words, the longest first, and the word each is read as."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for wanted, ways in read_data(FOLDER / "spellings.yaml").items():
        for way in ways:
            sequence = tuple(word.raw for word in cut_words(way))
            found.setdefault(sequence[0], []).append((sequence, str(wanted)))
    return {
        first: tuple(sorted(ways, key=lambda way: -len(way[0]))) for first, ways in found.items()
    }


def _respell(words: list[Word]) -> list[Word]:
    found, at = [], 0
    while at < len(words):
        sequence, wanted = _spelling_at(words, at)
        first, last = words[at], words[at + len(sequence) - 1]
        found.append(
            Word(wanted, stem(wanted), first.start, last.end, first.sentence, first.clause)
            if wanted != first.raw
            else first
        )
        at += len(sequence)
    return found


def _spelling_at(words: list[Word], at: int) -> tuple[tuple[str, ...], str]:
    for sequence, wanted in _spellings().get(words[at].raw, ()):
        there = words[at : at + len(sequence)]
        if tuple(word.raw for word in there) == sequence:
            return sequence, wanted
    return (words[at].raw,), words[at].raw
