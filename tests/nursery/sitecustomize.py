"""Where a nursery is named, commands take their zygote from there; read when Python starts."""

import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass

from grader.sandbox import launch


@dataclass
class Adopted:
    """In place of the process that a command would have started."""

    pid: int

    def poll(self):
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self, timeout=60.0):
        until = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired("zygote", timeout)
            time.sleep(0.002)
        return 0

    def kill(self):
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def adopt(program=()):
    """A zygote on its way up, like that of launch_zygote; one that would rehearse does without."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with socket.socket(socket.AF_UNIX) as asking, theirs:
        asking.connect(os.environ["MHA_GRADE_NURSERY"])
        socket.send_fds(asking, [b"z"], [theirs.fileno()])
        pid = int.from_bytes(asking.recv(8), "big")
    return launch.Launched(Adopted(pid), ours)


if "MHA_GRADE_NURSERY" in os.environ:
    launch.launch_zygote = adopt
