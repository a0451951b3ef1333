"""Notes every tensor that the candidate's own lines make: the operation, the line, the values.

What is noted is a claim like everything else from here: it explains a verdict, it never makes one.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .protocol import MAX_STEPS
from .values import tensors_in

MAX_ELEMENTS = 4096
MAX_SOURCES = 8
# Written to in place: the first argument is what they make.
SETTERS = {"__setitem__"}

# operation, line, assigned name, where its tensors came from, the tensor.
Step = tuple[str, int, str, list[str], torch.Tensor]


class Recorder(TorchFunctionMode):  # type: ignore[misc]  # torch is not looked at
    """Collects the steps of one forward pass, in the order in which they were made."""

    def __init__(self, file: str, known: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self.file = file
        self.steps: list[Step] = []
        self._known = {id(tensor): name for name, tensor in known.items()}
        self._origins = dict(self._known)
        # Kept alive, so that no later tensor can have the identity of an earlier one.
        self._kept: list[Any] = [known]

    def begin(self, inputs: list[Any]) -> None:
        """Name the inputs of the call that follows; only the last call's steps are kept."""
        self.steps.clear()
        # A step of an earlier call has no number any more.
        self._origins = dict(self._known)
        self._kept.append(inputs)
        for number, value in enumerate(inputs):
            if isinstance(value, torch.Tensor):
                self._origins[id(value)] = f"input {number}"

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Do what was asked, then note what it made."""
        sources = [
            self._origins.get(id(tensor), "")
            for tensor in tensors_in((*args, *(kwargs or {}).values()))
        ]
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        made = args[:1] if name in SETTERS else result
        line = self._line()
        for tensor in tensors_in((made,)):
            if line and len(self.steps) < MAX_STEPS and not _is_wrapped(tensor):
                self._note(name, line, sources, tensor)
        return result

    def _note(self, name: str, line: int, sources: list[str], tensor: torch.Tensor) -> None:
        self._kept.append(tensor)
        self._origins[id(tensor)] = str(len(self.steps))
        kept = tensor.detach().clone() if tensor.numel() <= MAX_ELEMENTS else tensor.detach()
        found = [source for source in dict.fromkeys(sources) if source][:MAX_SOURCES]
        self.steps.append((name, line, assigned(self.file, line), found, kept))

    def _line(self) -> int:
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return 0


def _is_wrapped(tensor: torch.Tensor) -> bool:
    """True inside vmap and the like, where a tensor has no memory of its own to read."""
    return bool(torch._C._functorch.is_functorch_wrapped_tensor(tensor))


def assigned(file: str, line: int) -> str:
    """The name that the statement at this line assigns to, "" where it is not a single one."""
    return targets(file).get(line, "")


@functools.lru_cache(maxsize=2)
def targets(file: str) -> dict[int, str]:
    """Line -> the name its statement assigns to."""
    found: dict[int, str] = {}
    tree = ast.parse("".join(linecache.getlines(file)))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            first = node.targets[0] if isinstance(node, ast.Assign) else node.target
            name = ast.unparse(first)[:40]
            last = node.end_lineno or node.lineno
            found.update(dict.fromkeys(range(node.lineno, last + 1), name))
        elif isinstance(node, ast.Return):
            last = node.end_lineno or node.lineno
            found.update(dict.fromkeys(range(node.lineno, last + 1), "return"))
    return found
