"""What a worker may use: memory, processor, size of files, number of processes."""

from __future__ import annotations

import os
from typing import Any

MAX_FILE = 1 << 20
MAX_OPEN = 64


def limit_memory(request: dict[str, Any]) -> None:
    """Cap the address space at what the process has now plus the submission's share.

    Relative, since torch alone maps several hundred MiB.
    """
    import resource

    with open("/proc/self/statm", encoding="utf-8") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    cap = mapped + (int(request["limits"]["memory_mib"]) << 20)
    resource.setrlimit(resource.RLIMIT_AS, (cap, cap))


def limit_processor(request: dict[str, Any]) -> None:
    """Cap processor seconds: the second line behind the grader's own clock."""
    import resource

    seconds = int(request["limits"]["total_seconds"]) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def limit_files(request: dict[str, Any]) -> None:
    """A file may not grow past 1 MiB, few may be open, and no core may be written."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE, MAX_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (MAX_OPEN, MAX_OPEN))
    os.umask(0o077)


def limit_processes(request: dict[str, Any]) -> None:
    """No further process or thread; the kernel does not hold the superuser to it."""
    import resource

    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
