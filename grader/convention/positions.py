"""Signs of positions inside: words of a source, names of parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.model import Parameter

ROTARY = re.compile(r"rot(ary|ate)|rope\b|polar|as_complex|\bcos\b", re.IGNORECASE)
ALIBI = re.compile(r"alibi|slope", re.IGNORECASE)
LEARNED = re.compile(
    r"(.*[._])?(rel|rel_\w*|pos|\w*pos_\w*|\w*_pos|\w*(relative|position|distance|bias_table)\w*|er)"
    r"(\..*)?",
    re.IGNORECASE,
)


def speaks_of_turns(source: str) -> bool:
    """True where queries and keys may be turned by their positions."""
    return ROTARY.search(source) is not None


def speaks_of_slopes(source: str) -> bool:
    """True where a multiple of the distance may be taken from the scores."""
    return ALIBI.search(source) is not None


def speaks_of_positions(source: str) -> bool:
    """True where either may be."""
    return speaks_of_turns(source) or speaks_of_slopes(source)


def learned_positions(parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """The names of parameters that seem to be for positions."""
    return tuple(p.name for p in parameters if LEARNED.fullmatch(p.name))
