"""The score as a ring."""

from __future__ import annotations

import math

from grader.reports.failures import number
from grader.reports.html.element import Html, el
from grader.reports.html.pictures.svg import label, picture

SIZE, RADIUS = 148, 62


def draw_ring(score: float, most: float, title: str, of: str) -> Html:
    """A full ring is a full score; `of` stands below the number."""
    middle, around = SIZE / 2, 2 * math.pi * RADIUS
    share = min(max(score / most, 0.0), 1.0)
    place = {"cx": f"{middle:g}", "cy": f"{middle:g}", "r": str(RADIUS)}
    arc = el(
        "circle",
        **place,
        class_="arc" if share < 1 else "arc full",
        stroke_dasharray=f"{share * around:.2f} {around:.2f}",
        transform=f"rotate(-90 {middle:g} {middle:g})",
    )
    return picture(
        SIZE,
        SIZE,
        title,
        el("circle", **place, class_="track"),
        arc,
        label(middle, middle + 6, number(score), "score"),
        label(middle, middle + 28, of, "of"),
        name="ring",
    )
