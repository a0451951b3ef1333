"""The end of a drill in sentences, the same in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.clean import clean
from grader.drill.clock import write_seconds
from grader.drill.facts import Facts
from grader.drill.review import Review
from grader.drill.sheets.sheet import BLANK
from grader.reports.failures import number
from grader.texts import Texts


def write_closing(facts: Facts, texts: Texts) -> str:
    """Score, time and hints in a sentence."""
    key = "drill.review.closing-over" if facts.is_over else "drill.review.closing"
    spent, score = write_seconds(facts.spent), number(facts.score)
    return texts(key, score=score, spent=spent, minutes=facts.minutes, hints=facts.hint_count)


def write_notes(facts: Facts, texts: Texts) -> Iterator[str]:
    """What became of each mistake or blank, and the saves that made it worse."""
    for key, names in _list_fates(facts):
        if names:
            yield texts(f"drill.review.{key}", mistakes=", ".join(names))
    if facts.setbacks:
        yield texts("drill.review.setbacks", count=facts.setbacks)


def write_recommendation(review: Review, texts: Texts) -> str:
    """Hired or not, and what weighs most."""
    verdict = texts(f"drill.verdict.{review.recommendation}")
    return texts("drill.recommendation", verdict=verdict, reason=review.reason)


def _list_fates(facts: Facts) -> Iterator[tuple[str, Sequence[str]]]:
    """What became of mistakes, those planted or those made on the way; of a sheet, each blank."""
    if facts.blanks:
        yield "blanks", (str(len(facts.blanks)),)
    for blank in facts.blanks:
        given = clean(blank.given, 60) or BLANK
        yield "blank", (f"{blank.line}  {blank.id}  {given} → {blank.wanted}",)
    if facts.settled is None:
        yield from (("mended", facts.mended), ("left", facts.left))
    else:
        yield from (("found", facts.settled.found), ("planted", facts.settled.left))
        yield "broken", facts.settled.broken
