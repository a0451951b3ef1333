"""An answer as it is read: its words, where each of them stands, and what is passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.drill.marking.doubts import begins
from grader.drill.marking.spelling import split_words
from grader.drill.marking.words import Word

# Four minutes of speech are about 3,500 characters; what comes after twice that is not read.
LONGEST = 8_000


@dataclass(frozen=True)
class Answer:
    """What was read; `places` has the positions in `words` of each stem and of each whole word."""

    text: str
    words: tuple[Word, ...]
    places: Mapping[str, tuple[int, ...]]
    is_cut: bool

    def quote(self, first: int, last: int) -> str:
        """The answer's own text from one word to another."""
        return self.text[self.words[first].start : self.words[last].end]


def read_answer(text: str) -> Answer:
    """An answer of any length in either language; at most `LONGEST` characters are read."""
    read = text[:LONGEST]
    words = tuple(_said(split_words(read)))
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        for form in {word.raw, word.stem}:
            places.setdefault(form, []).append(place)
    found = {form: tuple(there) for form, there in places.items()}
    return Answer(read, words, found, len(text) > LONGEST)


def _said(words: list[Word]) -> Iterator[Word]:
    """The words without the clauses in which somebody says that they do not know."""
    clauses: dict[int, list[Word]] = {}
    for word in words:
        clauses.setdefault(word.clause, []).append(word)
    for clause in clauses.values():
        if not any(begins(clause, place, "unknown") for place in range(len(clause))):
            yield from clause
