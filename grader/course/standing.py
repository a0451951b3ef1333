"""Where students stand: the file that counts, and who has moved since the last time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.course.store import Result, Store
from grader.model import Graded, Verdict


@dataclass(frozen=True)
class Counted(Collection[Graded]):
    """The submissions that count, read from the store each time: never more than one in memory."""

    store: Store
    keys: frozenset[str]

    def __iter__(self) -> Iterator[Graded]:
        """In order of keys."""
        return (r.graded for r in self.store.results() if r.key in self.keys)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.keys)

    def __contains__(self, graded: object) -> bool:
        """True for one of these."""
        return any(graded == one for one in self)


def counted(store: Store, keep: str) -> Counted:
    """Of each student's files the one that counts: the latest, the best, or all of them."""
    chosen: dict[str, tuple[tuple[float, int], str]] = {}
    for result in store.results():
        name = result.key if keep == "all" else result.graded.student
        rank = _rank(result, keep), result.key
        if name not in chosen or rank > chosen[name]:
            chosen[name] = rank
    return Counted(store, frozenset(key for _, key in chosen.values()))


def _rank(result: Result, keep: str) -> tuple[float, int]:
    best = result.graded.report.score if keep == "best" else 0.0
    return best, result.graded.attempt


@dataclass(frozen=True)
class Move:
    """A submission whose grade is another one than before, and the cases that made it so."""

    result: Result
    before: float
    cases: tuple[tuple[str, float, float], ...]


def moved(store: Store) -> list[Move]:
    """Whose grade is not what it was when the same file was graded before."""
    moves = []
    for result in store.results():
        earlier = store.earlier(result.key, result.sha256)
        if earlier is None:
            continue
        now = result.graded.report
        cases = tuple(_changed(earlier.verdicts, now.verdicts))
        if cases or earlier.score != now.score or earlier.refusal != now.refusal:
            moves.append(Move(result, earlier.score, cases))
    return moves


def _changed(
    before: Sequence[Verdict], after: Sequence[Verdict]
) -> Iterator[tuple[str, float, float]]:
    old: Mapping[str, float] = {v.case: v.points for v in before}
    new = {v.case: v.points for v in after}
    for case in dict.fromkeys((*old, *new)):
        if abs(old.get(case, 0.0) - new.get(case, 0.0)) > 1e-9:
            yield case, old.get(case, 0.0), new.get(case, 0.0)
