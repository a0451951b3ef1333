"""What does not apply to a file, by reason: a sentence for each, with the number of its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from grader.model import Outcome, Report
from grader.texts import Texts

NEED = "not-offered."
# What few files offer: one sentence lists all of it.
RARE = (
    *("default-length", "head-size", "grouped", "returns-switch", "switch", "told-apart"),
    *("optional-sequences", "cache"),
)


def write_reasons(report: Report, texts: Texts) -> Iterator[str]:
    """In the order of the cases; nothing where all of them apply."""
    counts: Counter[str] = Counter()
    options: Counter[str] = Counter()
    for verdict in report.verdicts:
        message = verdict.message
        if verdict.outcome is not Outcome.NOT_APPLICABLE or message is None:
            continue
        need = message.key.removeprefix(NEED)
        if need in RARE:
            options[texts(f"option.{need}")] += 1
        else:
            counts[texts.say(message)] += 1
    if options:
        reason = texts("not-offered.options", options=texts("option.comma").join(options))
        yield texts("not-offered.group", reason=reason, count=options.total())
    for reason, count in counts.items():
        yield texts("not-offered.group", reason=reason, count=count)
