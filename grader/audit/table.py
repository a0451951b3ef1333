"""Audits as a plain table: what each mistake costs, and what each case is good for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from grader.audit.claims import Audit
from grader.reports.columns import columns, pad, wrap
from grader.texts import Texts


def render_audits(audits: Sequence[Audit], seed: int, texts: Texts) -> str:
    """A part for each exercise, then whether every claim holds."""
    lines = [line for audit in audits for line in _exercise(audit, texts)]
    broken = [message for audit in audits for message in audit.broken()]
    if broken:
        lines.append(texts("audit.broken"))
        for message in broken:
            lines += wrap(texts.say(message), "  * ", "    ")
    else:
        lines.append(texts("audit.holds"))
    lines += ["", texts("audit.seed", seed=seed)]
    return "\n".join(lines) + "\n"


def _exercise(audit: Audit, texts: Texts) -> Iterator[str]:
    cases, mistakes = len(audit.exercise.cases), len(audit.trials)
    exercise = audit.exercise.id
    yield texts("audit.title", exercise=exercise, cases=cases, mistakes=mistakes)
    yield ""
    yield "  " + texts("audit.answer", score=audit.answer.score)
    yield "  " + texts("audit.stub", score=audit.stub.score)
    yield ""
    yield texts("audit.heading-mistakes")
    yield from _align(_mistakes(audit, texts))
    yield ""
    yield texts("audit.heading-cases")
    yield from _align(_cases(audit, texts))
    yield ""
    yield from _section("audit.heading-single", _single(audit), texts)
    yield from _section("audit.heading-unnamed", _unnamed(audit, texts), texts)
    idle = [(case.id, case.catches) for case in audit.idle()]
    yield from _section("audit.heading-idle", idle, texts)


def _mistakes(audit: Audit, texts: Texts) -> Iterator[tuple[str, str]]:
    for name, report in audit.trials.items():
        failed, followed = len(audit.failing(name)), len(audit.following(name))
        fields = {"score": report.score, "failed": failed, "followed": followed}
        yield name, texts("audit.trial", **fields)


def _cases(audit: Audit, texts: Texts) -> Iterator[tuple[str, str]]:
    before: dict[tuple[str, ...], str] = {}
    for case in audit.exercise.cases:
        caught = tuple(audit.caught_by(case))
        if caught in before:
            yield case.id, texts("audit.same", count=len(caught), case=before[caught])
        elif caught:
            before[caught] = case.id
            yield case.id, texts("audit.caught", count=len(caught), names=", ".join(caught))


def _single(audit: Audit) -> Iterator[tuple[str, str]]:
    for name in audit.trials:
        cases = audit.failing(name)
        if len(cases) == 1:
            yield name, cases[0]


def _unnamed(audit: Audit, texts: Texts) -> Iterator[tuple[str, str]]:
    for name in audit.trials:
        given = audit.names(name)
        if given != [name]:
            yield name, ", ".join(given) or texts("audit.no-name")


def _section(heading: str, rows: Iterable[tuple[str, str]], texts: Texts) -> Iterator[str]:
    """A heading with the number of its rows, and the rows; nothing where there are none."""
    found = list(rows)
    if found:
        yield texts(heading, count=len(found))
        yield from _align(found)
        yield ""


def _align(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    found = list(rows)
    width = max((columns(name) for name, _ in found), default=0)
    for name, text in found:
        yield from wrap(text, f"  {pad(name, width)}  ", " " * (width + 4))
