"""Names mistakes by what was seen, where no variant of the definition shows them.

A rule reads a verdict's message: its key, the text of an exception, the case it came from. The
first rule that fits names the mistake.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.mistakes.rules import FOLLOWS, RULES, VALUES, Rule
from grader.model import Message, Outcome, Verdict


def name_seen(verdict: Verdict, verdicts: Sequence[Verdict], statements: str = "") -> str | None:
    """The mistake that a failed verdict is a sign of, among the verdicts of one file."""
    if verdict.outcome is not Outcome.FAILED or verdict.mistake is not None:
        return verdict.mistake
    if _is_half_checked(verdict, verdicts):
        return "divisibility-check-incomplete"
    rules = (rule for rule in RULES if rule.fits(verdict, statements))
    found = next((r.mistake for r in rules if _is_alone(r, verdicts)), None)
    return found or _name_form(verdict)


def name_what_follows(verdict: Verdict, named: set[str]) -> str | None:
    """The mistake that this one is no more than a consequence of, or the one it has."""
    if verdict.outcome is not Outcome.FAILED or verdict.message is None:
        return verdict.mistake
    key = verdict.message.key
    for root, (mistakes, keys) in FOLLOWS.items():
        weaker = any(
            re.fullmatch(mistakes, name)
            for name in (verdict.mistake or " ", f"{verdict.mistake} {verdict.case}")
        )
        said = any(re.fullmatch(keys, signs) for signs in (key, f"{key} {verdict.case}"))
        nameless = verdict.mistake is None and said
        if root in named and (weaker or nameless):
            return root
    return verdict.mistake


def _is_half_checked(verdict: Verdict, verdicts: Sequence[Verdict]) -> bool:
    """True where other sizes that do not divide are refused as they should be."""
    key = verdict.message.key if verdict.message else ""
    if not key.startswith("divisibility.") or key == "divisibility.other-exception":
        return False
    return any(v.case.startswith("indivisible") and v.outcome is Outcome.PASSED for v in verdicts)


def _name_form(verdict: Verdict) -> str | None:
    """A mask of one form among many: refused, or taken for something else."""
    if verdict.message is None or verdict.message.key != "mask.form":
        return None
    inner = verdict.message.fields.get("inner")
    taken = isinstance(inner, Message) and inner.key.startswith("values.")
    return "mask-form-misread" if taken else "mask-form-refused"


def is_alike(verdict: Verdict) -> bool:
    """True for a failure of values, or an exception: what many mistakes look like."""
    message = verdict.message
    if verdict.outcome is not Outcome.FAILED or message is None:
        return False
    inner = message.fields.get("inner")
    key = inner.key if message.key == "mask.form" and isinstance(inner, Message) else message.key
    return bool(re.fullmatch(VALUES + r"|dropout\.elsewhere", key))


def _is_alone(rule: Rule, verdicts: Sequence[Verdict]) -> bool:
    """True where all that fails in this way are cases of the rule's own kind, if that matters."""
    if not rule.case or not rule.alone:
        return True
    allowed = re.compile(f"{rule.case}|{rule.among}" if rule.among else rule.case)
    if rule.mistake == "exp-overflow":
        # Values that are only wrong, by a mistake that is known, are no overflow.
        verdicts = [v for v in verdicts if v.message and re.search(rule.key, v.message.key)]
    return all(not v.mistake and allowed.search(v.case) for v in verdicts if is_alike(v))
