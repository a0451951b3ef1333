"""What a whole course looks like, as text: scores, what fails, and what a person must look at."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from grader.reports.figures import Figures
from grader.texts import Texts

BAR = 40
MOST = 12


def render(figures: Figures, texts: Texts) -> str:
    """The figures as a page of text, with a picture of the scores."""
    lines = _scores(figures, texts)
    rows = [f"{share:4.0%}  {case}" for case, share in figures.hardest[:MOST]]
    lines += _block(texts("course.hardest"), rows)
    rows = [
        f"{count:5d}  {name}: {texts(f'mistake.{name}')}"
        for name, count in figures.mistakes.most_common(MOST)
    ]
    lines += _block(texts("course.mistakes"), rows)
    rows = [f"{path}: {texts.say(why)}" for path, why in figures.refused]
    lines += _block(texts("course.refused", count=len(rows)), rows)
    lines += _block(texts("course.broken"), figures.broken)
    return "\n".join(lines) + "\n"


def _scores(figures: Figures, texts: Texts) -> list[str]:
    scores = figures.scores
    known = {"count": figures.total, "graded": len(scores), "passed": figures.passed}
    lines = [texts("course.total", **known)]
    if not scores:
        return lines
    middle, mean = statistics.median(scores), statistics.fmean(scores)
    bins = list(figures.bins)
    largest = max(count for _, count in bins)
    lines += ["", texts("course.scores", median=middle, mean=mean)]
    for label, count in bins:
        bar = "#" * -(-count * BAR // largest)
        lines.append(f"  {label:>6}  {bar:{BAR}}  {count}".rstrip())
    return lines


def _block(title: str, rows: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {row}" for row in rows)] if rows else []
