"""Counters in front of the attention kernels in torch's dispatcher.

Every way to them leads through it: torch.nn.functional, torch.ops, a traced function, vmap, a call
from C++. The kernel that was there does the work, so that no number changes.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from typing import Any

import torch

from . import notes

COMPOSITE = ("CPU", "AutogradCPU", "NestedTensorCPU", "AutogradNestedTensor", "FuncTorchVmapMode")
KERNELS = {
    "scaled_dot_product_attention": (*COMPOSITE, "FuncTorchBatched", "Meta", "AutogradMeta"),
    "_scaled_dot_product_attention_math": (*COMPOSITE, "FuncTorchBatched"),
    "_scaled_dot_product_flash_attention_for_cpu": ("CPU", "AutogradCPU", "FuncTorchBatched"),
    "_scaled_dot_product_flash_attention_for_cpu_backward": ("CPU",),
    "_native_multi_head_attention": ("CPU", "NestedTensorCPU"),
    "_transformer_encoder_layer_fwd": ("CPU", "NestedTensorCPU"),
}
# Before torch 2.9 a kernel that has been replaced cannot be called; names have to do there.
FIND = "_dispatch_get_computed_kernel_for_dispatch_key"
NAMES = (
    (torch.nn.functional, "scaled_dot_product_attention"),
    (torch._C._nn, "scaled_dot_product_attention"),
    (torch, "_native_multi_head_attention"),
    (torch, "_transformer_encoder_layer_fwd"),
)


def install() -> None:
    """Put a counter in front of each kernel, once."""
    if not hasattr(torch._C, FIND):
        for owner, name in NAMES:
            setattr(owner, name, _counted(name, getattr(owner, name)))
        return
    find = getattr(torch._C, FIND)
    keys = torch._C.DispatchKey
    # All are looked up first: the kernel of one key may be that of another.
    found = [
        (name, key, find(f"aten::{name}", getattr(keys, key)))
        for name, wanted in KERNELS.items()
        for key in wanted
    ]
    library = torch._C._dispatch_library("IMPL", "aten", "", __file__, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, key, kernel in found:
            library.impl(name, key, _in_front(name, keep(kernel)), True)
    # Counters go when their library goes, so nobody holds it by a name.
    keep(library)


def keep(thing: object) -> int:
    """Keep it alive for good where only its address leads to it."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return id(thing)


def _in_front(name: str, address: int) -> Callable[..., Any]:
    def call(keys: Any, *args: Any, **kwargs: Any) -> Any:
        kernel = ctypes.cast(address, ctypes.py_object).value
        with notes.noted(name):
            return kernel.call_boxed(keys, *args, **kwargs)

    return call


def _counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with notes.noted(name):
            return function(*args, **kwargs)

    call.__name__ = name
    return call
