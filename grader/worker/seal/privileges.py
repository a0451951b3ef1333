"""Rights given up: the user, the capabilities, the way to gain new ones, being read by others."""

from __future__ import annotations

import ctypes
import os
import signal
import struct

from . import kernel

SET_DEATH_SIGNAL, SET_DUMPABLE, NO_NEW_PRIVILEGES = 1, 4, 38
KILL, SET_GROUP, SET_USER = 5, 6, 7
CAPABILITIES_VERSION = 0x20080522
# Numbers that systems give to passing services; each worker takes one by its process id.
FIRST_USER, USERS = 61184, 4000


def change_user() -> None:
    """Become a user that owns nothing; raises OSError where that is not allowed.

    Only where the parent, who has the rights that this process has now, can still end it.
    """
    if os.geteuid() != 0 or not all(map(has, (KILL, SET_GROUP, SET_USER))):
        raise PermissionError("not the superuser, or not with all its rights")
    user = FIRST_USER + os.getpid() % USERS
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def drop() -> None:
    """Give up every capability and the ways to gain one."""
    header = ctypes.create_string_buffer(struct.pack("<Ii", CAPABILITIES_VERSION, 0), 8)
    nothing = ctypes.create_string_buffer(24)
    kernel.call("capset", ctypes.addressof(header), ctypes.addressof(nothing))
    kernel.control(NO_NEW_PRIVILEGES, 1)


def hide_memory() -> None:
    """Let no process of the same user read or stop this one."""
    kernel.control(SET_DUMPABLE, 0)


def end_with(parent: int | None) -> None:
    """End when the parent does. None where the parent's threads come and go: one of them counts."""
    if parent is None:
        raise OSError("the parent is not a zygote")
    kernel.control(SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def has(capability: int) -> bool:
    """True when this process has the capability of this number in effect."""
    with open("/proc/self/status", encoding="utf-8", errors="replace") as file:
        line = next((one for one in file if one.startswith("CapEff:")), "CapEff: 0")
    return bool(int(line.split()[1], 16) >> capability & 1)
