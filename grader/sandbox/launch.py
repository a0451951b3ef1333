"""Starts the process that runs candidates' code, before anything else is imported.

Nothing here needs numpy or a bank, so that the import of torch over there overlaps with
everything the grader does here.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

WORKER = Path(__file__).resolve().parent.parent / "worker" / "__main__.py"

# How long an import of torch may take.
START_SECONDS = 120.0
# Huge pages where the system has them, and large tensors from memory that was used before: half
# the page faults of a worker.
MALLOC = (
    "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432:"
    "glibc.malloc.trim_threshold=134217728"
)

# One thread each: a library that starts threads before the fork leaves its children without
# them. No compiler: it would take minutes, and a traced file is the same file.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "TORCHDYNAMO_DISABLE": "1",
    "PYTORCH_JIT": "0",
    "MPLBACKEND": "Agg",
    "GLIBC_TUNABLES": MALLOC,
    "LANG": "C.UTF-8",
}
# What a child process cannot start without; everything else stays here.
PASSED_ON = ("SYSTEMROOT", "LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


class Process(Protocol):
    """What a zygote runs in."""

    pid: int

    def wait(self, timeout: float) -> object:
        """Until it has ended; raises subprocess.TimeoutExpired."""
        ...

    def kill(self) -> None:
        """End it at once, if it has not ended."""
        ...


@dataclass
class Launched:
    """A zygote on its way up: its process, and our end of the socket to it."""

    process: Process
    control: socket.socket


def hide_memory() -> None:
    """Let no process of the same user read this one's memory, where the expected values are."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)


def can_fork() -> bool:
    """Fork is missing on Windows and unsafe under macOS system libraries (CPython #84287)."""
    return sys.platform.startswith("linux")


def launch_zygote(program: Sequence[str] = ()) -> Launched:
    """Start the zygote and return at once; it greets on the socket when torch is there.

    `program` is another one that serves as such; the number of its socket comes last.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [*(program or command("fork")), str(theirs.fileno())],
        env=environment(),
        cwd="/",
        pass_fds=(theirs.fileno(),),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    theirs.close()
    return Launched(process, ours)


def launch_worker() -> subprocess.Popen[bytes]:
    """Start one worker without a zygote: frames on its standard input and output."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command("spawn"),
        env=environment(),
        cwd="/",
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        bufsize=0,
    )


def command(*arguments: str) -> list[str]:
    """The worker's command line. Isolated mode: no user site, no PYTHON* variables."""
    return [sys.executable, "-I", str(WORKER), *arguments]


def environment() -> dict[str, str]:
    """The worker's whole environment: a fixed list, so that no secret of ours is in it."""
    return ENVIRONMENT | {name: os.environ[name] for name in PASSED_ON if name in os.environ}
