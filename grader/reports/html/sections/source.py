"""Lines of the candidate's file, one of them marked."""

from __future__ import annotations

import textwrap

from grader.model import Message, Report
from grader.reports.html.element import Html, el, join
from grader.reports.html.page import scroll
from grader.texts import Texts

AROUND = 3


def write_source(report: Report, line: int | None, texts: Texts) -> Html:
    """The line with its neighbours, as far as the report has them."""
    known = dict(report.evidence.lines) if report.evidence else {}
    if line is None or line not in known:
        return join()
    near = [number for number in range(line - AROUND, line + AROUND + 1) if number in known]
    # Further left, since phones are narrow.
    shown = textwrap.dedent("\n".join(known[number] for number in near)).split("\n")
    rows = [_write_line(at, words, at == line) for at, words in zip(near, shown)]
    label = texts("html.line", line=line)
    return scroll(label, el("pre", el("code", *rows), class_="source"))


def _write_line(number: int, words: str, is_meant: bool) -> Html:
    shown = join(el("span", str(number), class_="number"), words or " ")
    return el("mark" if is_meant else "span", shown, class_="line")


def line_of(message: Message | None) -> int | None:
    """The line that a message names, its own or that of one within it."""
    if message is None:
        return None
    line = message.fields.get("line")
    inner = message.fields.get("inner")
    if isinstance(line, int):
        return line
    return line_of(inner) if isinstance(inner, Message) else None
