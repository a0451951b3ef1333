"""Mistakes that are named from what was seen, where no variant of the definition shows them.

A rule reads a verdict's message: its key, the text of an exception, the case it came from. The
first rule that fits names the mistake.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.model import Message, Outcome, Verdict


@dataclass(frozen=True)
class Rule:
    """One way to recognise a mistake: `key` of the message, patterns for its text and the case.

    With a pattern for the case, the mistake is meant only where nothing but such cases fails, and
    those that `among` names; unless it need not stand `alone`.
    """

    mistake: str
    key: str
    text: str = ""
    case: str = ""
    among: str = ""
    alone: bool = True

    def fits(self, verdict: Verdict) -> bool:
        """True where the verdict is a sign of the mistake."""
        message = verdict.message
        if message is None:
            return False
        # Of a mask of some form, what came of it says more.
        inner = message.fields.get("inner")
        keys = [message.key] + ([inner.key] if isinstance(inner, Message) else [])
        if not any(re.fullmatch(self.key, key) for key in keys):
            return False
        said = str(message.fields.get("text", ""))
        return bool(re.search(self.text, said) and re.search(self.case, verdict.case))


VALUES = r"values\.(differ|not-finite)|trouble\.raised|shape\.differs"

RULES = (
    Rule("not-filled-in", r"trouble\.unfilled"),
    Rule("view-on-non-contiguous", r"trouble\.raised", r"view size is not compatible"),
    Rule("fill-overflows-float16", r"trouble\.raised", r"without overflow"),
    Rule("mask-none-used", r"trouble\.raised", case=r"none$"),
    Rule(
        "state-kept", r"trouble\.raised", r"dtype|expected", case=r"^cast-after-use$", alone=False
    ),
    Rule("dtypes-mixed", r"trouble\.raised", r"dtype|scalar type|c10::"),
    Rule("divisibility-unchecked", r"divisibility\.accepted"),
    Rule("head-dim-floored", r"divisibility\.floored"),
    Rule("divisibility-checked-late", r"divisibility\.only-in-forward"),
    Rule("divisibility-asserted", r"divisibility\.other-exception"),
    Rule("nan-dead-rows", r"dead\.not-finite|dead\.weights-not-finite|values\.not-finite-dead"),
    Rule("uniform-dead-rows", r"dead\.uniform(-half)?"),
    Rule("dead-rows-not-zero", r"dead\.not-zero|dead\.output"),
    Rule("nan-dead-gradients", r"dead\.gradient-not-finite"),
    Rule("dropout-always-on", r"dropout\.on-in-eval|dropout\.differs-in-eval"),
    Rule("dropout-never-applied", r"dropout\.never-on"),
    Rule("dropout-repeats", r"dropout\.repeats"),
    Rule("dropout-not-inverted", r"dropout\.scale"),
    Rule("dropout-misplaced", r"dropout\.elsewhere|dropout\.mean"),
    Rule("dropout-shared", r"dropout\.together|dropout\.uneven"),
    Rule("dropout-rate-wrong", r"dropout\.rate"),
    Rule("dropout-argument-missing", r"dropout\.no-argument"),
    Rule("dropout-gradient-wrong", r"dropout\.slope"),
    Rule("state-kept", r"state\.kept"),
    Rule("input-changed-in-place", r"state\.input-changed"),
    Rule("parameters-not-registered", r"state\.(unregistered|no-parameters)"),
    Rule("parameter-unused", r"state\.idle-parameter"),
    Rule("extra-parameter", r"state\.extra-parameter"),
    Rule("global-switch-turned", r"state\.turned"),
    Rule("tensor-left-behind", r"state\.stays-behind"),
    Rule("ready-made-attention", r"state\.ready-made"),
    Rule("output-dtype-changed", r"dtype\.differs"),
    Rule("softmax-in-half", r"values\.imprecise"),
    Rule("weights-missing", r"shape\.not-a-pair"),
    Rule("weights-averaged", r"shape\.differs", case=r"^weights-shape$"),
    Rule("output-projection-missing", r"shape\.no-output-projection"),
    Rule("gradient-cut", r"gradient\.missing"),
    Rule("mask-form-refused", r"mask\.form"),
    Rule("future-leaks", r"mask\.future-leaks"),
    Rule("padding-leaks", r"mask\.hidden-leaks"),
    Rule("batch-squeezed", VALUES, case=r"batch-of-one"),
    Rule("length-squeezed", VALUES, case=r"^one-(token|query|key)$"),
    Rule("length-limited", VALUES, case=r"long"),
    Rule("fill-too-small", VALUES, case=r"hidden-however-large"),
    Rule(
        "exp-overflow",
        r"values\.not-finite",
        case=r"large-logits",
        among=r"large-values|hidden-however-large|masked-scores",
    ),
    Rule("wrong-cross-length", VALUES, case=r"(more-keys|more-queries|two-lengths)"),
    Rule("state-kept", VALUES, case=r"^no-state|shorter-after"),
)


def name_seen(verdict: Verdict, verdicts: Sequence[Verdict]) -> str | None:
    """The mistake that a failed verdict is a sign of, among the verdicts of one file."""
    if verdict.outcome is not Outcome.FAILED or verdict.mistake is not None:
        return verdict.mistake
    rules = (rule for rule in RULES if rule.fits(verdict))
    return next((r.mistake for r in rules if _is_alone(r, verdicts)), None)


def _is_alone(rule: Rule, verdicts: Sequence[Verdict]) -> bool:
    """True where all that fails in this way are cases of the rule's own kind, if that matters."""
    if not rule.case or not rule.alone:
        return True
    alike = [
        v
        for v in verdicts
        if v.outcome is Outcome.FAILED and v.message and re.fullmatch(VALUES, v.message.key)
    ]
    allowed = re.compile(f"{rule.case}|{rule.among}" if rule.among else rule.case)
    return all(not v.mistake and allowed.search(v.case) for v in alike)
