"""Names the mistake behind each failed verdict: by its values, by its root, by what was seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from grader.mistakes.extents import name_by_sizes
from grader.mistakes.known import CATALOGUE
from grader.mistakes.mistake import Mistake
from grader.mistakes.seen import is_alike, name_seen, name_what_follows
from grader.mistakes.statements import Statement
from grader.model import Contract, Exercise, Message, Outcome, Verdict

# Outcomes that a wrong mask or a wrong value brings about anywhere.
CONSEQUENCES = r"(values|dead|mask|gradient|dropout|state)\..*|shape\.empty"
# What is read off values that are wrong already says nothing of its own.
BY_VALUES = (
    r"mask\..*|dead\.(output|output-zero|not-zero)|shape\.empty"
    r"|dropout\.(no-output|not-finite|slope|returned)"
)
# Dropout is read back out of the output: not through a wrong step on the way there.
HIDES_DROPOUT = {"mix", "merge", "project", "finish", "softmax"}
OF_DROPOUT = tuple(
    f"dropout.{key}" for key in ("elsewhere", "mean", "rate", "scale", "together", "uneven")
)
# Named for what a mask of some form came to, not for why.
FORMS = ("mask-form-misread", "mask-form-refused")
# A projection that is not used gets no gradient.
IDLE = ("gradient.missing", "gradient.differs", "state.idle-parameter")


def name_mistakes(
    exercise: Exercise,
    contract: Contract,
    judged: Iterable[Verdict],
    statements: Sequence[Statement] = (),
    carried: Sequence[Mistake] = (),
) -> tuple[Verdict, ...]:
    """The verdicts with a mistake named wherever what was seen names one.

    Of two `carried` by the bench one may name all cases that both of them fail.
    What a known mistake is charged with stands under it, whatever else it looks like; so does
    what goes wrong under a mask, where the mistake is one of masks.
    """
    verdicts = list(judged)
    roots = [CATALOGUE[v.mistake] for v in verdicts if v.mistake in CATALOGUE] + [*carried]
    masked = {
        case.id
        for case in exercise.cases
        if contract.causal or {"mask", "masks", "forms"} & set(case.args)
    }
    for at, verdict in enumerate(verdicts):
        if verdict.outcome is Outcome.FAILED and not verdict.mistake:
            root = next((r.id for r in roots if _follows(verdict, r, masked)), None)
            verdicts[at] = replace(verdict, mistake=root)
    said = "\n".join(statement.said for statement in statements)
    seen = [_named(v, name_seen(v, verdicts, said)) for v in verdicts]
    by_sizes = name_by_sizes(exercise, verdicts)
    if by_sizes:
        seen = [replace(v, mistake=by_sizes) if _is_open(v) else v for v in seen]
    named = {v.mistake for v in seen if v.mistake}
    followed = [_named(v, name_what_follows(v, named)) for v in seen]
    raised = {_raised(v): v.mistake for v in followed if v.mistake}
    return tuple(
        replace(v, mistake=raised.get(_raised(v))) if v.mistake is None and _raised(v) else v
        for v in followed
    )


def _named(verdict: Verdict, mistake: str | None) -> Verdict:
    return verdict if mistake == verdict.mistake else replace(verdict, mistake=mistake)


def _raised(verdict: Verdict) -> tuple[object, ...] | None:
    """Where and what a case raised, if that is all there is to see: the same has one cause."""
    message = verdict.message
    inner = message.fields.get("inner") if message else None
    message = inner if isinstance(inner, Message) else message
    if verdict.outcome is not Outcome.FAILED or message is None or message.key != "trouble.raised":
        return None
    return tuple(message.fields.get(key) for key in ("phase", "type", "line", "text"))


def _is_open(verdict: Verdict) -> bool:
    """True where no name, or none that says why, was found for a failure of values."""
    return is_alike(verdict) and verdict.mistake in (None, *FORMS)


def _follows(verdict: Verdict, root: Mistake, masked: set[str]) -> bool:
    message = verdict.message
    if message is None or not re.fullmatch(CONSEQUENCES, message.key):
        return False
    inner = message.fields.get("inner")
    if isinstance(inner, Message) and inner.key == "values.not-finite-dead":
        return False
    if verdict.area in root.areas:
        return True
    if {"weights", "project", "inputs", "softmax"} & set(root.steps) and message.key in IDLE:
        return True
    if root.is_structural and HIDES_DROPOUT & set(root.steps) and message.key in OF_DROPOUT:
        return True
    if root.is_structural:
        return bool(re.fullmatch(BY_VALUES, message.key))
    return verdict.case in masked
