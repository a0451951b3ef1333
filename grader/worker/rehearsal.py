"""What probes need of a worker, done once before there is a file, for whoever waits at its grade.

After a fork each page of memory is copied when it is first written to, and code of torch is mapped
when it first runs: a third of the time of a grade. A worker that is held ready has that behind it.
Done by a zygote before it forks, it leaves less that is each worker's own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from . import between, describe, execute, protocol
from .protocol import Blob
from .values import DTYPES, to_blob

WIDTH, HEADS = 18, 3


class Rehearsal(nn.Module):  # type: ignore[misc]  # torch is not looked at
    """Does what most files do, and nothing that anybody has to write: it is no attention."""

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.into = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Inputs [b, l, m] and a mask [b, 1, l, l] to two tensors of the shapes of an answer."""
        batch, length, width = x.shape
        parts = self.into(x).view(batch, length, self.num_heads, -1).transpose(1, 2)
        table = parts @ parts.transpose(-2, -1) / 2.0**0.5
        if mask is not None:
            table = table.masked_fill(~mask, float("-inf")).masked_fill(~mask, 0.0)
        table = self.dropout(torch.softmax(table, dim=-1))
        merged = (table @ parts).transpose(1, 2).contiguous().view(batch, length, width)
        return self.out(merged), table


def rehearse() -> None:
    """Probe `Rehearsal` in each of the ways in which a file is probed; leaves no trace."""
    state = torch.get_rng_state()
    play = execute.Submission()
    play.module = sys.modules[__name__]
    describe.classes(play.module)
    for request, blobs in write_requests():
        frame = protocol.pack(0, request, blobs)
        prefix = protocol.read_prefix(frame[: protocol.PREFIX_SIZE])
        end = protocol.PREFIX_SIZE + prefix.header_size
        asked = protocol.unpack(frame[protocol.PREFIX_SIZE : end], frame[end:])
        protocol.pack(0, *play.probe(*asked))
    torch.set_rng_state(state)


def write_requests() -> Iterator[tuple[dict[str, Any], list[Blob]]]:
    """Probes of every kind, as the grader's end writes them."""
    dropped = {"train": True, "construct_named": {"dropout": 0.5}, "seed": 1}
    for dtype in filter(lambda name: DTYPES[name].is_floating_point, DTYPES):
        yield _write({"dtype": dtype, "keep": dtype})
        yield _write({"dtype": dtype, "cotangent": 2, "keep": dtype})
    yield _write({"dtype": "float32", "autocast": "bfloat16", "cotangent": 2})
    yield _write({"cotangent": 2, "directions": [0]})
    yield _write({"cotangent": 2, **dropped})
    yield _write({"watch": True, "describe": True, "return_inputs": True})
    yield _write({"trace": True})
    yield _write({"left": []})
    yield _write({**dropped, "keep": "large"}, batch=48)
    yield _write({"output_only": True, "keep": "long"}, length=270)
    for kind in sorted(between.KINDS.keys() - between.RARE):
        yield _write({"between": kind}, calls=2)


def _write(
    said: dict[str, Any], batch: int = 2, length: int = 5, calls: int = 1
) -> tuple[dict[str, Any], list[Blob]]:
    dtype = said.get("dtype", "float64")
    x = torch.linspace(-1, 1, batch * length * WIDTH, dtype=torch.float64)
    mask = torch.ones(batch, 1, length, length, dtype=torch.bool).tril()
    x = x.view(batch, length, WIDTH)
    call = [
        {"tensor": 0, "dtype": dtype, "storage": "contiguous", "name": None},
        {"tensor": 1, "dtype": "bool", "storage": "contiguous", "name": None},
    ]
    asked = {"op": "probe", "class": "Rehearsal", "construct": [WIDTH, HEADS], "dtype": dtype}
    return asked | {"calls": [call] * calls} | said, [to_blob(x), to_blob(mask), to_blob(x)]
