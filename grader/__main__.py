"""The entry of `mha-grade`: starts the worker's process before anything else is imported."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Start torch's import over there, then read the command line here."""
    # Short-lived and small: collecting garbage would cost more than it frees.
    gc.disable()
    # Before numpy: its linear algebra would start a thread per core for matrices of 18 x 18.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    from grader.sandbox.launch import can_fork, launch_zygote

    names_a_file = any(os.path.isfile(argument) for argument in sys.argv[1:])
    launched = launch_zygote() if names_a_file and can_fork() else None
    from grader.cli import run

    run(launched)


if __name__ == "__main__":
    main()
