"""What sealing a worker costs over not sealing it, and a cold grade of one file each way.

Run with the installed package's Python: `python benchmarks/seal.py [ROUNDS]`. Rounds alternate, so
that a change in the machine's speed meets both.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from grader.intake import submit_text
from grader.model import Limits
from grader.sandbox.forge import Forge, open_forge
from grader.sandbox.level import WALLS
from grader.sandbox.session import Session

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "import torch\nfrom torch import nn\n\nclass Attention(nn.Module):\n    pass\n"
ANSWER = ROOT / "reference" / "self_attention.py"
UNSEALED = (*WALLS, "trial")
# What the command does, with layers left out.
COLD = """
import functools, gc, sys
gc.disable()
from grader.sandbox.launch import launch_zygote
launched = launch_zygote()
import grader.grading
grader.grading.Session = functools.partial(grader.grading.Session, without={without!r})
from grader.cli import run
sys.argv[1:] = [{answer!r}, "--seed", "1"]
run(launched)
"""
WITHOUT = {
    "limits only, as before there was a seal": UNSEALED,
    "system call filter": tuple(layer for layer in WALLS if layer != "system-call-filter"),
    "landlock": tuple(layer for layer in WALLS if layer != "landlock"),
    "all but namespaces": ("namespaces",),
    "all layers": (),
}


def measure(forge: Forge, without: tuple[str, ...]) -> tuple[float, float]:
    """Wall and processor milliseconds from fork to the end of a worker that loaded a file."""
    session = Session(forge, submit_text("mine.py", SOURCE), Limits(), without=without)
    began = time.perf_counter()
    session.load()
    session.close()
    return 1000 * (time.perf_counter() - began), 1000 * session.cpu_seconds


def compare(rounds: int) -> None:
    forge = open_forge()
    found = {name: [] for name in WITHOUT}
    for _ in range(rounds):
        for name, without in WITHOUT.items():
            found[name].append(measure(forge, without))
    forge.close()
    bare = next(iter(found.values()))
    print(f"{'layers':44} {'wall ms':>8} {'cpu ms':>8} {'cpu over none':>14}   ({rounds} rounds)")
    for name, pairs in found.items():
        wall, cpu = (statistics.median(part) for part in zip(*pairs))
        over = statistics.median(one[1] - other[1] for one, other in zip(pairs, bare))
        print(f"{name:44} {wall:8.2f} {cpu:8.2f} {over:14.2f}")


def grade_cold(without: tuple[str, ...]) -> tuple[float, float]:
    """Wall and processor seconds of one graded file, from the start of the command to its end."""
    began = time.perf_counter()
    command = [sys.executable, "-c", COLD.format(without=without, answer=str(ANSWER))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


def compare_cold(rounds: int) -> None:
    ways = {"unsealed": UNSEALED, "sealed": ()}
    found = {name: [] for name in ways}
    for _ in range(rounds):
        for name, without in ways.items():
            found[name].append(grade_cold(without))
    print(f"\n{'a cold grade':44} {'wall s':>8} {'cpu s':>8}   ({rounds} rounds)")
    for name, pairs in found.items():
        wall, cpu = (statistics.median(part) for part in zip(*pairs))
        print(f"{name:44} {wall:8.3f} {cpu:8.3f}")


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    compare(rounds)
    compare_cold(max(3, rounds // 5))
