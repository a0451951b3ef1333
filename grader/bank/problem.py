"""A problem that a case poses, and what is worked out of it, for this file and for the next."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np

from grader.bank.masks import Sizes
from grader.definition import CORRECT, Activations, Steps, Weights, attend, keep_visible
from grader.model import Array
from grader.precision import Allowance, Tolerance, allow
from grader.rehearsal import Rehearsal

# Problems with the steps by which they were worked out: a file with its mistakes needs some dozens.
REMEMBERED = 192
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Problem:
    """What one case asks: values already rounded to `dtype`; `mask` as the candidate gets it.

    Each is equal to itself alone: what is worked out of it is kept for the next file.
    """

    sizes: Sizes
    dtype: str
    weights: Weights
    inputs: tuple[Array, ...]
    mask: Array | None
    visible: Array | None
    right: Steps = CORRECT
    # Of which of the queries it is, and what all of them see: mistakes read a mask as a whole.
    rows: tuple[int, ...] = ()
    whole: Array | None = None

    @property
    def attended(self) -> tuple[Array, Array, Array]:
        """query, key and value: the last of fewer inputs stands for those that are missing."""
        query, key, value = (*self.inputs, *self.inputs[-1:] * 2)[:3]
        return query, key, value

    @functools.cached_property
    def truth(self) -> Activations:
        """What a right answer computes."""
        return self.expect(self.right)

    @functools.cached_property
    def tolerance(self) -> Tolerance:
        """How far a right answer may be from `truth`."""
        return self.tolerate(self.right)

    def tells_apart(self) -> bool:
        """True where different mistakes give different outputs.

        With one head, dividing by the root of the number of heads is not dividing at all; a mask
        that shows everything, or one key to each query, is the same under many readings; and what
        is done where a query sees nothing is a matter apart from how the mask is read.
        """
        if self.mask is None or self.visible is None:
            return self.sizes.all_differ()
        seen = self.visible.sum(axis=-1)
        several = bool((seen > 1).any() and (seen > 0).all())
        return self.sizes.all_differ() and several and not self.mask.all()

    def of_queries(self, rows: Sequence[int]) -> Problem:
        """The same problem for some queries alone: what they get does not depend on the others."""
        return self.once(("rows", *rows), lambda: self._of_queries(rows))

    def once(self, name: Hashable, make: Callable[[], T]) -> T:
        """What `make` makes of this problem, made once: it has to be the same for every file."""
        if name not in self._made:
            self._made[name] = make()
        made: T = self._made[name]
        return made

    def with_weights_of(self, other: Problem) -> Problem:
        """Its inputs and mask, for a module that has the weights of another problem."""
        return self.once(("weights", other), lambda: replace(self, weights=other.weights))

    @functools.cached_property
    def _made(self) -> dict[Hashable, Any]:
        return {}

    def _of_queries(self, rows: Sequence[int]) -> Problem:
        visible = None if self.visible is None else self.visible[..., rows, :]
        some = replace(self, sizes=replace(self.sizes, q_len=len(rows)), visible=visible)
        return replace(some, rows=tuple(rows), whole=self.visible)

    def _read(self, steps: Steps) -> tuple[Array | None, Steps]:
        """What these queries see by these steps, and what is left of the steps."""
        if self.whole is None:
            return self.visible, steps
        return steps.visible(self.whole)[..., self.rows, :], replace(steps, visible=keep_visible)

    def expect(self, steps: Steps) -> Activations:
        """The definition's intermediates by these steps; NaN where they do not fit these sizes."""
        return _expect(self, steps)

    def work_out(self, steps: Steps) -> Activations:
        """What `expect` gives, not kept: of a problem that is made for one file alone."""
        with np.errstate(all="ignore"):
            try:
                return self._attend(*self._read(steps))
            except ValueError:
                right = self._attend(self.visible, self.right)
                parts = {
                    f.name: np.full_like(getattr(right, f.name), np.nan) for f in fields(right)
                }
                return Activations(**parts)

    def _attend(self, visible: Array | None, steps: Steps) -> Activations:
        heads = self.sizes.num_heads
        return attend(self.weights, *self.attended, heads, visible, steps, rows=self.rows)

    def foretell(self, steps: Steps, known: Rehearsal | None = None) -> Array:
        """The output by these steps; worked out once, as many files are held against it.

        `known` is what `rehearse` gave, where many steps are asked for.
        """
        if steps not in self._foretold:
            known = known or self.rehearse()
            visible, left = self._read(steps)
            self._foretold[steps] = known.play(left, visible)
        return self._foretold[steps]

    def rehearse(self) -> Rehearsal:
        """The problem as it is held against many mistakes, with nothing worked out yet."""
        return Rehearsal(self.weights, self.attended, self.sizes.num_heads, self.rows)

    @functools.cached_property
    def _foretold(self) -> dict[Steps, Array]:
        return {}

    def tolerate(self, steps: Steps) -> Tolerance:
        """How far an answer right by these steps may be from `expect(steps)`."""
        return _tolerate(self, steps)

    def _allow(self, steps: Steps) -> Tolerance:
        meant = self.expect(steps)
        if np.isnan(meant.output).all():
            return Tolerance(iter([Allowance(0.0, 0.0)]))
        known = self.weights, self.attended, self.sizes.num_heads, *self._read(steps)
        return Tolerance(allow(self.dtype, *known, meant, self.rows))


@functools.lru_cache(maxsize=REMEMBERED)
def _expect(problem: Problem, steps: Steps) -> Activations:
    return problem.work_out(steps)


@functools.lru_cache(maxsize=REMEMBERED)
def _tolerate(problem: Problem, steps: Steps) -> Tolerance:
    return problem._allow(steps)
