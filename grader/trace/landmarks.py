"""The tensors that a right attention passes through, by name, with a letter for each axis."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from grader.bank.problem import Problem
from grader.definition import CORRECT, linear, make_heads, split_heads
from grader.model import Array

# Ties and numbers this large in size say nothing of where a value comes from.
WILD = 1e3


@dataclass(frozen=True)
class Landmark:
    """One tensor of the definition: `axes` a letter each, `stage` its place on the way."""

    name: str
    axes: str
    stage: int
    value: Array

    @property
    def base(self) -> str:
        """The name without what is still missing or done already: q for "q before bias"."""
        return self.name.split(" ")[0] if self.stage in (1, 6) else self.name

    @functools.cached_property
    def order(self) -> Array:
        """Positions of the flat values in ascending order."""
        return np.argsort(self.value, axis=None, kind="stable")

    @functools.cached_property
    def sorted(self) -> Array:
        """The flat values in ascending order."""
        return self.value.reshape(-1)[self.order]

    @functools.cached_property
    def ranked(self) -> list[float]:
        """The same as plain numbers, among which a single one is found sooner."""
        return [float(x) for x in self.sorted]

    @functools.cached_property
    def tied(self) -> Array:
        """For each flat value, whether there is another like it."""
        alike = np.diff(self.sorted) <= 1e-12
        found = np.zeros(self.value.size, dtype=bool)
        found[self.order[1:][alike]] = found[self.order[:-1][alike]] = True
        return found

    @functools.cached_property
    def scale(self) -> float:
        """The largest size of a value."""
        finite = self.value[np.isfinite(self.value)]
        return float(np.abs(finite).max(initial=1e-30))


# The axes of q, k and v.
ROLES = ("BHLd", "BHSd", "BHSd")
# Stages in order; shapes as people write them, L and S where the lengths differ.
STAGES = ("input", "projection", "scores", "scaled", "weights", "context", "output")


def landmarks(problem: Problem) -> list[Landmark]:
    """Every tensor worth recognising, the plainest names first."""
    return problem.once("landmarks", lambda: _landmarks(problem))


@np.errstate(all="ignore")
def _landmarks(problem: Problem) -> list[Landmark]:
    acts, weights = problem.truth, problem.weights
    query, key, value = problem.attended
    names = ["x"] if len(problem.inputs) == 1 else ["query", "key", "value"]
    found = [
        Landmark(name, axes, 0, x)
        for name, axes, x in zip(names, ("BLD", "BSD", "BSD"), (query, key, value))
    ]
    bare = {
        "q": split_heads(linear(query, weights.Wq, None), problem.sizes.num_heads),
        "k": split_heads(linear(key, weights.Wk, None), problem.sizes.num_heads),
        "v": split_heads(linear(value, weights.Wv, None), problem.sizes.num_heads),
    }
    root = np.sqrt(acts.q.shape[-1])
    top = acts.masked.max(axis=-1, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    for name, axes, full in (("q", "BHLd", acts.q), ("k", "BHSd", acts.k), ("v", "BHSd", acts.v)):
        found.append(Landmark(name, axes, 1, full))
        found.append(Landmark(f"{name} before bias", axes, 1, bare[name]))
    if problem.right.heads is not CORRECT.heads:
        # A mistake in what becomes of the heads is made with these.
        found += [Landmark(*one) for one in zip("qkv", ROLES, (1, 1, 1), _whole_heads(problem))]
    for name, axes, full in (("q", "BHLd", acts.q), ("k", "BHSd", acts.k)):
        found.append(Landmark(f"{name} scaled", axes, 1, full / root))
        found.append(Landmark(f"{name} half scaled", axes, 1, full / np.sqrt(root)))
    found += [
        Landmark("scores", "BHLS", 2, acts.raw),
        Landmark("scaled scores", "BHLS", 3, acts.scaled),
        # On the way through a softmax that is written out.
        Landmark("shifted scores", "BHLS", 3, acts.scaled - top),
        Landmark("exponentials", "BHLS", 3, np.exp(acts.masked - top)),
        Landmark("weights", "BHLS", 4, acts.weights),
        Landmark("context", "BHLd", 5, acts.context),
        Landmark("output", "BLD", 6, acts.output),
        Landmark("output before bias", "BLD", 6, linear(acts.merged, weights.Wo, None)),
    ]
    return found


def _whole_heads(problem: Problem) -> tuple[Array, Array, Array]:
    steps = replace(problem.right, heads=CORRECT.heads)
    inputs = steps.inputs(*problem.attended)
    return make_heads(steps.weights(problem.weights), inputs, problem.sizes.num_heads, steps)
