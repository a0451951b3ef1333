"""The entry of `mha-drill`: starts the worker's process before anything else is imported."""

from __future__ import annotations

import os
import sys

# Commands that grade; the others are over before torch would be there.
GRADING = ("start", "resume", "--web", "--browser")


def main() -> None:
    """Start torch's import over there, then read the command line here."""
    # Before numpy: its linear algebra would start a thread per core for matrices of 18 x 18.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    from grader.sandbox.launch import can_fork, launch_zygote

    grades = any(argument in GRADING for argument in sys.argv[1:]) and "--help" not in sys.argv
    launched = launch_zygote() if grades and can_fork() else None
    from grader.drill.cli import run

    run(launched)


if __name__ == "__main__":
    main()
