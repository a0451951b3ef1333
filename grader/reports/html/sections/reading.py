"""How the file was read, what was not judged, and what a person may want to look at."""

from __future__ import annotations

from collections import Counter

from grader.model import Outcome, Report
from grader.reports.html.element import Html, el, join
from grader.reports.html.page import section
from grader.texts import Texts


def write_convention(report: Report, texts: Texts) -> Html:
    """What was chosen or found out about the file."""
    items = (el("li", texts.say(message)) for message in report.convention)
    listed = el("ul", *items, class_="plain panel")
    return section(texts("heading.convention"), listed)


def write_spared(report: Report, texts: Texts) -> Html:
    """What does not apply to this file, by reason."""
    spared = [v for v in report.verdicts if v.outcome is Outcome.NOT_APPLICABLE and v.message]
    if not spared:
        return join()
    reasons = Counter(texts.say(v.message) for v in spared if v.message)
    said = [texts("not-offered.group", reason=r, count=count) for r, count in reasons.items()]
    listed = el("ul", *(el("li", one) for one in said), class_="plain panel")
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
