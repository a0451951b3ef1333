"""The frame of a picture: its size, and what it says to who cannot see it."""

from __future__ import annotations

from typing import Any

from grader.reports.html.element import Html, el


def picture(
    width: float, height: float, title: str, *shapes: Html, desc: str = "", name: str | None = None
) -> Html:
    """An SVG of this size, read out as its title and description."""
    said = [el("title", title)] + ([el("desc", desc)] if desc else [])
    box = f"0 0 {width:g} {height:g}"
    size: dict[str, Any] = {"viewBox": box, "width": f"{width:g}", "height": f"{height:g}"}
    return el("svg", *said, *shapes, role="img", class_=name, **size)


def decoration(width: float, height: float, *shapes: Html, name: str | None = None) -> Html:
    """An SVG beside which the same is said in words, stretched to the width there is."""
    box = f"0 0 {width:g} {height:g}"
    size: dict[str, Any] = {"viewBox": box, "width": f"{width:g}", "height": f"{height:g}"}
    size["preserveAspectRatio"] = "none"
    return el("svg", *shapes, aria_hidden="true", class_=name, **size)


def rect(x: float, y: float, width: float, height: float, name: str, **more: Any) -> Html:
    """A rectangle of a class of the style sheet."""
    place = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{width:g}", "height": f"{height:g}"}
    return el("rect", **place, class_=name, **more)


def line(x1: float, y1: float, x2: float, y2: float, name: str) -> Html:
    """A straight line."""
    ends = {"x1": f"{x1:g}", "y1": f"{y1:g}", "x2": f"{x2:g}", "y2": f"{y2:g}"}
    return el("line", **ends, class_=name)


def label(x: float, y: float, words: str, name: str) -> Html:
    """Text in a picture."""
    return el("text", words, x=f"{x:g}", y=f"{y:g}", class_=name)
