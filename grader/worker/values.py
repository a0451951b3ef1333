"""Tensors to bytes and back, without numpy and without pickle."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from .protocol import ITEM_SIZES, MAX_DIMENSIONS, Blob

DTYPES = {name: getattr(torch, name) for name in ITEM_SIZES}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
MAX_BYTES = 16 << 20


def to_tensor(blob: Blob) -> torch.Tensor:
    """The tensor a frame carried, contiguous and with memory of its own."""
    dtype = DTYPES[blob.dtype]
    if not blob.data:
        return torch.empty(blob.shape, dtype=dtype)
    return torch.frombuffer(bytearray(blob.data), dtype=dtype).reshape(blob.shape)


def to_blob(tensor: torch.Tensor) -> Blob:
    """A dense tensor as bytes; `describe_item` has said that it is one."""
    dense = tensor.detach().resolve_conj().resolve_neg().contiguous()
    size = dense.numel() * dense.element_size()
    data = ctypes.string_at(dense.data_ptr(), size) if size else b""
    return Blob(NAMES[dense.dtype], tuple(dense.shape), data)


def tensors_in(values: Iterable[Any], depth: int = 2) -> Iterator[torch.Tensor]:
    """The tensors among these values, and among the items of tuples and lists a few levels down."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif depth and isinstance(value, (tuple, list)):
            yield from tensors_in(value[:64], depth - 1)


def describe_item(item: object) -> str:
    """ "tensor" for a plain dense tensor that fits in a frame, else what it is instead."""
    if item is None:
        return "none"
    kind = type(item)
    if kind is not torch.Tensor and kind is not torch.nn.Parameter:
        name = type.__dict__["__name__"].__get__(kind)
        return f"{name} (a kind of Tensor)" if issubclass(kind, torch.Tensor) else str(name)[:80]
    assert isinstance(item, torch.Tensor)
    if item.is_quantized:
        return "quantised tensor"
    if item.layout is not torch.strided:
        return f"tensor with layout {item.layout}"
    if item.dim() > MAX_DIMENSIONS:
        return f"tensor with {item.dim()} axes"
    if item.dtype not in NAMES:
        return f"tensor of {item.dtype}"
    if item.numel() * item.element_size() > MAX_BYTES:
        return "tensor too large"
    return "meta tensor" if item.device.type == "meta" else "tensor"


def _contiguous(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.transpose(0, 1).contiguous().transpose(0, 1)


def _strided(tensor: torch.Tensor) -> torch.Tensor:
    wide = tensor.new_zeros(*tensor.shape[:-1], 2 * tensor.shape[-1])
    wide[..., ::2] = tensor
    return wide[..., ::2]


def _expanded(tensor: torch.Tensor) -> torch.Tensor:
    return tensor[:1].expand_as(tensor)


def _complex(tensor: torch.Tensor) -> torch.Tensor:
    return torch.view_as_complex(tensor)


def _tuple(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(tensor.unbind(0))


STORAGES: dict[str, Callable[[torch.Tensor], Any]] = {
    "contiguous": _contiguous,
    "transposed": _transposed,
    "strided": _strided,
    "expanded": _expanded,
    "same": _contiguous,
    "complex": _complex,
    "tuple": _tuple,
}


def as_sent(given: Any) -> Any:
    """An input as it came: complex numbers came as pairs, a tuple as one tensor."""
    if isinstance(given, tuple) and all(isinstance(part, torch.Tensor) for part in given):
        return torch.stack([part.detach() for part in given])
    if isinstance(given, torch.Tensor) and given.is_complex():
        return torch.view_as_real(given.detach().resolve_conj())
    return given
