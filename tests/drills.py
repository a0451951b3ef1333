"""A drill at hand: stores of its own, a clock that is set, and texts worth a known score."""

import hashlib
from dataclasses import replace
from pathlib import Path

from grader.drill.begin import Wish, begin
from grader.drill.desk import Desk
from grader.drill.warm import Warm
from grader.model import (
    Diagnosis,
    Isolation,
    Message,
    NamedMistake,
    Outcome,
    Printed,
    Report,
    Submission,
    Verdict,
)
from grader.texts import load_texts

ROOT = Path(__file__).resolve().parent.parent
RIGHT = (ROOT / "reference" / "self_attention.py").read_text()
WRONG = (ROOT / "tests/submissions/wrong/no_scale_and_nan_dead_rows.py").read_text()
RAISED = Message("trouble.raised", {"phase": "forward", "type": "E", "text": "boom", "line": 9})
START = 1_800_000_000.0


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, now=START):
        self.now = now

    def __call__(self):
        return self.now


class Judge(Warm):
    """In place of the sandbox: reports by the words of a text, each word a mistake or an area."""

    def __init__(self):
        super().__init__("self-attention", 1)
        self.graded = []

    def grade(self, submission):
        self.graded.append(submission.source)
        return report_on(submission)

    def rehearse(self):
        raise AssertionError("no sandbox here")

    def close(self):
        pass


def report_on(submission):
    """A report: "mistake:<id>" in the text costs 20 points, "area:<area>" 10, "half" refuses."""
    words = submission.source.split()
    verdicts = [Verdict("shape", "shapes", Outcome.PASSED, 40.0, 40.0)]
    named = []
    for area, points in (("scaling", 40.0), ("state", 20.0)):
        mistakes = [w.partition(":")[2] for w in words if w.startswith("mistake:")]
        costs = [(name, 20.0) for name in mistakes] if area == "scaling" else []
        costs += [(None, 10.0) for w in words if w == f"area:{area}"]
        for number, (mistake, cost) in enumerate(costs):
            said = RAISED
            case = f"{area}-{number}"
            verdicts.append(Verdict(case, area, Outcome.FAILED, 0.0, cost, said, mistake))
            if mistake:
                named.append(NamedMistake(mistake, 7 + number, (case,)))
        left = points - sum(cost for _, cost in costs)
        verdicts.append(Verdict(f"{area}-rest", area, Outcome.PASSED, left, left))
    return Report(
        submission=submission,
        exercise="self-attention",
        seed=1,
        verdicts=() if "half" in words else tuple(verdicts),
        areas={"shapes": 40.0, "scaling": 40.0, "state": 20.0},
        convention=(),
        isolation=Isolation("full", ()),
        environment={},
        printed=Printed("", 0),
        seconds=0.1,
        refusal=Message("class.none") if "half" in words else None,
        diagnosis=Diagnosis(tuple(named)),
    )


def submit(source):
    return Submission("a.py", source, hashlib.sha256(source.encode()).hexdigest())


def sit_down(store, folder, clock=None, language="en", **wish):
    """A new drill, and a desk at it whose judge is no sandbox."""
    clock = clock or Clock()
    drill = begin(store, replace(Wish(folder=folder, seed=5), **wish), clock())
    return Desk(store, drill, load_texts(language), Judge(), clock)
