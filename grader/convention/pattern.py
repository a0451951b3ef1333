"""Which keys the queries of a file see, read back from what it returned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grader.convention.span import find_shares
from grader.convention.trials import Trial
from grader.definition import Steps, Weights
from grader.model import Array

# A weight that is none, and one that is more than rounding.
NOTHING, SOMETHING = 1e-11, 1e-3
# Without a scale a key may get as good as nothing from every head.
MAX_MISSED = 1


class Pattern(NamedTuple):
    """Keys that some sample sees, and that none does, [q, k]; rows that sum to 1, [q, 1].

    It is `full` where all rows of all heads are known to.
    """

    seen: Array
    unseen: Array
    whole: Array
    full: bool = False

    def allows(self, visible: Array | None) -> bool:
        """True where a softmax over what is visible, [q, k], can have given this.

        What is done in rows that see nothing is a matter apart.
        """
        shown = np.ones_like(self.seen) if visible is None else visible
        wrong = ~self.whole | (~shown & self.seen)
        missed = int((shown & self.unseen).sum())
        return missed <= MAX_MISSED and not bool((wrong & shown.any(-1, keepdims=True)).any())


# What allows everything: nothing can be told.
ANYTHING = Pattern(np.zeros((0, 0), bool), np.zeros((0, 0), bool), np.ones((0, 1), bool))


def read_pattern(trial: Trial, weights: Weights, steps: Steps) -> Pattern | None:
    """What its rows that are numbers show; None where no weights of these values give them.

    ANYTHING where there are as many values as d_model, or more: some weights give whatever it is.
    """
    sizes = trial.problem.sizes
    if sizes.num_heads * sizes.kv_len >= sizes.d_model:
        return ANYTHING
    shares = find_shares(trial, weights, steps)
    if shares is None:
        return None
    known = trial.known[:, None, None]
    large = np.abs(shares)
    seen = (large > SOMETHING).any(axis=(0, 1))
    # Where all weight is on one key, the others may be seen as well, and only just lose.
    shared = known[..., 0, :] & (np.sort(large, axis=2)[:, :, -2:].min(axis=2) > SOMETHING)
    unseen = shared.any(axis=(0, 1)) & (large < NOTHING).all(axis=(0, 1))
    # What a value of nothing is weighed by is not known, and may well make up for the rest.
    off = np.abs(shares.sum(axis=2) - 1.0)
    whole = (~(off >= SOMETHING) | ~known[:, :, 0]).all(axis=(0, 1))
    full = bool(trial.known.all() and (off < SOMETHING).all())
    return Pattern(seen.T, unseen.T, whole[:, None], full)
