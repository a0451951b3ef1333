"""The model answers on many seeds: 100 points on each, no exception. And the stubs: 0.

`python benchmarks/seeds.py [SEEDS]`
"""

import os
import sys
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

from grader.bank import exercise_ids
from grader.files import folder, stem_of
from grader.grading import Request, grade
from grader.intake import read_submission
from grader.sandbox.forge import open_forge


def main(seeds: int) -> int:
    forge = open_forge()
    wrong = 0
    for exercise in exercise_ids():
        for kind, expected in (("reference", 100.0), ("exercises", 0.0)):
            submission = read_submission(Path(folder(kind) / f"{stem_of(exercise)}.py"))
            count = seeds if kind == "reference" else min(seeds, 10)
            right = 0
            for seed in range(count):
                report = grade(submission, forge, Request(seed, exercise))
                if report.score == expected and report.all_passed == (expected == 100.0):
                    right += 1
                else:
                    lost = [v.case for v in report.verdicts if v.outcome.value != "passed"]
                    print(f"{kind} {exercise} seed {seed}: {report.score} {lost[:4]}")
            wrong += count - right
            print(f"{kind} {exercise}: {right} of {count} seeds give {expected:g}", flush=True)
    forge.close()
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 200) else 0)
