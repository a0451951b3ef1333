"""Counts over the results of a course, made in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from grader.clean import clean
from grader.model import Graded, Message, Outcome

BINS = 10
MAX_NAME = 200


@dataclass
class Figures:
    """What is counted; filled by `add`."""

    total: int = 0
    scores: list[float] = field(default_factory=list)
    passed: int = 0
    judged: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    mistakes: Counter[str] = field(default_factory=Counter)
    refused: list[tuple[str, Message]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def hardest(self) -> list[tuple[str, float]]:
        """Cases with the share of files that fail them, the largest first."""
        shares = [(case, n / self.judged[case]) for case, n in self.failed.items() if n]
        return sorted(shares, key=lambda item: (-item[1], item[0]))

    @property
    def bins(self) -> Iterator[tuple[str, int]]:
        """How many scores there are of each ten points; the full score stands by itself."""
        counts = Counter(min(int(score // (100 / BINS)), BINS) for score in self.scores)
        for at in range(BINS + 1):
            full = at == BINS
            label = "100" if full else f"{at * 100 // BINS}-{(at + 1) * 100 // BINS}"
            yield label, counts[at]

    def add(self, graded: Graded) -> None:
        """One more submission; one that was refused has no score to count."""
        self.total += 1
        report = graded.report
        path = clean(report.submission.path, MAX_NAME)
        if report.has_errors:
            self.broken.append(path)
        if report.refusal is not None:
            if not report.has_errors:
                self.refused.append((path, report.refusal))
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
