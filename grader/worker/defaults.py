"""Functions of torch that cannot do here what they are for, made to do nothing instead."""

from __future__ import annotations

from typing import Any

import torch


def install() -> None:
    """Put them in place, once, before any worker is forked."""
    # A sealed worker has one thread, and after a fork there is no pool of them.
    for owner in (torch, torch._C):
        owner.set_num_threads = owner.set_num_interop_threads = _ignore
    torch.compile = compile_nothing


def _ignore(number: int) -> None:
    """In place of what sets a number of threads."""


def compile_nothing(model: Any = None, **options: Any) -> Any:
    """What torch.compile gives where its compiler is switched off: the function as it was."""
    return model if model is not None else lambda function: function
