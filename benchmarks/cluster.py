"""A Dask cluster of this machine's cores against the lanes that need no cluster.

`python benchmarks/cluster.py [FILES] [ROUNDS]`, from a checkout with the extra `cluster` installed.
The files of `course.py` are graded by `--executor local` with one lane for each core, and by
`--executor dask` over a scheduler and as many workers of one thread, each a process of its own on
loopback, started as docs/course.md advises. What starting costs is taken off by a run of a few
files. Rounds alternate, so that a change in the machine's speed meets both; the ratio is the median
of the rounds' own.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from course import ROOT, measure, write

# Enough that each worker has some.
FEW = 8
START_SECONDS = 60
ADVISED = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
COMMAND = (sys.executable, "-m", "grader", "--trust-these-files", "--seed", "1")


def start(program: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A scheduler or a worker."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *arguments]
    environment = {**os.environ, **ADVISED, "PYTHONPATH": str(ROOT)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([*command, "--no-dashboard"], env=environment, cwd="/", **quiet)


def await_address(path: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while not path.exists():
        assert time.monotonic() < deadline, "no scheduler"
        time.sleep(0.1)
    return json.loads(path.read_text())["address"]


@contextlib.contextmanager
def start_cluster(folder: Path, workers: int) -> Iterator[str]:
    """The address of a scheduler with its workers; all of them end with the block."""
    told = folder / "scheduler.json"
    host = ("--host", "127.0.0.1", "--port", "0")
    running = [start("scheduler", *host, "--no-jupyter", "--scheduler-file", str(told))]
    try:
        address = await_address(told)
        running += [start("worker", address, "--nthreads", "1") for _ in range(workers)]
        await_workers(address, workers)
        yield address
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait()


def await_workers(address: str, workers: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=START_SECONDS)


@contextlib.contextmanager
def at_rest() -> Iterator[None]:
    """Without what a cluster spends while it has nothing to do."""
    import psutil

    running = psutil.Process().children(recursive=True)
    for process in running:
        process.suspend()
    try:
        yield
    finally:
        for process in running:
            process.resume()


def grade(files: int, way: list[str]) -> tuple[float, float]:
    """Wall seconds of one command over this many files; processor seconds with the cluster's."""
    with tempfile.TemporaryDirectory() as name:
        write(Path(name, "files"), files)
        results = ["--results", str(Path(name, "grades.db"))]
        before = count_running()
        wall, spent = measure([*COMMAND, str(Path(name, "files")), *results, *way], Path(name))
        return wall, spent + count_running() - before


def count_running() -> float:
    """Processor seconds that what we have running has spent: the cluster and its zygotes."""
    import psutil

    return sum(sum(one.cpu_times()[:4]) for one in psutil.Process().children(recursive=True))


def rate(files: int, way: list[str]) -> tuple[float, float]:
    """Files a second, and processor seconds a file."""
    few, many = grade(FEW, way), grade(files, way)
    wall, spent = (m - f for m, f in zip(many, few))
    return (files - FEW) / wall, spent / (files - FEW)


def main(files: int, rounds: int) -> None:
    lanes = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name, start_cluster(Path(name), lanes) as address:
        ways = {
            "local": ["--executor", "local", "--jobs", str(lanes)],
            "dask": ["--executor", "dask", "--scheduler", address],
        }
        found = {way: [] for way in ways}
        for options in ways.values():
            grade(FEW, options)
        for _ in range(rounds):
            with at_rest():
                found["local"].append(rate(files, ways["local"]))
            found["dask"].append(rate(files, ways["dask"]))
    print(f"{'executor':10} {'files/s':>8} {'cpu s':>8}   ({files} files, {lanes} lanes, a file)")
    for way, rows in found.items():
        per_second, spent = (statistics.median(part) for part in zip(*rows))
        print(f"{way:10} {per_second:8.2f} {spent:8.3f}")
    ratios = [[d / own for own, d in zip(*pair)] for pair in zip(*found.values())]
    of_rates, of_spent = zip(*ratios)
    print(f"rate, dask of local: {statistics.median(of_rates):.2f}   (goal 0.85)")
    print(f"cpu, dask of local:  {statistics.median(of_spent):.2f}")
    print(f"rates, round by round: {' '.join(f'{ratio:.2f}' for ratio in of_rates)}")


if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    sys.path.insert(0, str(ROOT))
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(60, 5)[len(given) :])
