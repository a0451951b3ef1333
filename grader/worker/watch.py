"""Notes calls of ready-made attention while a candidate's module runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

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


def ready_made_modules(module: nn.Module) -> list[str]:
    """Class names of torch's own attention modules held by the candidate's."""
    kinds = (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)
    return sorted({type(m).__name__ for m in module.modules() if isinstance(m, kinds)})


def reset() -> None:
    """Put back the global switches of torch that a file may have left turned."""
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    if torch.are_deterministic_algorithms_enabled():
        torch.use_deterministic_algorithms(False)
