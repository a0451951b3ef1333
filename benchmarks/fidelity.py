"""The corpus over many seeds: no right file rejected, no wrong file passed.

`python benchmarks/fidelity.py [SEEDS]`
"""

import os
import sys
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

from grader.grading import Request, grade
from grader.intake import read_submission
from grader.sandbox.forge import open_forge

CORPUS = Path(__file__).resolve().parent.parent / "tests" / "submissions"


def main(seeds: int) -> int:
    forge = open_forge()
    rejected = passed = errors = runs = 0
    for kind in ("right", "wrong"):
        for path in sorted(CORPUS.glob(f"{kind}/*.py")):
            submission = read_submission(path)
            for seed in range(seeds):
                report = grade(submission, forge, Request(seed))
                runs += 1
                errors += report.has_errors
                if report.all_passed != (kind == "right"):
                    rejected += kind == "right"
                    passed += kind == "wrong"
                    failed = [v.case for v in report.verdicts if v.outcome.value == "failed"]
                    print(f"{kind} {path.name} seed {seed}: {report.score} {failed}", flush=True)
    forge.close()
    print(f"{runs} runs: {rejected} right files rejected, {passed} wrong files passed,")
    print(f"  {errors} with a fault of the grader's own")
    return rejected + passed + errors


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 20) else 0)
