"""Probes as requests, and arrays as the bytes that travel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.model import (
    Array,
    Earlier,
    Input,
    Option,
    Probe,
    Settings,
)
from grader.worker.protocol import PROBE, Blob

NUMPY = {"float64": "<f8", "float32": "<f4", "float16": "<f2", "bool": "?"}
NUMPY |= {"int64": "<i8", "int32": "<i4", "int16": "<i2", "int8": "<i1", "uint8": "<u1"}


def to_blob(array: Array) -> Blob:
    """An array as a blob; floats travel as float64, whatever they become over there."""
    dtype = {"f": "float64", "b": "bool", "i": "int64"}[array.dtype.kind]
    data = np.ascontiguousarray(array, dtype=NUMPY[dtype])
    return Blob(dtype, array.shape, data.tobytes())


def to_array(blob: Blob) -> Array:
    """A blob as an array; every float becomes float64, exactly."""
    if blob.dtype == "bfloat16":
        wide = np.frombuffer(blob.data, dtype="<u2").astype(np.uint32) << 16
        return wide.view(np.float32).astype(np.float64).reshape(blob.shape)
    array = np.frombuffer(blob.data, dtype=NUMPY[blob.dtype]).reshape(blob.shape)
    if array.dtype.kind != "f" or array.dtype == np.float64:
        return array
    # A NaN may be of a kind that numpy warns of; it is a value like any other here.
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def write_probe(
    probe: Probe, number: int = 1, held: bool = False
) -> tuple[dict[str, Any], list[Blob]]:
    """The request for one probe, its weights as set `number`, left out if the worker has it."""
    blobs: list[Blob] = []

    def add(array: Array) -> int:
        blobs.append(to_blob(array))
        return len(blobs) - 1

    def add_all(arrays: Mapping[str, Array]) -> dict[str, int]:
        return {name: add(value) for name, value in arrays.items()}

    def describe(item: Input | Option | Earlier | None) -> dict[str, Any] | None:
        if item is None:
            return None
        if isinstance(item, Option):
            return {"value": item.value, "name": item.name}
        if isinstance(item, Earlier):
            return {"earlier": item.item, "name": item.name}
        tensor = {"tensor": add(item.value), "dtype": item.dtype, "storage": item.storage}
        return tensor | {"name": item.name}

    header = {
        "op": "probe",
        "class": probe.class_name,
        "construct": [_write_value(value) for value in probe.construct],
        "construct_named": {n: _write_value(v) for n, v in probe.construct_named.items()},
        "globals": dict(probe.globals),
        "output": probe.output,
        "trace": probe.trace,
        "without_norms": probe.without_norms,
        "zeroed": list(probe.zeroed),
        "weights": {"set": number, "tensors": None if held else add_all(probe.weights)},
        "calls": [[describe(item) for item in call] for call in probe.calls],
        "dtype": probe.dtype,
        "autocast": probe.autocast,
        "train": probe.train,
        "cotangent": None if probe.cotangent is None else add(probe.cotangent),
        "directions": [add(direction) for direction in probe.directions],
        "moved": probe.moved,
        "left": None if probe.left is None else list(probe.left),
        "watch": probe.watch,
        "return_inputs": probe.return_inputs,
        "plain_inputs": probe.plain_inputs,
        "output_only": probe.output_only,
        "describe": probe.describe,
        "recast": probe.recast,
        "between": probe.between,
        "factor": probe.factor,
        "seed": probe.seed,
        "keep": None if probe.fresh else probe.built,
    }
    # Mostly a probe asks for one thing, and a shorter request is read sooner.
    return {key: x for key, x in header.items() if key not in PROBE or PROBE[key] != x}, blobs


def _write_value(value: Any) -> Any:
    if isinstance(value, Settings):
        return {"settings": [list(pair) for pair in value.values], "class": value.class_name}
    return value
