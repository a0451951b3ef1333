"""What a student may see of a report: of hidden cases no more than their points together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from grader.exports.hidden import divide, fold, row_of
from grader.exports.sight import Sight, Visibility
from grader.model import Diagnosis, Message, NamedMistake, Outcome, Printed, Report, Verdict
from grader.model.evidence import Evidence
from grader.questions import load_questions

# Messages that say what an outcome means, and nothing about inputs or values.
BARE = ("skipped.", "not-offered.")


def for_students(report: Report, visibility: Visibility, now: datetime) -> Report:
    """The report without what is hidden: same score, same `all_passed`, no seed.

    What a person may want to look at (`flags`) is for that person. Hidden cases are folded into one
    row. What the file printed goes with them, since it may have
    printed their inputs.
    """
    sights = {verdict.case: visibility.of(verdict, now) for verdict in report.verdicts}
    hidden = [v for v in report.verdicts if sights[v.case] is Sight.HIDDEN]
    if all(sight is Sight.VISIBLE for sight in sights.values()):
        return replace(report, seed=None, flags=())
    return replace(
        report,
        seed=None,
        flags=(),
        verdicts=(*_show(report, sights), *fold(hidden)),
        areas=divide(report, hidden),
        diagnosis=_diagnose(report, sights),
        follow_ups=tuple(_ask(report, sights)),
        printed=Printed("", 0),
        evidence=_cut(report, sights),
    )


def _cut(report: Report, sights: Mapping[str, Sight]) -> Evidence | None:
    """Lines and pictures, unless a case that is not shown in full has failed: they might say why.

    The problem that pictures are of is no case of any bank, and the same in each run.
    """
    secret = _failed(report, sights, Sight.HIDDEN, Sight.NAME_ONLY)
    return None if secret else report.evidence


def _show(report: Report, sights: Mapping[str, Sight]) -> Iterator[Verdict]:
    hidden = {v.case: row_of(v) for v in report.verdicts if sights[v.case] is Sight.HIDDEN}
    secret = {v.mistake for v in report.verdicts} - _mistakes(report, sights)
    for verdict in report.verdicts:
        if verdict.case in hidden:
            continue
        message = verdict.message
        if message and message.key == "skipped.after":
            root = message.fields["case"]
            message = Message(message.key, {"case": hidden.get(root, root)})
        if sights[verdict.case] is Sight.NAME_ONLY:
            if message and not message.key.startswith(BARE):
                message = Message("hidden.message")
            yield replace(verdict, message=message, mistake=None)
        elif message and message.key == "followed" and message.fields.get("mistake") in secret:
            # The mistake is known from a hidden case; that it is not all right is said there.
            yield replace(verdict, message=None)
        else:
            yield replace(verdict, message=message)


def _failed(report: Report, sights: Mapping[str, Sight], *allowed: Sight) -> list[Verdict]:
    failed = [v for v in report.verdicts if v.outcome is Outcome.FAILED]
    return [v for v in failed if sights[v.case] in allowed]


def _mistakes(report: Report, sights: Mapping[str, Sight]) -> set[str | None]:
    return {v.mistake for v in _failed(report, sights, Sight.VISIBLE)}


def _diagnose(report: Report, sights: Mapping[str, Sight]) -> Diagnosis:
    """What the visible cases alone would say."""
    found = report.diagnosis
    departures = tuple(d for d in found.departures if sights.get(d.case) is Sight.VISIBLE)
    mistakes = []
    for mistake in found.mistakes:
        group = [v for v in _failed(report, sights, Sight.VISIBLE) if v.case in mistake.cases]
        if group:
            lines = [d.line for d in departures if d.case in mistake.cases]
            lines += [v.message.fields["line"] for v in group if v.message and _has_line(v.message)]
            line = next(iter(lines), None)
            mistakes.append(NamedMistake(mistake.mistake, line, tuple(v.case for v in group)))
    return Diagnosis(tuple(mistakes), departures, found.walk)


def _has_line(message: Message) -> bool:
    return bool(message.fields.get("line"))


def _ask(report: Report, sights: Mapping[str, Sight]) -> Iterator[str]:
    """The follow-ups but those that hidden cases may have led to."""
    known = _labels(_failed(report, sights, Sight.VISIBLE))
    secret = _labels(_failed(report, sights, *Sight)) - known
    questions = load_questions("en")
    for name in report.follow_ups:
        after = set(questions[name].after)
        # A question about a mistake that students see may stay, whatever else would lead to it.
        if after.isdisjoint(secret) or any(one.startswith("mistake:") for one in after & known):
            yield name


def _labels(verdicts: Sequence[Verdict]) -> set[str]:
    mistakes = {f"mistake:{v.mistake}" for v in verdicts if v.mistake}
    return mistakes | {f"area:{v.area}" for v in verdicts}
