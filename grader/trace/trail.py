"""The steps of one traced pass, with what each is and who came from whom."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from grader.bank.problem import Problem
from grader.model import Array, Step
from grader.trace.landmarks import landmarks
from grader.trace.recognise import check_part, recognise

# Ask a tensor for its shape and dtype, and take none of its values.
FILLED = re.compile(r"new|new_(?:empty|full|ones|zeros)\w*|\w+_like")
# Pick values and make none. What a softmax is shifted by is a matter of style.
PICKS = ("amax", "max", "maximum")


class Trail:
    """The steps of one pass with what each is, and who came from whom."""

    def __init__(self, steps: Sequence[Step], problem: Problem, sequences: int) -> None:
        self.steps = steps
        self.problem = problem
        known = landmarks(problem)
        # Without an output projection the merged heads are the output.
        self.last = 5 if problem.weights.Wo is None else 6
        sources = [() if FILLED.fullmatch(step.operation) else step.sources for step in steps]
        self.parents = [[int(s) for s in made_of if s.isdecimal()] for made_of in sources]
        self.derived: list[bool] = []
        for made_of, parents in zip(sources, self.parents):
            direct = any(_is_sequence(source, sequences) for source in made_of)
            self.derived.append(direct or any(self.derived[p] for p in parents))
        # With a mistake taken as meant, what is expected may be infinite or NaN.
        with np.errstate(all="ignore"):
            self.found = [
                recognise(step.value, known, problem)
                if own and step.operation not in PICKS
                else None
                for step, own in zip(steps, self.derived)
            ]
        self._check_parts()
        self._clean: list[bool] = []
        for step, found, parents in zip(steps, self.found, self.parents):
            if step.operation in PICKS:
                self._clean.append(all(self._clean[p] for p in parents if self.derived[p]))
            else:
                self._clean.append(found is not None and found.is_clean)
        self.children: list[list[int]] = [[] for _ in steps]
        for child, parents in enumerate(self.parents):
            for parent in parents:
                self.children[parent].append(child)

    def _check_parts(self) -> None:
        """Masks on a part of the scores, which is known by what it was before them."""
        for at, parents in enumerate(self.parents):
            found = self.found[at]
            if found is None or not found.masked or found.places is None:
                continue
            if found.places.size == found.landmark.value.size:
                continue
            before = (self.found[parent] for parent in parents)
            alike = next((b for b in before if b and b.landmark.name == found.landmark.name), None)
            if alike is not None:
                self.found[at] = check_part(found, alike, self.problem)

    def is_clean(self, at: int) -> bool:
        """True for a tensor that a right attention has, and for what was picked out of such."""
        return self._clean[at]

    def is_float(self, at: int) -> bool:
        """True where there are values to look at."""
        value = self.steps[at].value
        return value is not None and value.dtype.kind == "f"

    def leads_back(self, at: int) -> bool:
        """True where something later that came from this is right again, so that it did no harm."""
        reached = self.reach(at)
        stage = max((self.stage(a) for a in self.ancestors(at)), default=0)
        return any(self.is_clean(c) and self.stage(c) >= stage for c in reached)

    def stage(self, at: int) -> int:
        """How far on the way a recognised tensor is; -1 for any other."""
        found = self.found[at]
        return found.landmark.stage if found else -1

    def ancestors(self, at: int) -> set[int]:
        """Every step that this one came from."""
        return self._follow(at, self.parents)

    def reach(self, at: int) -> set[int]:
        """Every step that came from this one."""
        return self._follow(at, self.children)

    def _follow(self, at: int, links: Sequence[Sequence[int]]) -> set[int]:
        seen: set[int] = set()
        stack = list(links[at])
        while stack:
            step = stack.pop()
            if step not in seen:
                seen.add(step)
                stack.extend(links[step])
        return seen

    def end(self, output: Array | None) -> int | None:
        """The step that made what was returned."""
        for at in reversed(range(len(self.steps))):
            value = self.steps[at].value
            if output is not None and value is not None and _same_values(value, output):
                return at
        return len(self.steps) - 1 if self.steps else None


def _same_values(one: Array, other: Array) -> bool:
    """Equal up to the order of the axes."""
    if one.size != other.size:
        return False
    return np.array_equal(np.sort(one, axis=None), np.sort(other, axis=None))


def _is_sequence(source: str, sequences: int) -> bool:
    kind, _, number = source.partition(" ")
    return kind == "input" and number.isdecimal() and int(number) < sequences
