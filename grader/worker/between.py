"""What is done to a module between its first call and the next ones, and what takes these.

Copies are made and read here, in the candidate's own process; no copy leaves it.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map

from .pickling import pickle_through

# A module, or what is called as one.
Called = Callable[..., Any]


@dataclass(frozen=True)
class Use:
    """How the module is used: `build` makes another one, `call` makes a call like the first.

    `sent` are the names of the parameters whose values the grader knows; times `factor` they are
    other weights.
    """

    build: Callable[[], nn.Module]
    call: Callable[[Called], Any]
    sent: Collection[str]
    factor: float


def go_on(kind: str, module: nn.Module, use: Use) -> Called:
    """What takes the calls to come: a copy of `kind`, the same module, or its answer by `kind`."""
    return KINDS[kind](module, use)


def _deepcopy(module: nn.Module, use: Use) -> Called:
    # torch refuses to copy what belongs to a graph, such as weights kept for a plot.
    with torch.no_grad():
        use.call(module)
    twin = copy.deepcopy(module)
    _spoil(module)
    return twin


def _pickle(module: nn.Module, use: Use) -> Called:
    with torch.no_grad():
        use.call(module)
    twin: Called = pickle_through(module)
    _spoil(module)
    return twin


def _state_dict(module: nn.Module, use: Use) -> Called:
    # A second module that has been in use like the first: buffers that grow have grown alike, and
    # what it keeps of its old weights must give way.
    twin = use.build()
    with torch.no_grad():
        use.call(twin)
    twin.load_state_dict(module.state_dict())
    _spoil(module)
    return twin


def _training(module: nn.Module, use: Use) -> Called:
    # To and fro twice: some notice only the second time.
    for _ in range(2):
        module.train()
        use.call(module)
        module.eval()
    return module


def _functional_call(module: nn.Module, use: Use) -> Called:
    _, other = _weights(module, use)

    def by_name(*inputs: Any, **named: Any) -> Any:
        return torch.func.functional_call(module, other, inputs, named)

    return _answered(by_name, use)


def _vmap(module: nn.Module, use: Use) -> Called:
    # Two models at once, as ensembles are run; the answer is the second one's.
    own, other = _weights(module, use)
    stacked = {name: torch.stack([own[name], other[name]]) for name in own}

    def at_once(*inputs: Any, **named: Any) -> Any:
        def run(weights: dict[str, torch.Tensor]) -> Any:
            return torch.func.functional_call(module, weights, inputs, named)

        return tree_map(lambda pair: pair[1], torch.func.vmap(run)(stacked))

    return _answered(at_once, use)


def _answered(called: Called, use: Use) -> Called:
    """Call it here, so that what it raises is said of this and not of forward."""
    # vmap warns of what it can only do in a loop.
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = use.call(called)
    return lambda *inputs, **named: answer


def _weights(module: nn.Module, use: Use) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters that the grader has sent, by name: as they are, and other ones."""
    own = {name: p.detach() for name, p in module.named_parameters() if name in use.sent}
    return own, {name: use.factor * tensor for name, tensor in own.items()}


def _spoil(module: nn.Module) -> None:
    """Change all weights in place, as an optimiser would: nothing may still lean on them."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(-0.5)


KINDS: dict[str, Callable[[nn.Module, Use], Called]] = {
    "deepcopy": _deepcopy,
    "pickle": _pickle,
    "state-dict": _state_dict,
    "training": _training,
    "functional-call": _functional_call,
    "vmap": _vmap,
}
# For what most files never do, a quarter of a second of torch's code is imported.
RARE = {"vmap"}
