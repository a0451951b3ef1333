"""Frames between the grader and a worker: a JSON header and raw tensor bytes.

    magic "MHAG" | version u8 | request u32 | header size u32 | payload size u64 | header | payload

Every size is checked against a cap before a byte of it is read, and a tensor's dtype, dimensions
and byte count must agree. Nothing is ever unpickled. Both ends use this file; it needs only the
standard library, and what the worker's end sends is a claim until it has passed here.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

MAGIC = b"MHAG"
VERSION = 1
PREFIX = struct.Struct(">4sBIIQ")
PREFIX_SIZE = PREFIX.size
MAX_HEADER = 1 << 20
MAX_PAYLOAD = 64 << 20
MAX_TENSORS = 4096
# Sets of weights that a worker holds, so that each need not be sent for every probe.
MAX_SETS = 16
NO_WEIGHTS = 0
# Of one trace; one of this length was cut off.
MAX_STEPS = 600
MAX_DIMENSIONS = 8
MAX_DIMENSION = 1 << 31
ITEM_SIZES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}
# What a request for a probe need not say.
PROBE: dict[str, Any] = {
    "construct_named": {},
    "globals": {},
    "output": 0,
    "trace": False,
    "without_norms": False,
    "zeroed": [],
    "weights": {"set": NO_WEIGHTS, "tensors": None},
    "calls": [],
    "autocast": None,
    "train": False,
    "cotangent": None,
    "directions": [],
    "moved": False,
    "left": None,
    "watch": False,
    "return_inputs": False,
    "plain_inputs": False,
    "output_only": False,
    "describe": False,
    "recast": None,
    "between": None,
    "factor": 1.0,
    "seed": 0,
    "keep": None,
}


class FrameError(Exception):
    """A frame that breaks a rule; the text says which."""


class Blob(NamedTuple):
    """A tensor as bytes, row-major, little-endian."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


@dataclass(frozen=True)
class Prefix:
    """The fixed part of a frame, already within the caps."""

    request: int
    header_size: int
    payload_size: int


def pack(request: int, header: dict[str, Any], blobs: Sequence[Blob] = ()) -> bytes:
    """One frame as bytes; `header` must not use the key "tensors"."""
    described = {**header, "tensors": [[blob.dtype, list(blob.shape)] for blob in blobs]}
    head = ENCODER.encode(described).encode("ascii")
    payload = b"".join(blob.data for blob in blobs)
    return PREFIX.pack(MAGIC, VERSION, request, len(head), len(payload)) + head + payload


def read_prefix(data: bytes) -> Prefix:
    """Check the fixed part; raises FrameError before anything it announces is read."""
    if len(data) != PREFIX_SIZE:
        raise FrameError(f"{len(data)} bytes where a prefix has {PREFIX_SIZE}")
    magic, version, request, header_size, payload_size = PREFIX.unpack(data)
    if magic != MAGIC:
        raise FrameError("wrong magic")
    if version != VERSION:
        raise FrameError(f"version {version}")
    if header_size > MAX_HEADER or payload_size > MAX_PAYLOAD:
        raise FrameError(f"announces {header_size} + {payload_size} bytes")
    return Prefix(request, header_size, payload_size)


def unpack(header: bytes, payload: bytes) -> tuple[dict[str, Any], list[Blob]]:
    """Header and tensors of a frame; raises FrameError for anything that does not fit."""
    try:
        head = DECODER.decode(header.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise FrameError(f"unreadable header: {type(error).__name__}") from None
    if not isinstance(head, dict):
        raise FrameError("the header is not an object")
    return head, _cut(head.pop("tensors", None), payload)


def _cut(described: Any, payload: bytes) -> list[Blob]:
    if not isinstance(described, list) or len(described) > MAX_TENSORS:
        raise FrameError("tensors are not described")
    blobs, start = [], 0
    for entry in described:
        dtype, shape = _describe(entry)
        end = start + _count(shape) * ITEM_SIZES[dtype]
        if end > len(payload):
            raise FrameError("more tensor bytes described than sent")
        blobs.append(Blob(dtype, shape, payload[start:end]))
        start = end
    if start != len(payload):
        raise FrameError("more bytes sent than described")
    return blobs


def _describe(entry: Any) -> tuple[str, tuple[int, ...]]:
    match entry:
        case [str(dtype), list(shape)] if dtype in ITEM_SIZES and len(shape) <= MAX_DIMENSIONS:
            if all(type(size) is int and 0 <= size <= MAX_DIMENSION for size in shape):
                return dtype, tuple(shape)
    raise FrameError("a tensor is described wrongly")


def _count(shape: tuple[int, ...]) -> int:
    # A zero hides the others: 0 x 2^31 x 2^31 is an empty payload with an absurd shape.
    if math.prod([size or 1 for size in shape]) > MAX_PAYLOAD:
        raise FrameError("a tensor is too large")
    return math.prod(shape)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(digits)
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


# Made once: json.dumps and json.loads with options make one for every call.
ENCODER = json.JSONEncoder(allow_nan=False)
DECODER = json.JSONDecoder(
    parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_without_duplicates
)
