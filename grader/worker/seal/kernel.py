"""System calls that Python has no function for, through the C library."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
from typing import Any

# Number on x86_64, number on aarch64.
NUMBERS = {
    "seccomp": (317, 277),
    "capset": (126, 91),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "unshare": (272, 97),
}


@functools.cache
def library() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int) -> int:
    """Make a system call; raises OSError with its error."""
    column = ("x86_64", "aarch64").index(platform.machine())
    return _check(name, library().syscall, NUMBERS[name][column], *arguments)


def control(option: int, *arguments: int) -> int:
    """prctl; raises OSError with its error."""
    padded = (*arguments, 0, 0, 0, 0)[:4]
    return _check(f"prctl {option}", library().prctl, option, *padded)


def _check(name: str, function: Any, *arguments: int) -> int:
    result = int(function(*(ctypes.c_long(argument) for argument in arguments)))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result
