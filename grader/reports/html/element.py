"""Elements of a page. Whatever is no markup of ours is text, and is escaped where it is put in."""

from __future__ import annotations

from typing import Any

from grader.reports.escape import for_html, for_xml

# What has no end tag in HTML.
VOID = ("br", "meta")


class Html(str):
    """Markup: made here alone, so that no text of anybody's can become any."""

    __slots__ = ()


def el(name: str, /, *children: str, **attributes: Any) -> Html:
    """An element; a child that is no Html is text.

    Attributes of None or False are left out, `class_` is class, and an underscore is a hyphen.
    """
    start = f"<{name}{''.join(_attribute(*one) for one in attributes.items())}>"
    return Html(start) if name in VOID else Html(f"{start}{join(*children)}</{name}>")


def join(*children: str) -> Html:
    """Pieces one after another, texts among them escaped."""
    return Html("".join(child if isinstance(child, Html) else text(child) for child in children))


def text(words: object) -> Html:
    """Words as markup that shows exactly these words."""
    return Html(for_html(for_xml(words)))


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(value)}"'
