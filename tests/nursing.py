"""Commands in processes of their own that need not import torch once more.

Nearly all of a short command's processor time is that import, in the zygote it starts. With this
environment it gets one that is forked from a process which has torch already; all else is as in
use. Tests of the start itself go without.
"""

import atexit
import functools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grader.sandbox import launch

ROOT = Path(__file__).resolve().parent.parent
NURSERY = Path(__file__).resolve().parent / "nursery"
START_SECONDS = 60.0


@functools.cache
def open_nursery():
    """The nursery of this test process, and the socket where it is asked; it ends with us."""
    path = Path(tempfile.mkdtemp()) / "nursery"
    process = subprocess.Popen(
        [sys.executable, "-I", NURSERY / "serve.py", path],
        stdin=subprocess.PIPE,
        env=launch.environment(),
        cwd="/",
    )
    atexit.register(_close, process)
    until = time.monotonic() + START_SECONDS
    while not path.exists():
        assert process.poll() is None, "the nursery has ended"
        assert time.monotonic() < until, "the nursery does not open"
        time.sleep(0.01)
    return process, path


def _close(process):
    process.stdin.close()
    process.wait(5.0)


def environment(*folders):
    """What a command's environment needs for it, `folders` being further ones to import from."""
    if not launch.can_fork():
        return {"PYTHONPATH": os.pathsep.join([*map(str, folders), str(ROOT)])}
    _, path = open_nursery()
    places = [*map(str, folders), str(NURSERY), str(ROOT)]
    return {"PYTHONPATH": os.pathsep.join(places), "MHA_GRADE_NURSERY": str(path)}
