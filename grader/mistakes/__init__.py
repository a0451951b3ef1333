"""Known mistakes: each is the definition of attention with one step replaced."""

from grader.mistakes.catalogue import FAINT
from grader.mistakes.known import (
    CATALOGUE,
    OF_EXERCISES,
    TURNED_ALIKE,
    known_for,
    known_of,
    ways_of,
)
from grader.mistakes.mistake import Mistake, are_compatible, combine, pairs_of
from grader.mistakes.naming import name_mistakes
from grader.mistakes.pointing import SURE, point
from grader.mistakes.statements import Statement, read_statements

__all__ = [
    "CATALOGUE",
    "FAINT",
    "OF_EXERCISES",
    "SURE",
    "TURNED_ALIKE",
    "Mistake",
    "Statement",
    "are_compatible",
    "combine",
    "known_for",
    "known_of",
    "name_mistakes",
    "pairs_of",
    "point",
    "read_statements",
    "ways_of",
]
