"""An outline, and what was heard of it, in the reader's language."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from grader.drill.marking import LONGEST
from grader.drill.outlines.hearing import Heard
from grader.drill.outlines.outline import FOLDER, Outline, Part
from grader.files import read_data
from grader.questions import check_language


def headline(part: Part, language: str) -> str:
    """What a part is about, in a few words; raises UsageError for a language without words."""
    return str(_words(language)["parts"][part.id]["headline"])


def what_to_say(plan: Outline, part: Part, language: str) -> str:
    """What to say in a part, for this exercise."""
    words = _words(language)["parts"][part.id]
    own = next((f"say-{kind}" for kind in plan.kinds if f"say-{kind}" in words), "say")
    return str(words[own])


def point_text(point: str, language: str) -> str:
    """A point to mark oneself by."""
    return str(_words(language)["points"][point])


def slip_text(slip: str, language: str) -> str:
    """What people say by mistake, and why it is wrong."""
    return str(_words(language)["slips"][slip])


def describe_heard(heard: Heard, language: str) -> Iterator[str]:
    """What was heard as sentences, worded as a suggestion.

    What is quoted comes from the transcript as it was typed: whoever prints it escapes it.
    """
    words = _words(language)["heard"]
    covered = len(heard.covered)
    yield words["some"].format(covered=covered, total=covered + len(heard.missed))
    for point, quotes in heard.covered.items():
        said = words["between"].join(quotes)
        yield words["made"].format(point=point_text(point, language), quotes=said)
    for point in heard.missed:
        yield words["missed"].format(point=point_text(point, language))
    for slip, quotes in heard.slips.items():
        said = words["between"].join(quotes)
        yield words["slip"].format(slip=slip_text(slip, language), quotes=said)
    if heard.is_cut:
        yield words["cut"].format(limit=f"{LONGEST:,}")
    yield words["own"]


@functools.cache
def _words(language: str) -> Any:
    check_language(language)
    return read_data(FOLDER / f"{language}.yaml")
