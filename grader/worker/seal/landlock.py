"""Landlock: no file may be opened, written or run, whatever the filter of system calls would say.

A ruleset without rules refuses all that it handles. What it cannot refuse: `stat`, and changing the
mode, owner or times of a file.
"""

from __future__ import annotations

import ctypes
import os
import struct

from . import kernel

VERSION = 1
# Rights on files that the versions of the interface know; on the network and signals since 4, 6.
FILES = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
NETWORK, SCOPES = 0b11, 0b11


def close() -> None:
    """Shut this process in; raises OSError where the kernel has no Landlock."""
    version = kernel.call("landlock_create_ruleset", 0, 0, VERSION)
    files = (1 << FILES[min(version, 5)]) - 1
    network = NETWORK if version >= 4 else 0
    scopes = SCOPES if version >= 6 else 0
    handled = struct.pack("<QQQ", files, network, scopes)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    buffer = ctypes.create_string_buffer(handled, len(handled))
    ruleset = kernel.call("landlock_create_ruleset", ctypes.addressof(buffer), size, 0)
    try:
        kernel.call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)
