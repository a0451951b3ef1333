"""One cold grade against a bare import of torch, and each further file from the same zygote.

Run with the installed package's Python: `python benchmarks/cold.py [RUNS]`. Every round runs each
command once, in turn, so that a change in the machine's speed meets all of them.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ANSWER = ROOT / "reference" / "self_attention.py"
COMMANDS = {
    "mha-grade, cold": [sys.executable, "-m", "grader", str(ANSWER), "--seed", "1"],
    "import torch": [sys.executable, "-c", "import torch"],
    "import torch, collector off, os._exit": [
        sys.executable,
        "-c",
        "import gc; gc.disable(); import torch, os; os._exit(0)",
    ],
}


def measure(command: list[str]) -> tuple[float, float]:
    """Wall and processor seconds of a command and all its children."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd="/")
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    assert os.waitstatus_to_exitcode(status) == 0, command
    return wall, usage.ru_utime + usage.ru_stime


def compare_cold(rounds: int) -> None:
    results = {name: [] for name in COMMANDS}
    for command in COMMANDS.values():
        measure(command)
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            results[name].append(measure(command))
    middle = {
        name: tuple(statistics.median(part) for part in zip(*pairs))
        for name, pairs in results.items()
    }
    print(f"{'command':40} {'wall s':>8} {'cpu s':>8}   (medians of {rounds} rounds)")
    for name, (wall, cpu) in middle.items():
        print(f"{name:40} {wall:8.3f} {cpu:8.3f}")
    pairs = list(zip(*results.values()))
    walls = [ours[0] / plain[0] for ours, plain, _ in pairs]
    cpus = [ours[1] / bare[1] for ours, _, bare in pairs]
    print(f"wall, of import torch:                {statistics.median(walls):.2f}   (goal 1.00)")
    print(f"cpu, of import with collector off:    {statistics.median(cpus):.2f}   (goal 1.25)")


def measure_further(files: int) -> None:
    """Processor seconds of each further file: ours, and the workers' as their parent counted."""
    from grader.grading import Request, grade
    from grader.intake import read_submission
    from grader.sandbox.forge import open_forge
    from grader.sandbox.session import Session

    spent = []
    close = Session.close

    def counted(session: Session) -> None:
        close(session)
        spent.append(session.cpu_seconds)

    Session.close = counted
    forge = open_forge()
    grade(read_submission(ANSWER), forge, Request(1))
    rows = []
    for _ in range(files):
        wall, cpu = time.perf_counter(), time.process_time()
        grade(read_submission(ANSWER), forge, Request(1))
        rows.append((time.perf_counter() - wall, time.process_time() - cpu, spent[-1]))
    forge.close()
    wall, ours, theirs = (statistics.median(part) for part in zip(*rows))
    print(f"each further file: wall {wall:.3f} s, cpu {ours + theirs:.3f} s  (goal 0.10)")
    print(f"  of it the grader {ours:.3f} s, its workers {theirs:.3f} s")


if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    compare_cold(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
    measure_further(25)
