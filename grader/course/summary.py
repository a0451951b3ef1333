"""What a whole course looks like: scores, what fails, and what a person must look at."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from grader.model import Graded, Message, Outcome
from grader.texts import Texts

BAR = 40
BINS = 10
MOST = 12


@dataclass
class Figures:
    """Counts over the results of a course, made in one pass."""

    total: int = 0
    scores: list[float] = field(default_factory=list)
    passed: int = 0
    judged: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    mistakes: Counter[str] = field(default_factory=Counter)
    refused: list[tuple[str, Message]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def add(self, graded: Graded) -> None:
        """One more submission; one that was refused has no score to count."""
        self.total += 1
        report = graded.report
        if report.has_errors:
            self.broken.append(report.submission.path)
        if report.refusal is not None:
            if not report.has_errors:
                self.refused.append((report.submission.path, report.refusal))
            return
        self.scores.append(report.score)
        self.passed += report.all_passed
        for verdict in report.verdicts:
            if verdict.outcome in (Outcome.PASSED, Outcome.FAILED):
                self.judged[verdict.case] += 1
                self.failed[verdict.case] += verdict.outcome is Outcome.FAILED
        self.mistakes.update({found.mistake for found in report.diagnosis.mistakes})


def sum_up(batch: Iterable[Graded]) -> Figures:
    """The figures of these submissions."""
    figures = Figures()
    for graded in batch:
        figures.add(graded)
    return figures


def render(figures: Figures, texts: Texts) -> str:
    """The figures as a page of text, with a picture of the scores."""
    lines = _scores(figures, texts)
    hardest = [(case, n / figures.judged[case]) for case, n in figures.failed.items() if n]
    hardest.sort(key=lambda item: (-item[1], item[0]))
    rows = [f"{share:4.0%}  {case}" for case, share in hardest[:MOST]]
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
    counts = Counter(min(int(score // (100 / BINS)), BINS) for score in scores)
    largest = max(counts.values())
    lines += ["", texts("course.scores", median=middle, mean=mean)]
    for at in range(BINS + 1):
        label = "100" if at == BINS else f"{at * 100 // BINS}-{(at + 1) * 100 // BINS}"
        bar = "#" * -(-counts[at] * BAR // largest)
        lines.append(f"  {label:>6}  {bar:{BAR}}  {counts[at]}".rstrip())
    return lines


def _block(title: str, rows: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {row}" for row in rows)] if rows else []
