"""What a file may offer of what a case may need; a case whose need is not met is not applicable."""

from __future__ import annotations

from collections.abc import Callable

from grader.calling import BATCH_FIRST, CallPlan
from grader.calling.omission import may_be_left_out
from grader.model import Contract

# Need -> whether a file that is called and judged so offers it.
OFFERS: dict[str, Callable[[CallPlan, Contract], bool]] = {
    "one-sequence": lambda plan, contract: len(contract.inputs) == 1,
    "two-sequences": lambda plan, contract: len(contract.inputs) > 1,
    "causal": lambda plan, contract: contract.causal,
    "not-causal": lambda plan, contract: not contract.causal,
    "dropout": lambda plan, contract: plan.has_dropout,
    "weights": lambda plan, contract: plan.weights is not None,
    "divisibility": lambda plan, contract: not plan.fixes_head_dim and not contract.wide,
    "batch-first": lambda plan, contract: plan.axes == BATCH_FIRST,
    # Where a causal edge stands between two lengths is a matter of taste.
    "two-lengths": lambda plan, contract: not (contract.causal and contract.one_length),
    "no-positions": lambda plan, contract: not contract.positions,
    "untied": lambda plan, contract: not contract.tied,
    "default-length": lambda plan, contract: plan.with_default_length() != plan,
    "head-size": lambda plan, contract: plan.takes("head_dim") and not contract.wide,
    "grouped": lambda plan, contract: plan.takes("kv_heads"),
    "switch": lambda plan, contract: any(True for _ in plan.switched()),
    "returns-switch": lambda plan, contract: (
        plan.doubtful or any(True for _ in plan.turned("returns"))
    ),
    "optional-sequences": lambda plan, contract: bool(may_be_left_out(plan)),
    "cache": lambda plan, contract: plan.cache is not None,
    "told-apart": lambda plan, contract: any(slot.style.also for slot in plan.forward),
}


def find_lacking(needs: tuple[str, ...], plan: CallPlan, contract: Contract) -> str | None:
    """The first of these needs that is not met."""
    return next((need for need in needs if not OFFERS[need](plan, contract)), None)
