"""A mistake's page, as a linter explains a rule, and the index of all pages."""

from __future__ import annotations

from grader.errors import UsageError
from grader.reports.columns import columns, pad, wrap
from grader.texts import Texts, load_pages

PARTS = ("what", "why", "hint", "pointer", "fix")


def render_page(mistake: str, texts: Texts) -> str:
    """What it is, why it matters, a hint, where to look, the idea of the fix.

    Raises UsageError for a mistake that has no page.
    """
    pages = load_pages(texts.language)
    if mistake not in pages:
        raise UsageError("explain.unknown", wanted=mistake)
    lines = [texts("mistake-said", name=mistake, said=texts(f"mistake.{mistake}")), ""]
    for part in PARTS:
        lines += [*wrap(texts(f"label.{part}", text=pages[mistake][part]), "  ", "  "), ""]
    return "\n".join(lines)


def render_index(texts: Texts) -> str:
    """Every mistake with its one line."""
    names = sorted(load_pages(texts.language))
    width = max(columns(name) for name in names)
    lines = [f"  {pad(name, width)}  " + texts(f"mistake.{name}") for name in names]
    return "\n".join([texts("explain.title"), *lines]) + "\n"
