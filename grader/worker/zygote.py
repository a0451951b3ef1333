"""The process that imports torch once and forks a worker whenever the grader asks.

It holds no expected value and runs no candidate code. Requests arrive as single datagrams on a
socket: `fork` (with the three pipe ends of the new worker) answers the process id, `end` kills a
worker and answers how it ended, and `twin` makes another zygote, which greets on the socket that
came with it. With no `fork` on this system the same program runs one worker.
"""

from __future__ import annotations

import array
import ctypes
import gc
import os
import platform
import signal
import socket
import sys
import traceback
from typing import Any

from . import protocol
from .seal import privileges
from .torch_import import import_torch

DATAGRAM = 64 << 10


def serve(mode: str, arguments: list[str]) -> None:
    """Run as a zygote or as a single worker until the grader closes the line; never returns."""
    if mode == "spawn":
        _serve_one()
    control = socket.socket(fileno=int(arguments[0]))
    try:
        warm()
        if mode == "rehearsed":
            rehearse()
    except Exception as error:
        _answer(control, 0, {"failed": f"{type(error).__name__}: {error}"})
        os._exit(1)
    _begin(control)
    running: set[int] = set()
    while True:
        data, descriptors = _receive(control)
        if not data:
            for pid in running:
                _end(pid)
            _end_orphans(set())
            os._exit(0)
        prefix = protocol.read_prefix(data[: protocol.PREFIX_SIZE])
        request, _ = protocol.unpack(data[protocol.PREFIX_SIZE :], b"")
        if request["op"] == "twin":
            # It is asked by many on one socket, so the answer is the twin's own greeting.
            control = _twin(control, descriptors)
            continue
        if request["op"] == "fork":
            reply = _fork(control, descriptors)
            running.add(reply["pid"])
        else:
            running.discard(request["pid"])
            reply = _end(request["pid"])
            _end_orphans(running)
        _answer(control, prefix.request, reply)


def _begin(control: socket.socket) -> None:
    _answer(control, 0, {**environment(), "pid": str(os.getpid())})
    _adopt_orphans()
    _hide_memory()


def _twin(control: socket.socket, descriptors: list[int]) -> socket.socket:
    """Fork a zygote that serves the socket given; the socket that is served from now on."""
    # Each twin ends with those that it serves, whenever that is.
    signal.signal(signal.SIGCHLD, bury)
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        control.close()
        control = socket.socket(fileno=descriptors[0])
        _begin(control)
        return control
    for descriptor in descriptors:
        os.close(descriptor)
    return control


def bury(*_: Any) -> None:
    """Leave no zombie of what has ended, whenever that is."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return


def warm() -> None:
    """Import torch and touch what every worker will need, with one thread.

    An operation on two threads before a fork would leave the child without its thread pool,
    waiting for ever.
    """
    torch = import_torch()
    torch.set_num_threads(1)
    for dtype in (torch.float64, torch.float32):
        linear = torch.nn.Linear(4, 4).to(dtype)
        x = torch.ones(1, 2, 4, dtype=dtype, requires_grad=True)
        torch.softmax(linear(x) @ x.transpose(1, 2), dim=-1).sum().backward()
    from . import child, defaults, ready_made  # noqa: F401  imported here so that no worker has to

    ready_made.install()
    defaults.install()

    # Frozen, what torch left behind is never looked at again and stays shared with the children.
    # Collecting it first would take an eighth of the import's time.
    gc.freeze()
    gc.enable()


def rehearse() -> None:
    """Do what probes need too, for a tenth of a second: workers then have more pages in common."""
    from . import rehearsal

    rehearsal.rehearse()
    gc.freeze()


def environment() -> dict[str, str]:
    """The versions a report names."""
    import torch

    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _serve_one() -> None:
    reader, writer = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    warm()
    from . import child

    hello = protocol.pack(0, environment())
    os.write(writer, hello)
    child.live(reader, writer)


def _fork(control: socket.socket, descriptors: list[int]) -> dict[str, Any]:
    from . import child

    reader, writer, output = descriptors
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            control.close()
            os.setsid()
            os.dup2(output, 1)
            os.dup2(output, 2)
            child.live(reader, writer, zygote)
        except BaseException:
            # Our own fault or a broken line: say it where a developer looks, and end.
            traceback.print_exc()
        finally:
            os._exit(70)
    for descriptor in descriptors:
        os.close(descriptor)
    return {"pid": pid}


def _adopt_orphans() -> None:
    """Ask the kernel to give us what a worker's children leave behind (prctl 36)."""
    try:
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def _hide_memory() -> None:
    """Let no worker read or stop this process, should it still be of the same user."""
    try:
        privileges.hide_memory()
    except OSError:
        pass


def _end_orphans(running: set[int]) -> None:
    """End whatever is a child of ours and not a running worker."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="utf-8") as file:
            children = [int(pid) for pid in file.read().split()]
    except OSError:
        return
    for pid in children:
        if pid not in running:
            _end(pid)


def _end(pid: int) -> dict[str, Any]:
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    _, status, usage = os.wait4(pid, 0)
    return {
        "exit": os.waitstatus_to_exitcode(status),
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "max_rss_kib": usage.ru_maxrss,
    }


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    width = array.array("i").itemsize
    try:
        data, ancillary, _, _ = control.recvmsg(DATAGRAM, socket.CMSG_SPACE(8 * width))
    except ConnectionResetError:
        # Closed as well, by one who has not read the greeting.
        return b"", []
    found = array.array("i")
    for _, kind, content in ancillary:
        if kind == socket.SCM_RIGHTS:
            found.frombytes(content[: len(content) - len(content) % width])
    return data, list(found)


def _answer(control: socket.socket, request: int, header: dict[str, Any]) -> None:
    try:
        control.sendall(protocol.pack(request, header))
    except OSError:
        sys.exit(1)
