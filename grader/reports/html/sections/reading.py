"""How the file was read, what was not judged, and what a person may want to look at."""

from __future__ import annotations

from grader.model import Report
from grader.reports.html.element import Html, el, join
from grader.reports.html.page import section
from grader.reports.spared import write_reasons
from grader.texts import Texts


def write_convention(report: Report, texts: Texts) -> Html:
    """What was chosen or found out about the file."""
    items = (el("li", texts.say(message)) for message in report.convention)
    listed = el("ul", *items, class_="plain panel")
    return section(texts("heading.convention"), listed)


def write_spared(report: Report, texts: Texts) -> Html:
    """What does not apply to this file, by reason."""
    reasons = list(write_reasons(report, texts))
    if not reasons:
        return join()
    listed = el("ul", *(el("li", one) for one in reasons), class_="plain panel")
    return section(texts("heading.not-offered"), listed)


def write_flags(report: Report, texts: Texts) -> Html:
    """Words of the source for a person to look at."""
    if not report.flags:
        return join()
    items = (el("li", texts("flag", word=word, line=line)) for word, line in report.flags)
    return section(texts("heading.flags"), el("ul", *items, class_="plain panel"))


def write_printed(report: Report, texts: Texts) -> Html:
    """The first part of what the file's code printed."""
    if not report.printed.size:
        return join()
    shown = el("pre", report.printed.text, class_="panel printed")
    return section(texts("heading.printed", size=report.printed.size), shown)
