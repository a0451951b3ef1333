"""Counters inside the attention that torch has in Python.

The code of each function is replaced in place, so that it makes no difference who holds the
function, and by what name.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from types import CodeType, FunctionType
from typing import Any

from . import notes
from .kernels import keep

FUNCTIONS = {
    "torch.nn.functional": ("multi_head_attention_forward",),
    "torch.nn.attention.flex_attention": ("flex_attention",),
    "torch._higher_order_ops.flex_attention": ("math_attention", "sdpa_dense"),
    "torch.ao.nn.quantizable.modules.activation": ("MultiheadAttention._forward_impl",),
    "torch.onnx.ops._impl": ("attention_23",),
}
_done: set[str] = set()


def install() -> None:
    """Put a counter into each of these functions whose module is imported by now."""
    for module, names in FUNCTIONS.items():
        if module in sys.modules and module not in _done:
            _done.add(module)
            for name in names:
                _replace(_find(sys.modules[module], name), name.rpartition(".")[2])


def _find(owner: Any, name: str) -> Any:
    for part in name.split("."):
        owner = getattr(owner, part, None)
    # What torch has made an operator of keeps the function that it was.
    return getattr(owner, "_init_fn", owner)


def _replace(function: Any, name: str) -> None:
    if not isinstance(function, FunctionType) or function.__closure__:
        return
    original = FunctionType(function.__code__, function.__globals__, function.__name__)
    original.__defaults__, original.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    address = keep(original)
    # Not to be found by who searches all objects: called, it would count nothing.
    ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(original))

    def count(*args: Any, **kwargs: Any) -> Any:
        with notes.noted(name):
            return ctypes.cast(address, ctypes.py_object).value(*args, **kwargs)

    function.__code__ = _calling(count)


def _calling(count: Any) -> CodeType:
    """Code that calls `count` with whatever it is given; it has no name through which to do so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        made: dict[str, Any] = {}
        exec("def call(*args, **kwargs): return 7777(*args, **kwargs)", made)
    code: CodeType = made["call"].__code__
    constants = tuple(count if one == 7777 else one for one in code.co_consts)
    return code.replace(co_consts=constants)
