"""One pass through a module: inputs made as asked, the call, and the way back."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from . import twice
from .answer import flatten
from .values import DTYPES, STORAGES


def materialise(
    module: torch.nn.Module, request: dict[str, Any], tensors: list[torch.Tensor]
) -> None:
    """Let lazy layers take their shapes from a first call in the dtype they were made in."""
    if request["calls"]:
        call = request["calls"][0]
        inputs = [
            i.float() if isinstance(i, torch.Tensor) and i.is_floating_point() else i
            for i in make_inputs(call, tensors, request)
        ]
        call_module(module, call, inputs)


def cast(module: torch.nn.Module, dtype: torch.dtype) -> None:
    """Move what is floating to `dtype`; tables of complex numbers, which have none, stay."""
    if any(tensor.is_complex() for tensor in module.buffers()):
        module._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)
    else:
        module.to(dtype)


def call_module(module: Any, call: list[Any], inputs: list[Any]) -> Any:
    """Hand over the inputs, those that have a name by keyword."""
    named = [(entry or {}).get("name") for entry in call]
    positional = [i for i, name in zip(inputs, named) if name is None]
    return module(*positional, **{n: i for i, n in zip(inputs, named) if n is not None})


def make_inputs(
    call: list[Any],
    tensors: list[torch.Tensor],
    request: dict[str, Any],
    earlier: object = None,
) -> list[Any]:
    """The inputs of one call, in the order of the request; tensors of their own each time.

    `earlier` is what the call before returned.
    """
    inputs: list[Any] = []
    for entry in call:
        if entry is None or "value" in entry:
            inputs.append(entry and entry["value"])
            continue
        if "earlier" in entry:
            inputs.append(flatten(earlier)[1][entry["earlier"]])
            continue
        if entry["storage"] == "same" and inputs:
            inputs.append(inputs[0])
            continue
        tensor = tensors[entry["tensor"]].to(DTYPES[entry["dtype"]])
        tensor = STORAGES[entry["storage"]](tensor.clone())
        asked = request["cotangent"] is not None and not request["plain_inputs"]
        if asked and isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
            tensor = tensor.detach().requires_grad_()
        inputs.append(tensor)
    return inputs


def autocast(dtype: str | None) -> Any:
    """The block a call runs in."""
    if dtype is None:
        return contextlib.nullcontext()
    return torch.autocast("cpu", dtype=DTYPES[dtype])


def gradient_mode(request: dict[str, Any]) -> Any:
    """A call in eval whose gradients nobody asks for is made as in use, without a graph.

    On a module that is used again, that is: what fails so is judged once more on a fresh one, and
    there with a graph.
    """
    asked = request["cotangent"] is not None or request["train"] or request["keep"] is None
    looked_at = request["watch"] or request["trace"]
    return contextlib.nullcontext() if asked or looked_at else torch.no_grad()


def go_back(
    made: tuple[object, list[Any]], request: dict[str, Any], tensors: list[torch.Tensor]
) -> None:
    """Leave the gradients of sum(output * cotangent) in what asks for them."""
    output, cotangent = flatten(made[0])[1][request["output"]], tensors[request["cotangent"]]
    if request["directions"]:
        return twice.go_back_twice(
            output, cotangent, made[1], [tensors[at] for at in request["directions"]]
        )
    # Not output.backward(cotangent): that imports sympy, a quarter of a second at first use.
    (output * cotangent.to(output.dtype)).sum().backward()
