"""All drills of one user: a row for each, and which mistakes were made, mended and left in which.

Drawn here for a terminal; what is drawn are plain facts, so that others can draw them too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.drill.clock import write_seconds
from grader.drill.facts import Facts, gather_facts
from grader.drill.model import MARKED, Drill
from grader.drill.standing import Standing, stand
from grader.drill.store import Store
from grader.reports.columns import columns, pad, room, wrap
from grader.reports.failures import number
from grader.texts import Texts

# Columns of a bar, and what else a row takes beside its name.
BAR, SHORTEST, BESIDE = 20, 5, 45
LEFT, MENDED, NOT_MADE = "x", "o", "."


@dataclass(frozen=True)
class Row:
    """One drill that has ended, or is still open."""

    drill: Drill
    facts: Facts
    standing: Standing

    @property
    def is_open(self) -> bool:
        """True while nobody has finished it."""
        return not self.standing.is_finished


@dataclass(frozen=True)
class History:
    """Every drill, the oldest first, and one's own marks for answers, from 1 to 4."""

    rows: tuple[Row, ...]
    marks: tuple[int, ...]

    @property
    def ended(self) -> tuple[Row, ...]:
        """The drills that are over: what is wrong in an open one is for its candidate to find."""
        return tuple(row for row in self.rows if not row.is_open)

    @property
    def coded(self) -> tuple[Row, ...]:
        """Those of them in which code was written, and so mistakes can be made."""
        return tuple(row for row in self.ended if row.facts.runs_code)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """Every mistake that was made in these, not planted, in the order they came up."""
        return tuple(dict.fromkeys(name for row in self.coded for name in row.facts.own))

    def fate(self, mistake: str) -> str:
        """A letter for each of these: the mistake was left in the file, mended, or not made."""
        return "".join(
            NOT_MADE if mistake not in facts.own else LEFT if mistake in facts.left else MENDED
            for facts in (row.facts for row in self.coded)
        )


def gather_history(store: Store, now: float) -> History:
    """What the store knows, up to now."""
    rows, marks = [], []
    for drill in store.drills():
        events = store.events(drill.id)
        facts = gather_facts(drill, events, store.look(drill.id), now)
        rows.append(Row(drill, facts, stand(drill, events, now)))
        marks += [int(event.data["rating"]) for event in events if event.what == MARKED]
    return History(tuple(rows), tuple(marks))


def draw_history(history: History, texts: Texts) -> str:
    """The picture: a bar for each drill, a line of letters for each mistake."""
    lines = [texts("drill.history.title"), *_draw_rows(history.rows, texts), ""]
    if history.mistakes:
        lines += [*wrap(texts("drill.history.mistakes"), "", "  ")]
        width = max(map(len, history.mistakes))
        lines += [f"  {name:<{width}}  {history.fate(name)}" for name in history.mistakes]
        lines.append("")
    if history.marks:
        mean = sum(history.marks) / len(history.marks)
        lines.append(texts("drill.history.questions", count=len(history.marks), mean=mean))
    return "\n".join(lines).rstrip() + "\n"


def _draw_rows(rows: Sequence[Row], texts: Texts) -> Iterator[str]:
    names = [_name(row.drill, texts) for row in rows]
    width = max(map(columns, names), default=0)
    length = min(BAR, max(SHORTEST, room() - width - BESIDE))
    for row, name in zip(rows, names):
        score = row.facts.score
        full = int(length * score / 100)
        bar = "#" * full + "." * (length - full)
        date = time.strftime("%Y-%m-%d", time.localtime(row.drill.started))
        score_said = number(score).rjust(5)
        end = _end(row, texts)
        fields = {"date": date, "name": pad(name, width), "bar": bar}
        yield from wrap(
            texts("drill.history.row", **fields, score=score_said, end=end), "  ", " " * 14
        )


def _name(drill: Drill, texts: Texts) -> str:
    kind = texts(f"drill.kind.{drill.kind}")
    return texts("drill.history.name", kind=kind, exercise=drill.exercise)


def _end(row: Row, texts: Texts) -> str:
    if row.is_open:
        return texts("drill.history.open")
    spent = write_seconds(row.facts.spent)
    parts = [texts("drill.history.over", time=spent) if row.facts.is_over else spent]
    if row.facts.settled is not None:
        found, left = len(row.facts.settled.found), len(row.facts.settled.left)
        parts.append(texts("drill.history.found", found=found, count=found + left))
    if row.facts.hint_count:
        parts.append(texts("drill.history.hints", count=row.facts.hint_count))
    return ", ".join(parts)
