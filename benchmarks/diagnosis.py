"""How many wrong files get their mistake by name and a line; and no right file gets either.

`python benchmarks/diagnosis.py [SEED]`: the mistake of a wrong file is the one in its first line.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

from grader.grade import Request, grade
from grader.intake import read_submission
from grader.model import Report
from grader.sandbox.forge import Forge, open_forge
from grader.texts import load_pages

CORPUS = Path(__file__).resolve().parent.parent / "tests" / "submissions"
HEADER = re.compile(r"# mha-grade:.*; mistake: ([\w, -]+)$")
# Where the first line has another word for the very same mistake.
SAME = {
    "autocast-region-detached": "gradient-cut",
    "causal-diagonal-masked": "causal-diagonal-hidden",
    "causal-missing": "causal-mask-missing",
    "dead-rows-as-unmasked": "dead-rows-not-zero",
    "dropout-mask-cached": "dropout-repeats",
    "dropout-on-output": "dropout-misplaced",
    "dropout-on-scores": "dropout-misplaced",
    "dropout-shared-heads": "dropout-shared",
    "dropout-whole-keys": "dropout-shared",
    "dropout-whole-rows": "dropout-shared",
    "dropout2d": "dropout-shared",
    "equal-lengths-assumed": "wrong-cross-length",
    "exp-without-max": "exp-overflow",
    "fill-1e4-half-only": "fill-too-small",
    "fill-1e5": "fill-too-small",
    "first-length-remembered": "state-kept",
    "fixed-max-length": "length-limited",
    "float32-mask": "dtypes-mixed",
    "float32-output": "output-dtype-changed",
    "float32-scale-tensor": "dtypes-mixed",
    "fused-weights-cached": "state-kept",
    "global-dtype": "global-switch-turned",
    "inverted-mask": "mask-inverted",
    "kv-cache-by-shape": "state-kept",
    "kv-cache-kept": "state-kept",
    "kv-cache-len1": "state-kept",
    "last-mask-remembered": "state-kept",
    "mask-1d-refused": "mask-form-refused",
    "mask-cache-by-length-combined": "state-kept",
    "mask-cache-dict": "state-kept",
    "mask-changed-in-place": "input-changed-in-place",
    "mask-fill-tiny": "mask-filled-with-zero",
    "mask-fill-too-small": "fill-too-small",
    "mask-fill-zero": "mask-filled-with-zero",
    "mask-not-broadcast": "mask-form-refused",
    "mask-unsqueeze-inplace": "input-changed-in-place",
    "no-grad-when-input-plain": "gradient-cut",
    "no-softmax": "missing-softmax",
    "padding-or-causal": "masks-joined-by-or",
    "padding-overwritten": "padding-mask-ignored",
    "parameter-never-used": "parameter-unused",
    "plain-tensor-bias": "parameters-not-registered",
    "projection-cached": "state-kept",
    "projections-not-registered": "parameters-not-registered",
    "query-projection-used-twice": "query-used-as-key",
    "returns-only-output": "weights-missing",
    "running-sum-in-half": "softmax-in-half",
    "scale-by-floor-sqrt": "scale-floored",
    "sdpa-half": "ready-made-attention",
    "sdpa-long": "ready-made-attention",
    "sdpa-when-masked": "ready-made-attention",
    "second-gradient-cut": "gradient-cut",
    "seed-in-forward": "global-switch-turned",
    "squeezed-batch": "batch-squeezed",
    "tril-1024": "length-limited",
    "tril-128": "length-limited",
    "unregistered-mask": "tensor-left-behind",
    "uses-sdpa": "ready-made-attention",
    "view-after-transpose": "view-on-non-contiguous",
    "view-without-transpose": "split-without-transpose",
    "warmup-call-counter": "state-kept",
    "weights-averaged-over-heads": "weights-averaged",
    "weights-detached": "gradient-cut",
    "wraps-nn-mha": "ready-made-attention",
}
# How well what is named fits, best first; the last where there is no name for the mistake.
RANKS = ("named first", "named at all", "named wrongly", "none named")


def read_mistakes(source: str) -> list[str]:
    """The ids of the mistakes in the first line, "" for one that has no name in the catalogue."""
    found = HEADER.match(source.split("\n")[0])
    names = found[1].split(", ") if found else []
    ids = [SAME.get(name, name) for name in names]
    return [name if name in load_pages("en") else "" for name in ids]


def judge(found: list[str], wanted: list[str]) -> str:
    """How well the names found, costliest first, fit the one wanted, or several."""
    if not found:
        return "none named"
    if found[0] in wanted:
        return "named first"
    return "named at all" if set(wanted) & set(found) else "named wrongly"


def graded(kind: str, forge: Forge, seed: int) -> Iterator[tuple[str, list[str], Report]]:
    for path in sorted(CORPUS.glob(f"{kind}/*.py")):
        submission = read_submission(path)
        report = grade(submission, forge, Request(seed))
        yield path.name, read_mistakes(submission.source), report


def count_wrong(forge: Forge, seed: int) -> None:
    known: Counter[str] = Counter()
    nameless: Counter[str] = Counter()
    lines = files = 0
    for name, wanted, report in graded("wrong", forge, seed):
        found = report.diagnosis
        ids = [mistake.mistake for mistake in found.mistakes]
        has_line = bool(found.departures) or any(mistake.line for mistake in found.mistakes)
        files, lines = files + 1, lines + has_line
        rank = judge(ids, wanted)
        (known if any(wanted) else nameless)[rank] += 1
        if rank != "named first":
            said = ", ".join(ids) or "nothing"
            print(f"{rank:13}  {name}: {', '.join(filter(None, wanted)) or '(no id)'}; said {said}")
    print(f"{files} wrong files, {lines} of them with a line")
    print(f"  {known.total()} whose mistake has an id: {share(known)}")
    print(f"  {nameless.total()} whose mistake has none: {share(nameless)}")


def share(counted: Counter[str]) -> str:
    return ", ".join(f"{counted[rank]} {rank}" for rank in RANKS if counted[rank])


def count_right(forge: Forge, seed: int) -> int:
    files = accused = walked = 0
    for name, _, report in graded("right", forge, seed):
        found = report.diagnosis
        files, walked = files + 1, walked + bool(found.walk)
        if found.mistakes or found.departures:
            accused += 1
            print(f"accused  {name}: {found.mistakes} {found.departures}")
    print(f"{files} right files: {accused} accused of a mistake or a departure, {walked} walked")
    return accused


def main(seed: int) -> int:
    forge = open_forge()
    try:
        count_wrong(forge, seed)
        return count_right(forge, seed)
    finally:
        forge.close()


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 7) else 0)
