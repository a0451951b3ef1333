"""The last step of sealing: try what is forbidden now, while nothing here is the candidate's."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable


def try_all() -> list[str]:
    """The names of the things that were tried and refused; on Linux, where signal 0 is harmless."""
    if not sys.platform.startswith("linux"):
        return []
    return [name for name, attempt in ATTEMPTS.items() if _is_refused(attempt)]


def _is_refused(attempt: Callable[[], None]) -> bool:
    try:
        attempt()
    except (PermissionError, BlockingIOError):
        # The latter where a limit of 0 processes says "try again".
        return True
    except OSError:
        # Failed for another reason: nothing has been shown.
        return False
    return False


def _open() -> None:
    try:
        os.close(os.open("/", os.O_RDONLY))
    except FileNotFoundError as error:
        # It is there all the same: so the filter speaks of files that are read.
        raise PermissionError(error.errno, "refused") from None


def _connect() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()


def _begin_process() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _begin_program() -> None:
    # Refused before the kernel looks whether there is such a file.
    os.execv("/nonexistent/program", ["program"])


def _signal_parent() -> None:
    os.kill(os.getppid(), 0)


def _limit_parent() -> None:
    import resource

    resource.prlimit(os.getppid(), resource.RLIMIT_CORE)


ATTEMPTS: dict[str, Callable[[], None]] = {
    "files": _open,
    "network": _connect,
    "processes": _begin_process,
    "programs": _begin_program,
    "signals": _signal_parent,
    "limits": _limit_parent,
}
