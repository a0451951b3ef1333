"""Bars: shares of points, shares of files, errors of gradients."""

from __future__ import annotations

import math

from grader.reports.html.element import Html
from grader.reports.html.pictures.svg import decoration, line, rect

WIDTH, HEIGHT = 160, 10
# Errors are drawn by their powers of ten, from rounding in float64 to as large as can be.
LEAST, LARGEST = -17.0, 0.0


def draw_share(share: float, name: str = "") -> Html:
    """A bar that is full for 1; full only where nothing is missing."""
    full = WIDTH * min(max(share, 0.0), 1.0)
    return _bar(min(full, WIDTH - 3) if share < 1 else full, name or _by(share))


def draw_error(error: float | None, allowed: float) -> Html:
    """A bar by powers of ten, and a mark at the largest error that is right."""
    fine = error is not None and error <= allowed
    length = WIDTH if error is None else WIDTH * _power(error)
    mark = WIDTH * _power(allowed)
    return _bar(length, "good" if fine else "bad", line(mark, -2, mark, HEIGHT + 2, "allowed"))


def _by(share: float) -> str:
    return "good" if share >= 1 else "part"


def _bar(length: float, name: str, *more: Html) -> Html:
    track = rect(0, 0, WIDTH, HEIGHT, "track", rx="2")
    filled = rect(0, 0, round(length, 1), HEIGHT, name, rx="2")
    return decoration(WIDTH, HEIGHT, track, filled, *more, name="bar")


def _power(error: float) -> float:
    """How far along the bar, from 0 to 1."""
    power = math.log10(error) if error > 0 else LEAST
    return (min(max(power, LEAST), LARGEST) - LEAST) / (LARGEST - LEAST)
