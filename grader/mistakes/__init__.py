"""Known mistakes: each is the definition of attention with one step replaced."""

from grader.mistakes.catalogue import CATALOGUE, Mistake, are_compatible, combine, known_for

__all__ = ["CATALOGUE", "Mistake", "are_compatible", "combine", "known_for"]
