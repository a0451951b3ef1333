"""The closed book: the policy as a program for the kernel's filter of system calls.

Written by hand, for want of a library that is kept and everywhere: a few instructions of classic
BPF per call. Once loaded it holds for the rest of the process's life and for all it may start.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Iterator

from . import kernel, numbers, policy

# What the kernel says of the machine a call was made for (AUDIT_ARCH_*).
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# x86_64 has a second set of numbers from here on.
X32 = 0x40000000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
NO_SUCH_CALL = 38
SET_FILTER, ALL_THREADS, FAST = 1, 1, 4

Instruction = tuple[int, int, int, int]


def close(process: int) -> None:
    """Load the filter for this process, whose id is `process`; raises OSError where it cannot."""
    machine = platform.machine()
    if machine not in ARCHITECTURES or struct.calcsize("P") != 8:
        raise OSError(NO_SUCH_CALL, f"no table of system calls for {machine}")
    code = b"".join(struct.pack("<HBBI", *one) for one in assemble(machine, process))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = Program(len(code) // 8, ctypes.addressof(buffer))
    kernel.call("seccomp", SET_FILTER, ALL_THREADS | FAST, ctypes.addressof(program))


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def assemble(machine: str, process: int) -> list[Instruction]:
    """The filter's instructions; `process` is the one that may be sent signals."""
    known = numbers.read_numbers(machine)
    code: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    if machine == "x86_64":
        code += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)]
    for name in policy.ALLOWED.split():
        code += _answer(known.get(name), ALLOW)
    for name, rule in policy.CHECKED.items():
        code += _check(known[name], rule, process)
    for name, argument in policy.OPENING.items():
        code += _open(known.get(name), argument)
    for name in policy.IGNORED.split():
        code += _answer(known.get(name), ERROR)
    for error, names in policy.REFUSED.items():
        for name in names.split():
            code += _answer(known.get(name), ERROR | error)
    return [*code, (RETURN, 0, 0, ERROR | NO_SUCH_CALL)]


def _answer(number: int | None, answer: int) -> Iterator[Instruction]:
    if number is not None:
        yield EQUAL, 0, 1, number
        yield RETURN, 0, 0, answer


def _open(number: int | None, argument: int) -> Iterator[Instruction]:
    if number is not None:
        yield EQUAL, 0, 4, number
        yield LOAD, 0, 0, ARGUMENTS + 8 * argument
        yield ANY_BIT, 0, 1, policy.FOR_WRITING
        yield RETURN, 0, 0, ERROR | errno.EACCES
        yield RETURN, 0, 0, ERROR | errno.ENOENT


def _check(number: int, rule: policy.Checked, process: int) -> Iterator[Instruction]:
    # The lower half of the argument: all that the kernel looks at in these calls.
    values = (*rule.values, process) if rule.own else rule.values
    yield EQUAL, 0, 2 * len(values) + 2, number
    yield LOAD, 0, 0, ARGUMENTS + 8 * rule.argument
    for value in values:
        yield from _answer(value, ALLOW)
    yield RETURN, 0, 0, ERROR | rule.error
