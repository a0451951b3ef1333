"""Lines of a file to be, and functions made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from grader.drill.styles.style import Style

WIDTH = 100
INDENT = "    "


@dataclass(frozen=True)
class Line:
    """One line of a file; `origin` is its job, part and place there, `axes` of what it makes."""

    text: str
    origin: tuple[str, str, int] | None = None
    axes: str = ""

    def indented(self, by: str = INDENT) -> Line:
        """The same further to the right, unless it is empty."""
        return replace(self, text=by + self.text) if self.text else self


Lines = list[Line]


def as_text(lines: Iterable[Line]) -> str:
    """The file as one text."""
    return "".join(f"{line.text}\n" for line in lines)


def plain(*texts: str) -> Lines:
    """Lines that come from no piece."""
    return [Line(text) for text in texts]


def function(
    style: Style, name: str, arguments: Sequence[str], body: Lines, returned: str = ""
) -> Lines:
    """A function whose head is broken into lines where it would be too long."""
    end = f" -> {returned}:" if returned and style.manner.typed else ":"
    head = f"def {name}({', '.join(arguments)}){end}"
    heads = plain(head)
    if len(INDENT + style.fill(head)) > WIDTH:
        inner = [f"{INDENT}{one}," for one in arguments]
        heads = plain(f"def {name}(", *inner, f"){end}")
    return [*heads, *(line.indented() for line in body)]


def join(style: Style, blocks: Iterable[Lines]) -> Lines:
    """The blocks one after the other, an empty line between them where there is room."""
    found: Lines = []
    for block in blocks:
        if found and style.manner.spaced:
            found += plain("")
        found += block
    return found
