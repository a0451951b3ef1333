"""What a file's convention is, found by behaviour: how it is called, where its weights are."""

from grader.convention.describe import describe_convention
from grader.convention.exercise import match_exercise
from grader.convention.found import Convention, Match
from grader.convention.search import find_convention

__all__ = ["Convention", "Match", "describe_convention", "find_convention", "match_exercise"]
