"""What was found out about a file: how it is called, its layout, its contract and mistakes."""

from __future__ import annotations

from dataclasses import dataclass

from grader.calling import CallPlan
from grader.layout import Layout
from grader.mistakes import Mistake
from grader.model import Contract


@dataclass(frozen=True)
class Match:
    """A layout, whether behaviour proved it, the contract and the mistakes under which it did.

    It is `coarse` where in float64 no more than the digits of a float32 were right.
    """

    layout: Layout | None
    contract: Contract
    proven: bool = False
    mistakes: tuple[Mistake, ...] = ()
    coarse: bool = False


@dataclass(frozen=True)
class Convention:
    """How a file is called, and what was found of its weights, masks and mistakes."""

    plan: CallPlan
    match: Match
    carried: tuple[Mistake, ...] = ()

    @property
    def contract(self) -> Contract:
        """What the file is judged by: its own convention."""
        return self.match.contract
