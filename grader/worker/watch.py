"""The global switches of torch: what a file left turned is seen, and put back."""

from __future__ import annotations

import torch


def switches() -> dict[str, object]:
    """The global switches of torch that a module has no business to turn."""
    return {
        "default dtype": torch.get_default_dtype(),
        "gradient mode": torch.is_grad_enabled(),
        "random state": bytes(torch.default_generator.get_state().tolist()),
    }


def reset() -> None:
    """Put back the global switches of torch that a file may have left turned."""
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    if torch.are_deterministic_algorithms_enabled():
        torch.use_deterministic_algorithms(False)
