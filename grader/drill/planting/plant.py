"""Plants mistakes in a right answer by editing its source."""

from __future__ import annotations

import random
from collections.abc import Sequence

from grader.drill.planting.choices import MOST, Choice, apply, draw_choices
from grader.drill.planting.planted import Planted, Spot, count_statements
from grader.drill.styles import Style, as_text, draw, write


def plant(seed: int, exercise: str | None = None, count: int | None = None) -> Planted:
    """A right answer to this exercise, or any, with one to four mistakes planted; see `sow`.

    The same for the same seed. `count` is how many; fewer where the style has no room for more.
    Raises UsageError for an exercise that cannot be had, ValueError for another count.
    """
    if count is not None and not 1 <= count <= MOST:
        raise ValueError(f"count is {count}, and can be 1 to {MOST}")
    return sow(*draw_drill(seed, exercise, count))


def draw_drill(
    seed: int, exercise: str | None = None, count: int | None = None
) -> tuple[Style, tuple[Choice, ...]]:
    """A style, and the mistakes to be made in it."""
    order = random.Random(f"planting {seed} {exercise} {count}")
    style = draw(order, exercise)
    return style, draw_choices(order, style, count)


def sow(style: Style, drawn: Sequence[Choice]) -> Planted:
    """The answer in this style with these mistakes made."""
    answer = as_text(write(style))
    lines = write(apply(style, drawn))
    places = {line.origin: number for number, line in enumerate(lines, 1) if line.origin}
    spots = []
    for choice in drawn:
        right, wrong = _said_by(answer, as_text(write(apply(style, [choice]))))
        spots.append(Spot(choice.mistake, _line(style, choice, places), right, wrong))
    ordered = sorted(spots, key=lambda spot: spot.line)
    return Planted(style.exercise, as_text(lines), answer, tuple(ordered))


def _said_by(one: str, other: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The statements that only one of two files has, and those that only the other has."""
    first, second = count_statements(one), count_statements(other)
    return tuple((first - second).elements()), tuple((second - first).elements())


def _line(style: Style, choice: Choice, places: dict[tuple[str, str, int], int]) -> int:
    """The line of the first change in a piece; after an omission the line that moved up."""
    before, after = (s.pieces[choice.job].parts for s in (style, apply(style, [choice])))
    for part in ("code", "wrap", "init"):
        old, new = (parts.get(part, "").split("\n") for parts in (before, after))
        for at in range(max(len(old), len(new))):
            if old[at : at + 1] != new[at : at + 1]:
                last = next(n for n in range(at, -1, -1) if (choice.job, part, n) in places)
                return places[choice.job, part, last] + at - last
    raise AssertionError(f"{choice.mistake} changes nothing")
