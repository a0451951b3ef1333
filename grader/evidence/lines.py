"""The lines of a file that its report speaks of, with a few around each."""

from __future__ import annotations

from collections.abc import Iterator

from grader.clean import clean
from grader.model import Message, Report

AROUND = 3
MOST, WIDEST = 160, 200
# Fields of messages that are lines of the file.
LINES = ("line", "scores", "made")


def lines_of(report: Report) -> tuple[tuple[int, str], ...]:
    """(number, text) of each, in order; what cannot be shown in a text is shown by its code."""
    wanted = {near for line in spoken_of(report) for near in around(line)}
    source = report.submission.source.removesuffix("\n").split("\n")
    kept = sorted(number for number in wanted if number <= len(source))[:MOST]
    return tuple((number, _show(source[number - 1])) for number in kept)


def around(line: int) -> range:
    """The numbers of this line and its neighbours."""
    return range(max(1, line - AROUND), line + AROUND + 1)


def spoken_of(report: Report) -> Iterator[int]:
    """Every line that the report names, what matters most first."""
    found = report.diagnosis
    yield from (mistake.line for mistake in found.mistakes if mistake.line)
    yield from (line for departure in found.departures for line in _lines(departure.message))
    messages = [verdict.message for verdict in report.verdicts] + [report.refusal]
    yield from (line for message in messages if message for line in _lines(message))


def _lines(message: Message) -> Iterator[int]:
    for name, value in message.fields.items():
        if isinstance(value, Message):
            yield from _lines(value)
        elif name in LINES and isinstance(value, int) and value > 0:
            yield value


def _show(text: str) -> str:
    return clean(text.expandtabs(4).rstrip(), WIDEST)
