"""A report as plain data and back, without loss: facts travel, sentences are written on arrival."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grader.model.candidate import Submission
from grader.model.evidence import Attention, Evidence, Slope
from grader.model.report import (
    Departure,
    Diagnosis,
    Isolation,
    Message,
    NamedMistake,
    Outcome,
    Printed,
    Report,
    Stride,
    Verdict,
)

# Of a report's fields, those that are plain data already.
PLAIN = ("exercise", "seed", "seconds", "bank")
# What a field that is itself a message is marked by.
NESTED = "message"
ISOLATION = ("level", "layers", "missing")


def dump(report: Report) -> dict[str, Any]:
    """Plain data that JSON can hold; the source text is left to whoever has the file."""
    found = report.diagnosis
    return {name: getattr(report, name) for name in PLAIN} | {
        "submission": [report.submission.path, report.submission.sha256],
        "verdicts": [
            [v.case, v.area, v.outcome.value, v.points, v.max_points, _dump(v.message), v.mistake]
            for v in report.verdicts
        ],
        "areas": dict(report.areas),
        "convention": [_dump(message) for message in report.convention],
        "isolation": [getattr(report.isolation, name) for name in ISOLATION],
        "environment": dict(report.environment),
        "printed": [report.printed.text, report.printed.size],
        "refusal": _dump(report.refusal),
        "mistakes": [
            [m.mistake, m.line, list(m.cases), list(m.alternatives)] for m in found.mistakes
        ],
        "departures": [[d.line, _dump(d.message), d.case] for d in found.departures],
        "walk": [[s.line, s.name, s.operation, s.shape, s.what] for s in found.walk],
        "follow_ups": list(report.follow_ups),
        "flags": [list(flag) for flag in report.flags],
        "evidence": _dump_evidence(report.evidence),
    }


def load(data: Mapping[str, Any], source: str = "") -> Report:
    """The report that `dump` was given, with this source text."""
    path, sha256 = data["submission"]
    level, layers, missing = data["isolation"]
    return Report(
        **{name: data[name] for name in PLAIN},
        submission=Submission(path, source, sha256),
        verdicts=tuple(_load_verdict(*row) for row in data["verdicts"]),
        areas=dict(data["areas"]),
        convention=tuple(_load_known(message) for message in data["convention"]),
        isolation=Isolation(level, tuple(layers), tuple(missing)),
        environment=dict(data["environment"]),
        printed=Printed(*data["printed"]),
        refusal=_load(data["refusal"]),
        diagnosis=Diagnosis(
            tuple(_load_mistake(*row) for row in data["mistakes"]),
            tuple(Departure(line, _load_known(m), case) for line, m, case in data["departures"]),
            tuple(Stride(*row) for row in data["walk"]),
        ),
        follow_ups=tuple(data["follow_ups"]),
        flags=tuple((word, line) for word, line in data["flags"]),
        # Older results have none.
        evidence=_load_evidence(data.get("evidence")),
    )


def _dump_evidence(evidence: Evidence | None) -> dict[str, Any] | None:
    if evidence is None:
        return None
    seen = evidence.attention
    return evidence._asdict() | {
        "attention": None if seen is None else seen._asdict(),
        "gradients": [slope._asdict() for slope in evidence.gradients],
    }


def _load_mistake(
    mistake: str, line: int | None, cases: list[str], alternatives: Sequence[str] = ()
) -> NamedMistake:
    return NamedMistake(mistake, line, tuple(cases), tuple(alternatives))


def _load_evidence(data: Any) -> Evidence | None:
    if data is None:
        return None
    seen = data["attention"]
    return Evidence(
        _freeze(data["lines"]),
        None if seen is None else Attention(**{name: _freeze(seen[name]) for name in seen}),
        tuple(Slope(**slope) for slope in data["gradients"]),
        data["allowed"],
    )


def _freeze(data: Any) -> Any:
    """Lists within lists as tuples."""
    return tuple(map(_freeze, data)) if isinstance(data, (list, tuple)) else data


def _load_verdict(
    case: str,
    area: str,
    outcome: str,
    points: float,
    max_points: float,
    message: Any,
    mistake: str | None,
) -> Verdict:
    return Verdict(case, area, Outcome(outcome), points, max_points, _load(message), mistake)


def _dump(message: Message | None) -> list[Any] | None:
    if message is None:
        return None
    return [message.key, {name: _dump_field(value) for name, value in message.fields.items()}]


def _dump_field(value: Any) -> Any:
    return {NESTED: _dump(value)} if isinstance(value, Message) else value


def _load(data: Any) -> Message | None:
    return None if data is None else _load_known(data)


def _load_known(data: Any) -> Message:
    key, fields = data
    return Message(key, {name: _load_field(value) for name, value in fields.items()})


def _load_field(value: Any) -> Any:
    return _load_known(value[NESTED]) if isinstance(value, dict) and NESTED in value else value
