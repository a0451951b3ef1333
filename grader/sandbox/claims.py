"""What a worker has answered, read as claims; whatever does not fit is refused here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grader.clean import clean
from grader.errors import ProtocolError
from grader.model import (
    Argument,
    Array,
    CandidateClass,
    Fault,
    Observation,
    Parameter,
    Probe,
    Returned,
    Status,
    Step,
)
from grader.sandbox.wire import to_array
from grader.worker.protocol import MAX_STEPS, Blob

MAX_TEXT = 2000
MAX_NAME = 1000
MAX_WANTED = 50
MAX_PARAMETERS = 1000
# Each traced value is looked up among all landmarks: a large one would hold up the grader.
MAX_STEP_SIZE = 4096
MAX_AXES = 64
MAX_NUMBER = 1 << 31
MAX_PARAMETER_SIZE = 1 << 22
# What reading a reply of the wrong form can raise.
CLAIMS = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)


def read_observation(
    header: dict[str, Any], blobs: list[Blob], shared: bool = False
) -> Observation:
    """The reply to a probe; raises ProtocolError when a field is missing or of a wrong kind."""
    try:
        arrays = [to_array(blob) for blob in blobs]
        dtypes = [blob.dtype for blob in blobs]
        gradients = header.get("parameter_gradients", {})
        return Observation(
            status=Status(header["status"]),
            fault=read_fault(header),
            returned=tuple(_read_returned(r, arrays, dtypes) for r in header.get("returned", [])),
            parameters=_read_parameters(header.get("parameters", [])),
            input_gradients=_pick(header.get("input_gradients", []), arrays),
            parameter_gradients={
                clean(name, MAX_NAME): _pick([at], arrays)[0] for name, at in gradients.items()
            },
            ready_made=read_calls(header.get("seen", [])),
            turned=tuple(clean(name, 80) for name in header.get("turned", [])),
            asked=tuple(clean(name, 80) for name in header.get("asked", [])),
            trace=_read_trace(header.get("trace", []), arrays),
            cut=len(header.get("trace", [])) == MAX_STEPS,
            stray=tuple(clean(name, 80) for name in header.get("stray", [])),
            exit_code=_optional_int(header.get("exit")),
            shared=shared,
        )
    except CLAIMS as error:
        raise ProtocolError("worker.unreadable", detail=type(error).__name__) from None


def check_complete(probe: Probe, found: Observation) -> None:
    """Refuse a reply that says all is well and leaves out what the probe asked for."""
    if found.status is not Status.OK:
        return
    complete = len(found.returned) == len(probe.calls)
    if probe.cotangent is not None and probe.calls:
        complete &= len(found.input_gradients) == len(probe.calls[-1])
    if probe.return_inputs:
        complete &= all(len(r.after) == len(c) for r, c in zip(found.returned, probe.calls))
    if not complete:
        raise ProtocolError("worker.unreadable", detail="incomplete")


def read_classes(header: dict[str, Any]) -> tuple[CandidateClass, ...]:
    """The reply to a load; raises ProtocolError like `read_observation`."""
    try:
        return tuple(_read_class(found) for found in header["classes"])
    except CLAIMS as error:
        raise ProtocolError("worker.unreadable", detail=type(error).__name__) from None


def read_wanted(header: Mapping[str, Any]) -> set[str]:
    """The modules that a worker could not find; only names are believed to be names."""
    wanted = header.get("wanted", [])
    if not isinstance(wanted, list):
        return set()
    return {name for name in wanted[:MAX_WANTED] if isinstance(name, str) and len(name) < 200}


def read_calls(found: list[list[Any]]) -> tuple[tuple[str, int], ...]:
    """Names with the lines they are at, the first ones of many."""
    return tuple(
        (clean(name, 80), min(_index(line), MAX_NUMBER)) for name, line in found[:MAX_WANTED]
    )


def read_fault(header: dict[str, Any]) -> Fault | None:
    """The exception a reply speaks of, its text cut."""
    if "fault" not in header:
        phase = header.get("phase")
        return None if phase is None else Fault(clean(phase, 20), "SystemExit", (), "", None)
    fault = header["fault"]
    return Fault(
        phase=clean(fault["phase"], 20),
        type=clean(fault["type"], 80),
        bases=tuple(clean(base, 80) for base in fault["bases"][:16]),
        text=clean(fault["text"], MAX_TEXT),
        line=_optional_int(fault["line"]),
    )


def _read_class(found: dict[str, Any]) -> CandidateClass:
    return CandidateClass(
        name=clean(found["name"], 80),
        line=int(found["line"]),
        is_module=bool(found["is_module"]),
        has_forward=bool(found["has_forward"]),
        constructor=_read_arguments(found["constructor"]),
        forward=_read_arguments(found["forward"]),
        used_by=tuple(clean(name, 80) for name in found["used_by"]),
        reads=tuple(clean(name, 80) for name in found["reads"]),
    )


def _read_arguments(found: list[list[Any]]) -> tuple[Argument, ...]:
    return tuple(
        Argument(clean(name, 80), str(kind), bool(need), clean(default, 80), clean(noted, 80))
        for name, kind, need, default, noted in found
    )


def _read_parameters(found: list[list[Any]]) -> tuple[Parameter, ...]:
    if len(found) > MAX_PARAMETERS:
        raise ValueError("too many parameters")
    read = tuple(_read_parameter(one) for one in found)
    # Cut or cleaned, two names may have become one.
    if len({parameter.name for parameter in read}) != len(read):
        raise ValueError("parameters of one name")
    return read


def _read_parameter(found: list[Any]) -> Parameter:
    name, shape, owner, registered = found
    sizes = tuple(_index(size) for size in shape)
    # The grader draws values of this shape: a claim of terabytes must end here.
    if math.prod(max(size, 1) for size in sizes) > MAX_PARAMETER_SIZE:
        raise ValueError("a parameter is too large")
    return Parameter(clean(name, MAX_NAME), sizes, clean(owner, 80), bool(registered))


def _read_returned(found: dict[str, Any], arrays: list[Array], dtypes: list[str]) -> Returned:
    where = {i: t for i, t in enumerate(found["tensors"]) if t is not None}
    return Returned(
        structure=clean(found["structure"], 80),
        kinds=tuple(clean(kind, 120) for kind in found["kinds"]),
        tensors={i: arrays[_index(t)] for i, t in where.items()},
        dtypes={i: dtypes[_index(t)] for i, t in where.items()},
        after=_pick(found["after"], arrays),
    )


def _read_trace(found: list[list[Any]], arrays: list[Array]) -> tuple[Step, ...]:
    if len(found) > MAX_STEPS:
        raise ValueError("too many steps")
    return tuple(_read_step(one, at, arrays) for at, one in enumerate(found))


def _read_step(found: list[Any], at: int, arrays: list[Array]) -> Step:
    operation, line, name, sources, shape, value = found
    step = Step(
        operation=clean(operation, 80),
        line=_index(line),
        name=clean(name, 80),
        sources=tuple(clean(source, MAX_NAME) for source in sources[:8]),
        shape=tuple(_index(size) for size in shape),
        value=_pick([value], arrays)[0],
    )
    if len(step.shape) > MAX_AXES or max(step.line, *step.shape, 0) > MAX_NUMBER:
        raise ValueError("a number is too large")
    if step.value is not None and (
        step.value.shape != step.shape or step.value.size > MAX_STEP_SIZE
    ):
        raise ValueError("not a value of this shape, or a large one")
    if any(source.isdecimal() and int(source) >= at for source in step.sources):
        raise ValueError("made of what comes later")
    return step


def _pick(indices: Sequence[Any], arrays: list[Array]) -> tuple[Array | None, ...]:
    return tuple(None if i is None else arrays[_index(i)] for i in indices)


def _index(claimed: Any) -> int:
    if type(claimed) is not int or claimed < 0:
        raise ValueError("not an index")
    return claimed


def _optional_int(claimed: Any) -> int | None:
    return claimed if type(claimed) is int else None
