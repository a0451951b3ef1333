"""Where a worker shuts itself in, after fork and before the candidate's first line.

Limits are in force here. The walls (the closed-book system call filter and the layers around it)
have their one place in `close`: whatever is added reports its name as a layer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def close(limits: dict[str, Any]) -> list[str]:
    """Apply every layer this system has; returns the names of those in force."""
    layers = []
    for name, apply in LAYERS.items():
        try:
            apply(limits)
        except (ImportError, OSError, ValueError):
            continue
        layers.append(name)
    return layers


def limit_memory(limits: dict[str, Any]) -> None:
    """Cap the address space at what the process has now plus the submission's share.

    Relative, since torch alone maps several hundred MiB.
    """
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    cap = mapped + (int(limits["memory_mib"]) << 20)
    resource.setrlimit(resource.RLIMIT_AS, (cap, cap))


def limit_processor(limits: dict[str, Any]) -> None:
    """Cap processor seconds: the second line behind the grader's own clock."""
    import resource

    seconds = int(limits["total_seconds"]) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def limit_files(limits: dict[str, Any]) -> None:
    """A file may not grow past 1 MiB, and no core may be written."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)


LAYERS: dict[str, Callable[[dict[str, Any]], None]] = {
    "memory-limit": limit_memory,
    "processor-limit": limit_processor,
    "file-size-limit": limit_files,
}
