"""JSON: one object for one report, on one line; docs/report.md describes every field."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grader import __version__
from grader.clean import clean
from grader.model import Message, Report
from grader.questions import load_questions
from grader.reports.view import PLAIN, View
from grader.texts import Texts, load_pages

if TYPE_CHECKING:
    from grader.model.evidence import Evidence

SCHEMA = 1
# Half characters, as in file names that are not UTF-8: strict readers refuse them.
LONE = re.compile("[\ud800-\udfff]")
MAX_PATH = 4096


def render(report: Report, texts: Texts, view: View = PLAIN) -> str:
    """The whole report; sentences in the language of `texts`, keys and values as they are."""
    return to_json(describe(report, texts, view)) + "\n"


def to_json(data: Any, indent: int | None = None) -> str:
    """JSON that every reader takes: no NaN, no half characters.

    In ASCII, so that no terminal's encoding can spoil it.
    """
    return json.dumps(_mend(data), allow_nan=False, indent=indent)


def _mend(value: Any) -> Any:
    if isinstance(value, str):
        return LONE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_mend(key): _mend(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mend(item) for item in value]
    return value


def describe(report: Report, texts: Texts, view: View = PLAIN) -> dict[str, Any]:
    """The report as plain data."""
    return {
        "schema": SCHEMA,
        "grader": __version__,
        "submission": {
            "path": clean(report.submission.path, MAX_PATH),
            "sha256": report.submission.sha256,
        },
        "exercise": report.exercise or None,
        "bank": report.bank or None,
        "seed": report.seed,
        "score": report.score,
        "max_score": report.max_score,
        "passed": report.all_passed,
        "refusal": None if report.refusal is None else _say(report.refusal, texts),
        "isolation": {
            "level": report.isolation.level,
            "layers": list(report.isolation.layers),
            "missing": list(report.isolation.missing),
            "text": texts(f"isolation.{report.isolation.level}"),
        },
        "convention": [_say(message, texts) for message in report.convention],
        "areas": [
            {"area": area, "points": report.earned(area), "max_points": report.available(area)}
            for area in report.areas
        ],
        "verdicts": [
            {
                "case": verdict.case,
                "area": verdict.area,
                "outcome": verdict.outcome.value,
                "points": verdict.points,
                "max_points": verdict.max_points,
                "message": None if verdict.message is None else _say(verdict.message, texts),
                "mistake": verdict.mistake,
            }
            for verdict in report.verdicts
        ],
        "diagnosis": _diagnose(report, texts),
        "follow_ups": [_ask(name, texts, view) for name in report.follow_ups],
        "flags": [{"word": word, "line": line} for word, line in report.flags],
        "evidence": None if report.evidence is None else _show(report.evidence),
        "printed": {"text": report.printed.text, "bytes": report.printed.size},
        "environment": dict(report.environment),
        "seconds": round(report.seconds, 3),
    }


def _show(evidence: Evidence) -> dict[str, Any]:
    seen = evidence.attention
    return {
        "lines": [{"line": line, "text": text} for line, text in evidence.lines],
        "attention": None if seen is None else seen._asdict(),
        "gradients": [slope._asdict() for slope in evidence.gradients],
        "allowed": evidence.allowed,
    }


def _ask(name: str, texts: Texts, view: View) -> dict[str, Any]:
    question = load_questions(texts.language)[name]
    asked: dict[str, Any] = {"id": name, "question": question.question, "level": question.level}
    if view.answers:
        asked |= {"points": list(question.points), "trap": question.trap}
    return asked


def _diagnose(report: Report, texts: Texts) -> dict[str, Any]:
    found = report.diagnosis
    departures = [
        {"line": d.line, "case": d.case, **_say(d.message, texts)} for d in found.departures
    ]
    return {
        "mistakes": [
            {
                "id": mistake.mistake,
                "line": mistake.line,
                "alternatives": list(mistake.alternatives),
                "cases": list(mistake.cases),
                "what": texts(f"mistake.{mistake.mistake}"),
                "page": dict(load_pages(texts.language).get(mistake.mistake, {})),
            }
            for mistake in found.mistakes
        ],
        "departure": next(iter(departures), None),
        "departures": departures,
        "walk": [dataclasses.asdict(stride) for stride in found.walk],
    }


def _say(message: Message, texts: Texts) -> dict[str, Any]:
    fields = {
        name: _say(value, texts) if isinstance(value, Message) else value
        for name, value in message.fields.items()
    }
    return {"key": message.key, "text": texts.say(message), "fields": fields}
