"""Notes calls of ready-made attention while a candidate's module runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

CALLED: set[str] = set()
READY_MADE = {
    "scaled_dot_product_attention",
    "multi_head_attention_forward",
    "_native_multi_head_attention",
    "_transformer_encoder_layer_fwd",
    "flex_attention",
}


class Watch(TorchFunctionMode):  # type: ignore[misc]  # torch is not looked at
    """Collects the names of ready-made attention functions called inside the block."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Note the name, then do what was asked."""
        name = getattr(func, "__name__", "")
        if name in READY_MADE:
            self.seen.add(name)
        return func(*args, **(kwargs or {}))


def install() -> None:
    """Put counters in front of the ready-made functions, for every call of every probe."""
    for owner, name in (
        (torch.nn.functional, "scaled_dot_product_attention"),
        (torch._C._nn, "scaled_dot_product_attention"),
        (torch.nn.functional, "multi_head_attention_forward"),
    ):
        setattr(owner, name, _counted(getattr(owner, name), name))


def _counted(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        CALLED.add(name)
        return function(*args, **kwargs)

    return call


def ready_made_modules(module: nn.Module) -> list[str]:
    """Class names of torch's own attention modules held by the candidate's."""
    kinds = (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)
    return sorted({type(m).__name__ for m in module.modules() if isinstance(m, kinds)})


def switches() -> dict[str, object]:
    """The global switches of torch that a module has no business to turn."""
    return {
        "default dtype": torch.get_default_dtype(),
        "gradient mode": torch.is_grad_enabled(),
        "random state": bytes(torch.default_generator.get_state().tolist()),
    }


def reset() -> None:
    """Put back the global switches of torch that a file may have left turned."""
    CALLED.clear()
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    if torch.are_deterministic_algorithms_enabled():
        torch.use_deterministic_algorithms(False)
