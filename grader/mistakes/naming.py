"""Names the mistake behind each failed verdict: by its values, by its root, by what was seen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from grader.mistakes.catalogue import CATALOGUE, Mistake
from grader.mistakes.seen import name_seen
from grader.model import Contract, Exercise, Message, Outcome, Verdict

# Outcomes that a wrong mask or a wrong value brings about anywhere.
CONSEQUENCES = r"(values|dead|mask|gradient|dropout|state)\..*"
# What is read off values that are wrong already says nothing of its own.
BY_VALUES = (
    r"mask\..*|dead\.(output|not-zero)"
    r"|dropout\.(?!no-argument|on-in-eval|differs-in-eval|never-on|repeats).*"
)
# A projection that is not used gets no gradient.
IDLE = ("gradient.missing", "state.idle-parameter")


def name_mistakes(
    exercise: Exercise, contract: Contract, judged: Iterable[Verdict]
) -> tuple[Verdict, ...]:
    """The verdicts with a mistake named wherever what was seen names one.

    What a known mistake is charged with stands under it, whatever else it looks like; so does
    what goes wrong under a mask, where the mistake is one of masks.
    """
    verdicts = list(judged)
    roots = [CATALOGUE[v.mistake] for v in verdicts if v.mistake in CATALOGUE]
    masked = {
        case.id
        for case in exercise.cases
        if contract.causal or {"mask", "masks", "forms"} & set(case.args)
    }
    for at, verdict in enumerate(verdicts):
        if verdict.outcome is Outcome.FAILED and not verdict.mistake:
            root = next((r.id for r in roots if _follows(verdict, r, masked)), None)
            verdicts[at] = replace(verdict, mistake=root)
    named = [replace(v, mistake=name_seen(v, verdicts)) for v in verdicts]
    if any(v.mistake == "gradient-cut" for v in named):
        # What gets no gradient because the way back is cut is not therefore unused.
        return tuple(
            replace(v, mistake="gradient-cut") if v.mistake == "parameter-unused" else v
            for v in named
        )
    return tuple(named)


def _follows(verdict: Verdict, root: Mistake, masked: set[str]) -> bool:
    message = verdict.message
    if message is None or not re.fullmatch(CONSEQUENCES, message.key):
        return False
    inner = message.fields.get("inner")
    if isinstance(inner, Message) and inner.key == "values.not-finite-dead":
        return False
    if verdict.area in root.areas:
        return True
    if {"weights", "project"} & set(root.steps) and message.key in IDLE:
        return True
    if root.is_structural:
        return bool(re.fullmatch(BY_VALUES, message.key))
    return verdict.case in masked
