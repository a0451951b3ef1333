"""What a check finds, and the sentences for what keeps it from finding anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from grader.model import Fault, Message, Observation, Status


class Finding(NamedTuple):
    """What a check found: the share of the points earned, and why not all of them."""

    credit: float
    message: Message | None = None
    mistake: str | None = None


PASSED = Finding(1.0)


def failed(key: str, /, **fields: Any) -> Finding:
    """A finding that costs all of the points, with its sentence."""
    return Finding(0.0, Message(key, fields))


def trouble(observation: Observation) -> Finding | None:
    """Why there is nothing to compare, if so."""
    if observation.status is Status.OK:
        return None
    return Finding(0.0, describe_trouble(observation))


def describe_trouble(observation: Observation) -> Message:
    """The sentence for a probe that did not come back normally."""
    fault = observation.fault
    phase = fault.phase if fault else "run"
    if observation.status is Status.RAISED and fault is not None:
        if fault.type == "NotImplementedError":
            return Message("trouble.unfilled", {"phase": phase, "line": fault.line})
        return describe_raised("trouble", fault)
    if observation.status is Status.TIMED_OUT:
        key = "trouble.budget" if phase == "budget" else "trouble.timed-out"
        return Message(key, {"seconds": observation.allowed_seconds})
    if observation.status is Status.DIED:
        return describe_death("trouble", observation.exit_code)
    if observation.status is Status.EXITED:
        return Message("trouble.exited", {"phase": phase})
    return Message("trouble.unreadable")


# What Python and torch say of what a sealed worker is refused, and of a device that is not there.
REFUSED = ("PermissionError", "FileNotFoundError")
REFUSALS = ("can't start new thread", "Operation not permitted", "Permission denied")
NO_CARD = ("not compiled with CUDA", "no NVIDIA driver", "PyTorch is not linked with support for")


def describe_raised(where: str, fault: Fault) -> Message:
    """The sentence for an exception: what it asks for, where that is known, else its own text."""
    said = {"phase": fault.phase, "type": fault.type, "text": fault.text, "line": fault.line}
    if any(text in fault.text for text in NO_CARD):
        return Message(f"{where}.gpu", said)
    return Message(f"{where}.closed" if _is_closed(fault) else f"{where}.raised", said)


def _is_closed(fault: Fault) -> bool:
    """True where a sealed worker was refused a file, the network, a process or a thread."""
    said = any(refusal in fault.text for refusal in REFUSALS)
    return said or not {*REFUSED}.isdisjoint(fault.bases)


def describe_death(where: str, code: int | None) -> Message:
    """The sentence for a process that ended: by itself, or by a signal (a negative code)."""
    if code is not None and code < 0:
        return Message(f"{where}.killed", {"signal": -code})
    return Message(f"{where}.died", {"code": code})


def letters(shape: Sequence[int]) -> str:
    """A shape as people write it."""
    return "[" + ", ".join(str(size) for size in shape) + "]"
