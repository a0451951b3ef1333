"""Known mistakes: each is the definition of attention with one step replaced."""

from grader.mistakes.catalogue import CATALOGUE, FAINT, known_for
from grader.mistakes.mistake import Mistake, are_compatible, combine, pairs_of
from grader.mistakes.naming import name_mistakes
from grader.mistakes.pointing import SURE, point
from grader.mistakes.statements import Statement, read_statements

__all__ = [
    "CATALOGUE",
    "FAINT",
    "SURE",
    "Mistake",
    "Statement",
    "are_compatible",
    "combine",
    "known_for",
    "name_mistakes",
    "pairs_of",
    "point",
    "read_statements",
]
