"""A case as a row in somebody else's table: its points, and all that there is to say about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.clean import clean
from grader.model import Graded, Message, NamedMistake, Report, Verdict
from grader.reports.failures import HINTS
from grader.reports.view import View
from grader.texts import Texts, load_pages

MAX_NAME = 200


@dataclass(frozen=True)
class Row:
    """One verdict in words: `sentence` is "" where it simply passed; `line` is 0 for none.

    `notes` say which mistake it is, where, and as many hints as the reader is to get.
    """

    verdict: Verdict
    area: str
    sentence: str
    notes: tuple[str, ...]
    line: int

    @property
    def text(self) -> str:
        """Everything, a line each."""
        return "\n".join(filter(None, (self.sentence, *self.notes)))


def rows(report: Report, texts: Texts, view: View) -> Iterator[Row]:
    """A row for each verdict, in the report's order."""
    found = {m.mistake: m for m in report.diagnosis.mistakes}
    for verdict in report.verdicts:
        mistake = found.get(verdict.mistake or "")
        yield Row(
            verdict,
            texts(f"area.{verdict.area}"),
            texts.say(verdict.message) if verdict.message else "",
            tuple(_note(report, verdict, mistake, texts, view)),
            _line(verdict, mistake),
        )


def _note(
    report: Report, verdict: Verdict, mistake: NamedMistake | None, texts: Texts, view: View
) -> Iterator[str]:
    if mistake:
        name = mistake.mistake
        if mistake.line:
            name = texts("mistake-line", name=name, line=mistake.line)
        yield texts("mistake-said", name=name, said=texts(f"mistake.{mistake.mistake}"))
    for departure in report.diagnosis.departures:
        if departure.case == verdict.case:
            yield texts.say(departure.message)
    if mistake:
        page = load_pages(texts.language).get(mistake.mistake, {})
        for part in HINTS[: view.hints]:
            if part in page:
                yield texts(f"label.{part}", text=page[part])


def _line(verdict: Verdict, mistake: NamedMistake | None) -> int:
    if mistake and mistake.line:
        return mistake.line
    line = verdict.message.fields.get("line") if verdict.message else None
    return line if isinstance(line, int) else 0


def is_trouble(message: Message | None) -> bool:
    """True where the probe did not come back: an exception, a time limit, a death."""
    if message is None:
        return False
    inner = message.fields.get("inner")
    return message.key.startswith("trouble.") or (isinstance(inner, Message) and is_trouble(inner))


def name_of(graded: Graded) -> str:
    """The student, and which try it was from the second on."""
    student = clean(graded.student, MAX_NAME)
    return student if graded.attempt == 1 else f"{student} ({graded.attempt})"


def file_of(report: Report) -> str:
    """The path of the submission, safe to print."""
    return clean(report.submission.path, MAX_NAME)
