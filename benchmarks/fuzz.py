"""Frames, replies, files, notebooks, archives and lists against arbitrary bytes, for some time.

`python benchmarks/fuzz.py [MINUTES]` (10) puts the claims of `tests/test_fuzz.py` to other examples
in every run, in turn until the time is up. The first that breaks one is shown, and the exit code
is 1.
"""

import itertools
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import hypothesis

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import test_fuzz

EXAMPLES = 300


def claims() -> dict[str, Callable[[], None]]:
    """Every claim by its name."""
    return {name: claim for name, claim in vars(test_fuzz).items() if name.startswith("test_")}


def count(claim: Callable[[], None], tried: Counter[str], name: str) -> None:
    """Have each example counted that is put to this claim."""
    put = claim.hypothesis.inner_test

    def counted(**example: object) -> None:
        tried[name] += 1
        put(**example)

    claim.hypothesis.inner_test = counted


def run(minutes: float) -> Counter[str]:
    """How many examples each claim has stood; raises what breaks one."""
    tried: Counter[str] = Counter()
    settings = hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    found = claims()
    for name, claim in found.items():
        count(claim, tried, name)
    until = time.monotonic() + 60 * minutes
    for claim in itertools.cycle([settings(claim) for claim in found.values()]):
        if time.monotonic() > until:
            return tried
        claim()


if __name__ == "__main__":
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    tried = run(minutes)
    for name, number in tried.items():
        print(f"{name:52} {number:10,}")
    print(f"{'none broken':52} {sum(tried.values()):10,}   ({minutes:g} minutes)")
