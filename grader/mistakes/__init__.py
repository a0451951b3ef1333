"""Known mistakes: each is the definition of attention with one step replaced."""

from grader.mistakes.catalogue import CATALOGUE, Mistake, are_compatible, combine, known_for
from grader.mistakes.naming import name_mistakes

__all__ = ["CATALOGUE", "Mistake", "are_compatible", "combine", "known_for", "name_mistakes"]
