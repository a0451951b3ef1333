"""Mutants of right answers, graded: what survives is the same function, or a hole in the bank.

`python benchmarks/mutants.py [N] [SEEDS]`: every mutant of the model answers, then as many of each
of the corpus's right files as make N; drawn, and always the same. A mutant that
survives is graded on SEEDS seeds. Those known to be right are in `survivors.yaml` with the reason.
"""

import atexit
import os
import random
import re
import sys
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import yaml
from mutation import Mutant, mutate

from grader.audit import load_file
from grader.bank import exercise_ids
from grader.grading import Request, grade
from grader.intake import submit_text
from grader.sandbox.forge import open_forge

ROOT = Path(__file__).resolve().parent.parent
RIGHT = ROOT / "tests" / "submissions" / "right"
HEADER = re.compile(r"# mha-grade: ([\w-]+)")
SEEDS = 3


class Job(NamedTuple):
    """One mutant, and the file and exercise it belongs to."""

    file: str
    exercise: str
    mutant: Mutant

    @property
    def key(self) -> str:
        """What it is called in survivors.yaml."""
        return f"{self.file}: {self.mutant.key}"


class Result(NamedTuple):
    """How many of the seeds killed a mutant, of how many tried; and whether we failed ourselves."""

    killed: int
    tried: int
    error: bool


def gather(count: int) -> list[Job]:
    """Mutants of every model answer, then the same number of each right file."""
    order = random.Random(1)
    jobs = []
    for exercise in exercise_ids():
        submission = load_file("reference", exercise)
        jobs += [Job(submission.path, exercise, m) for m in mutate(submission.source, order)]
    order.shuffle(jobs)
    paths = sorted(RIGHT.glob("*.py"))
    each = -(-max(0, count - len(jobs)) // len(paths))
    for path in paths:
        source = path.read_text(encoding="utf-8")
        exercise = HEADER.match(source)[1]
        mutants = islice(mutate(source, random.Random(path.name)), each)
        jobs += [Job(f"right/{path.name}", exercise, m) for m in mutants]
    return jobs[:count]


FORGE = []


def start_forge() -> None:
    """One zygote for each process of the pool."""
    FORGE.append(open_forge())
    atexit.register(FORGE[0].close)


def put_to_test(job: Job, seeds: int) -> Result:
    """Grade a mutant on further seeds as long as it survives."""
    submission = submit_text("mutant.py", job.mutant.source)
    killed = 0
    for seed in range(seeds):
        report = grade(submission, FORGE[0], Request(seed, job.exercise))
        if report.has_errors:
            return Result(killed, seed + 1, True)
        killed += not report.all_passed
        if killed and seed == 0:
            return Result(1, 1, False)
    return Result(killed, seeds, False)


def read_reasons() -> dict[str, str]:
    """Key, with or without its file -> why this mutant is right, from survivors.yaml."""
    path = Path(__file__).parent / "survivors.yaml"
    groups = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    return {key: reason for reason, keys in groups.items() for key in keys}


def main(count: int, seeds: int) -> int:
    reasons = read_reasons()
    jobs = gather(count)
    survivors, luck, errors = defaultdict(list), [], []
    explained = Counter()
    with ProcessPoolExecutor(os.cpu_count(), initializer=start_forge) as pool:
        results = pool.map(put_to_test, jobs, [seeds] * len(jobs), chunksize=4)
        for number, (job, result) in enumerate(zip(jobs, results), 1):
            if number % 100 == 0:
                print(f"{number} of {len(jobs)}", file=sys.stderr, flush=True)
            if result.error:
                errors.append(job.key)
            elif result.killed == 0 and (
                reason := reasons.get(job.key) or reasons.get(job.mutant.key)
            ):
                explained[reason] += 1
            elif result.killed == 0:
                survivors[job.mutant.kind].append(job.key)
            elif result.killed < result.tried:
                luck.append(f"{job.key}  (killed on {result.killed} of {result.tried} seeds)")
    for kind, keys in sorted(survivors.items()):
        print(f"\nSurvivors, {kind} ({len(keys)})", *keys, sep="\n  ")
    for title, keys in (("Killed by luck", luck), ("The grader failed", errors)):
        if keys:
            print(f"\n{title} ({len(keys)})", *keys, sep="\n  ")
    if explained:
        print("\nSurvivors that are right")
        for reason, number in explained.most_common():
            print(f"  {number:4}  {reason}")
    unexplained = sum(map(len, survivors.values()))
    print(f"\n{unexplained} unexplained survivors of {len(jobs)} mutants", end="; ")
    print(f"{sum(explained.values())} known to be right, {len(luck)} killed by luck", end="; ")
    print(f"{len(errors)} times the grader failed")
    return unexplained + len(luck) + len(errors)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(1 if main(*numbers, *(1000, SEEDS)[len(numbers) :]) else 0)
