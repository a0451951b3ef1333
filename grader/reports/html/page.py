"""The page around a report: one file that needs nothing else, no network and no script."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.reports.html.element import Html, el, join

STYLE = Path(__file__).with_name("style.css")
LANGUAGES = {"zh": "zh-Hans"}


def write_page(title: str, language: str, body: Iterable[Html]) -> Iterator[str]:
    """The document, piece by piece."""
    yield "<!DOCTYPE html>\n"
    yield f'<html lang="{LANGUAGES.get(language, language)}">\n'
    yield el("head", *_head(title)) + "\n<body>\n"
    yield from body
    yield "</body>\n</html>\n"


def _head(title: str) -> Iterator[Html]:
    yield el("meta", charset="utf-8")
    yield el("meta", http_equiv="Content-Security-Policy", content=_policy())
    yield el("meta", name="viewport", content="width=device-width, initial-scale=1")
    yield el("meta", name="color-scheme", content="light dark")
    yield el("meta", name="referrer", content="no-referrer")
    yield el("title", title)
    yield Html(f"<style>{style()}</style>")


def _policy() -> str:
    """Nothing may be loaded or run, and no style but our own counts."""
    own = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{own}'; base-uri 'none'; form-action 'none'"


@functools.cache
def style() -> str:
    """The style sheet of every page."""
    return STYLE.read_text(encoding="utf-8")


def scroll(label: str, *children: str) -> Html:
    """What may be wider than a phone: it scrolls by itself, by keyboard too."""
    return el("div", *children, class_="scroll", role="region", aria_label=label, tabindex="0")


def section(title: str, *children: str, name: str | None = None) -> Html:
    """A part of the page under a heading of its own."""
    return join(el("section", el("h2", title), *children, class_=name), Html("\n"))


def table(heads: Iterable[str], rows: Iterable[Html], name: str | None = None) -> Html:
    """A table with one row of headings; a column without a title has an empty cell above it."""
    top = (el("th", head, scope="col") if head else el("td") for head in heads)
    return el("table", el("thead", el("tr", *top)), el("tbody", *rows), class_=name)


def row(*cells: str, head: int | None = None, name: str | None = None) -> Html:
    """A row of a table; cell number `head` is what the row is about."""
    made = (
        el("th", cell, scope="row") if at == head else el("td", cell)
        for at, cell in enumerate(cells)
    )
    return el("tr", *made, class_=name)
