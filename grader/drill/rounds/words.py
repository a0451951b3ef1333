"""What the interviewer says, and a suggestion in sentences, in the reader's language."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from grader.drill.marking import LONGEST
from grader.drill.rounds.plan import FOLDER, LAYERED, SCENARIO, Step
from grader.drill.rounds.suggestion import Suggestion
from grader.files import read_data
from grader.questions import check_language, load_questions


def say(step: Step, language: str) -> str:
    """All that the interviewer says at this step, the lead first.

    Raises UsageError for a language there are no words in.
    """
    words = _words(language)
    chain, question, kind = step.lead.split(".") if step.lead else ("", "", "")
    lead = words["chains"][chain][question][kind] if step.lead else ""
    gap = "" if language == "zh" else " "
    return f"{lead}{gap}{_own(step, language)}" if lead else _own(step, language)


def describe(suggestion: Suggestion, language: str) -> Iterator[str]:
    """A suggestion as sentences, each of which says that it is one.

    What is quoted comes from the answer as it was typed: whoever prints it escapes it.
    """
    words, question = _words(language)["suggestion"], load_questions(language)[suggestion.question]
    total, covered = len(question.points), len(suggestion.covered)
    key = "none" if not covered else "all" if covered == total else "some"
    yield words[key].format(covered=covered, total=total)
    for point, quotes in zip(suggestion.covered, suggestion.quotes):
        said = words["between"].join(quotes)
        yield words["made"].format(point=question.points[point], quotes=said)
    for point in suggestion.missed:
        yield words["missed"].format(point=question.points[point])
    if suggestion.trap:
        yield words["trap"].format(quotes=words["between"].join(suggestion.trap))
    if suggestion.is_cut:
        yield words["cut"].format(limit=f"{LONGEST:,}")
    yield words["mark"].format(mark=words[f"mark.{suggestion.mark.value}"])


def _own(step: Step, language: str) -> str:
    words = _words(language)
    if step.form == SCENARIO:
        said = words["scenarios"][step.script]
    elif step.form == LAYERED:
        said = words["chains"][step.script][step.question][step.turn]
    else:
        said = load_questions(language)[step.question].question
    return str(said)


@functools.cache
def _words(language: str) -> Any:
    check_language(language)
    return read_data(FOLDER / f"{language}.yaml")
