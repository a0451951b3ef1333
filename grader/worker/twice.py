"""The way back taken twice: gradients of a gradient."""

from __future__ import annotations

from typing import Any

import torch


def go_back_twice(
    output: torch.Tensor,
    cotangent: torch.Tensor,
    inputs: list[Any],
    directions: list[torch.Tensor],
) -> None:
    """Leave in `.grad` the gradients of sum(g * direction) over the inputs that ask for one.

    g is the gradient of sum(output * cotangent) with respect to that input.
    """
    asking = [i for i in inputs if isinstance(i, torch.Tensor) and i.requires_grad]
    total = (output * cotangent.to(output.dtype)).sum()
    gradients = torch.autograd.grad(total, asking, create_graph=True)
    sum((g * d).sum() for g, d in zip(gradients, directions)).backward()
