"""A process that has imported torch, and forks zygotes from then on.

Run as `python -I serve.py SOCKET`, with a pipe as standard input: it ends when that closes. Who
connects hands over the socket that a zygote is to serve, and is greeted there.
"""

import importlib
import os
import runpy
import select
import signal
import socket
import sys
from pathlib import Path

WORKER = Path(__file__).resolve().parents[2] / "grader" / "worker" / "__main__.py"


def bear(zygote, listener):
    """One zygote for the next one who asks."""
    asked, _ = listener.accept()
    _, (control,), _, _ = socket.recv_fds(asked, 1, 1)
    if os.fork() == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listener.close()
        asked.close()
        sys.argv[:] = ["submission"]
        # It is warm.
        zygote.warm = lambda: None
        zygote.serve("fork", [str(control)])
    os.close(control)
    asked.close()


def main(path):
    runpy.run_path(str(WORKER))["make_package"]()
    zygote = importlib.import_module("mha_worker.zygote")
    zygote.warm()
    signal.signal(signal.SIGCHLD, zygote.bury)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            os._exit(0)
        bear(zygote, listener)


if __name__ == "__main__":
    main(sys.argv[1])
