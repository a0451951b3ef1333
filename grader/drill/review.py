"""What an interviewer would write: marks by a rubric, and a recommendation with its reason.

Everything follows from the facts, so the same drill always gets the same review.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.drill.clock import write_seconds
from grader.drill.facts import Facts
from grader.model import Message

# Areas that show whether somebody thinks of what a first example does not have, and of numbers.
EDGES = ("divisibility", "shapes", "all-masked-rows", "non-contiguous", "dropout", "state")
CARE = ("scaling", "causal-mask", "padding-mask", "combined-masks", "mixed-precision", "gradients")
AREAS = {"edges": EDGES, "care": CARE}
# From the best mark down; a mark below these is 0.
SCORES = (100.0, 90.0, 60.0)
SHARES = (1.0, 0.8, 0.5)
QUICK = 2 / 3
NEARLY = 80.0
FEW_NUDGES = 2
BEST = 3
RECOMMENDATIONS = ("no", "lean-no", "yes", "strong-yes")


@dataclass(frozen=True)
class Mark:
    """One line of the rubric: what, a mark from 0 to 3, and the sentence."""

    what: str
    grade: int
    said: Message


@dataclass(frozen=True)
class Review:
    """The facts, the rubric, and what follows: no, lean-no, yes or strong-yes, and why."""

    facts: Facts
    marks: tuple[Mark, ...]
    recommendation: str
    reason: Message


def write_review(facts: Facts) -> Review:
    """The review of a drill that has ended."""
    grades = {what: grade for what, grade in _grades(facts).items() if grade is not None}
    marks = tuple(Mark(what, grade, _say(what, grade, facts)) for what, grade in grades.items())
    recommendation = recommend(grades)
    # What held it back most; of equals, what the rubric asks first.
    weakest = min(grades, key=lambda what: grades[what])
    reason = "nothing" if grades[weakest] == BEST else weakest
    return Review(facts, marks, recommendation, Message(f"drill.reason.{reason}"))


def recommend(grades: Mapping[str, int]) -> str:
    """From the marks: hired with or without doubt, or not."""
    correctness = grades["correctness"]
    if correctness == BEST and sum(BEST - grade for grade in grades.values()) <= 1:
        return "strong-yes"
    if correctness >= 2 and min(grades.values()) >= 1:
        return "yes"
    return "lean-no" if correctness >= 1 else "no"


def _grades(facts: Facts) -> dict[str, int | None]:
    return {
        "correctness": BEST if facts.passed else min(_rank(facts.score, SCORES), BEST - 1),
        "time": _grade_time(facts),
        "edges": _grade_areas(facts, EDGES),
        "care": _grade_areas(facts, CARE),
        "independence": _grade_independence(facts),
    }


def _say(what: str, grade: int, facts: Facts) -> Message:
    fields = _fields(facts) | {"areas": _list_lost(what, facts)}
    return Message(_choose_words(what, grade, facts), fields)


def _choose_words(what: str, grade: int, facts: Facts) -> str:
    """The key of a mark's sentence."""
    if what == "correctness" and not facts.runs_code:
        # What is right is said in other words of a sheet or a talk than of code.
        return f"drill.review.{facts.kind}.{grade}"
    if what == "time" and not facts.in_time:
        missed = "over" if facts.is_over else "early"
        return f"drill.review.time.{'late' if facts.passed else missed}"
    return f"drill.review.{what}.{grade}"


def _list_lost(what: str, facts: Facts) -> Message | None:
    """The areas of a mark that lost points, the worst first."""
    lost = [area for area in AREAS.get(what, ()) if facts.shares.get(area, 1.0) < 1.0]
    said: Message | None = None
    for area in sorted(lost, key=lambda area: facts.shares[area], reverse=True):
        more = {} if said is None else {"more": said}
        said = Message("drill.review.areas" if more else "drill.review.area", {"area": area} | more)
    return said


def _grade_time(facts: Facts) -> int:
    if facts.in_time and facts.passed_after is not None:
        return BEST if facts.passed_after <= facts.minutes * 60 * QUICK else 2
    return 1 if facts.passed or facts.score_in_time >= NEARLY else 0


def _grade_areas(facts: Facts, areas: tuple[str, ...]) -> int | None:
    shares = [facts.shares[area] for area in areas if area in facts.shares]
    return _rank(sum(shares) / len(shares), SHARES) if shares else None


def _grade_independence(facts: Facts) -> int:
    if facts.hints.get("fix"):
        return 0
    if facts.hints.get("pointer") or facts.looked_up:
        return 1
    nudges = facts.hints.get("hint", 0)
    return BEST if not nudges else 2 if nudges <= FEW_NUDGES else 1


def _rank(value: float, steps: tuple[float, ...]) -> int:
    """How many of the steps are reached."""
    return sum(value >= step - 1e-9 for step in steps)


def _fields(facts: Facts) -> dict[str, object]:
    help_ = Message(
        "drill.review.help" if facts.looked_up else "drill.review.help-hints",
        {"hints": facts.hint_count, "looked": facts.looked_up},
    )
    return {
        "help": help_,
        "score": facts.score,
        "score_in_time": facts.score_in_time,
        "spent": write_seconds(facts.spent),
        "passed_after": write_seconds(facts.passed_after or 0.0),
        "minutes": facts.minutes,
    }
