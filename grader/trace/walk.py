"""The shape walk: source line by source line, what a file's tensors are."""

from __future__ import annotations

from collections.abc import Sequence

from grader.bank.problem import Problem
from grader.model import Step, Stride
from grader.trace.trail import Trail
from grader.trace.words import in_letters


def walk(steps: Sequence[Step], problem: Problem, sequences: int) -> list[Stride]:
    """Every recognised step, and the shape in numbers of those that are not."""
    trail = Trail(steps, problem, sequences)
    strides = []
    for at, step in enumerate(steps):
        if not trail.derived[at]:
            continue
        found = trail.found[at]
        numbers = "[" + ", ".join(map(str, step.shape)) + "]"
        shape = in_letters(found.letters) if found and not found.scrambled else numbers
        what = found.landmark.name if found else ""
        strides.append(Stride(step.line, step.name, step.operation.strip("_"), shape, what))
    # A loop makes the same again and again.
    return list(dict.fromkeys(strides))
