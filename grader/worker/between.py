"""What is done to a module between its first call and the next ones, and which module makes these.

Copies are made and read here, in the candidate's own process; no copy leaves it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Make = Callable[[], nn.Module]
Run = Callable[[nn.Module], Any]


def go_on(kind: str, module: nn.Module, build: Make, call: Run) -> nn.Module:
    """The module for the calls to come: a copy of `kind`, or the same one after `training`.

    `build` makes another module like the first, `call` makes a call like the first.
    """
    return KINDS[kind](module, build, call)


def _deepcopy(module: nn.Module, build: Make, call: Run) -> nn.Module:
    # torch refuses to copy what belongs to a graph, such as weights kept for a plot.
    with torch.no_grad():
        call(module)
    twin = copy.deepcopy(module)
    _spoil(module)
    return twin


def _state_dict(module: nn.Module, build: Make, call: Run) -> nn.Module:
    # A second module that has been in use like the first: buffers that grow have grown alike, and
    # what it keeps of its old weights must give way.
    twin = build()
    with torch.no_grad():
        call(twin)
    twin.load_state_dict(module.state_dict())
    _spoil(module)
    return twin


def _training(module: nn.Module, build: Make, call: Run) -> nn.Module:
    # To and fro twice: some notice only the second time.
    for _ in range(2):
        module.train()
        call(module)
        module.eval()
    return module


def _spoil(module: nn.Module) -> None:
    """Change all weights in place, as an optimiser would: nothing may still lean on them."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(-0.5)


KINDS: dict[str, Callable[[nn.Module, Make, Run], nn.Module]] = {
    "deepcopy": _deepcopy,
    "state-dict": _state_dict,
    "training": _training,
}
