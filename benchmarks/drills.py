"""Find-the-bugs drills, graded: every planted mistake is caught, and every answer is right.

`python benchmarks/drills.py [N] [SEED]`: N drills. Each is graded as the candidate gets it, with
each of its mistakes alone, and mended. One in FEW has every line deleted in turn and is graded
after each; of the others it is looked at whether what is left reads as the answer does.
"""

import os
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

from shortening import mending_lines, shortened

from grader.drill.planting import Planted, compare
from grader.drill.planting.plant import draw_drill, sow
from grader.grading import Request, grade
from grader.intake import submit_text
from grader.model import Report
from grader.sandbox.forge import Forge, open_forge
from grader.similarity.tokens import tokenize

FEW = 100


@dataclass
class Tally:
    """What was counted over all drills; `faults` are claims that do not hold."""

    exercises: Counter[str] = field(default_factory=Counter)
    sizes: Counter[int] = field(default_factory=Counter)
    alone: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    together: Counter[str] = field(default_factory=Counter)
    deletions: Counter[str] = field(default_factory=Counter)
    seen: dict[tuple[int, ...], int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def names(report: Report) -> set[str]:
    """All that is named, and what is said to explain the same."""
    return {one for m in report.diagnosis.mistakes for one in (m.mistake, *m.alternatives)}


def run(source: str, exercise: str, forge: Forge, seed: int) -> Report:
    return grade(submit_text("drill.py", source), forge, Request(seed, exercise, walked=False))


def check_whole(planted: Planted, forge: Forge, seed: int, tally: Tally) -> None:
    """The drill as the candidate gets it, and its answer."""
    answer = run(planted.answer, planted.exercise, forge, seed)
    if not answer.all_passed or answer.score != 100 or not compare(planted, answer).is_complete:
        tally.faults.append(f"seed {seed}: the answer scores {answer.score}")
    whole = run(planted.source, planted.exercise, forge, seed)
    if whole.score >= 100 or whole.has_errors:
        tally.faults.append(f"seed {seed}: {planted.mistakes} together score {whole.score}")
    if compare(planted, whole).left != planted.mistakes:
        tally.faults.append(f"seed {seed}: of {planted.mistakes} not all are said to be left")
    tally.together.update(planted=len(planted.mistakes), named=0)
    tally.together["named"] += len(names(whole) & set(planted.mistakes))


def check_alone(planted: Planted, one: Planted, forge: Forge, seed: int, tally: Tally) -> None:
    """One of its mistakes by itself: as a candidate leaves it who has mended the others."""
    (mistake,), (line,) = one.mistakes, one.lines
    report = run(one.source, one.exercise, forge, seed)
    said = {m.line for m in report.diagnosis.mistakes if mistake in (m.mistake, *m.alternatives)}
    count = tally.alone[mistake]
    count.update(planted=1, named=int(mistake in names(report)), line=int(line in said))
    if report.score >= 100 or report.all_passed or report.has_errors:
        tally.faults.append(f"seed {seed}: {mistake} alone scores {report.score}")
    elif mistake not in names(report):
        print(f"seed {seed}: {mistake} is called {sorted(names(report)) or 'nothing'}")
    repair = compare(planted, report)
    if repair.left != (mistake,) or repair.broken:
        print(f"seed {seed}: only {mistake} is left of {planted.mistakes}; said: {repair}")
    else:
        count["repair"] += 1
    if mending_lines(one.source, one.answer):
        tally.faults.append(f"seed {seed}: {mistake} is mended by deleting a line")


def check_deletions(planted: Planted, forge: Forge, seed: int, tally: Tally) -> None:
    """Every line deleted in turn, and graded."""
    for at, rest in shortened(planted.source):
        tally.deletions["graded"] += 1
        if run(rest, planted.exercise, forge, seed).all_passed:
            tally.faults.append(f"seed {seed}: passes without line {at}")


def check_drill(seed: int, forge: Forge, tally: Tally) -> None:
    style, drawn = draw_drill(seed)
    planted = sow(style, drawn)
    tally.exercises[planted.exercise] += 1
    tally.sizes[len(drawn)] += 1
    twin = tally.seen.setdefault(tokenize(planted.source).codes, seed)
    if twin != seed:
        tally.faults.append(f"seed {seed}: like seed {twin}")
    check_whole(planted, forge, seed, tally)
    for choice in drawn:
        check_alone(planted, sow(style, [choice]), forge, seed, tally)
    if mending_lines(planted.source, planted.answer):
        tally.faults.append(f"seed {seed}: mended by deleting a line")
    if seed % FEW == 0:
        check_deletions(planted, forge, seed, tally)
        tally.deletions["drills"] += 1


def show(tally: Tally) -> None:
    for mistake, count in sorted(tally.alone.items()):
        fields = [count[what] for what in ("planted", "named", "line", "repair")]
        print(
            "{:32} {:4} planted {:4} named {:4} in its line {:4} told apart".format(
                mistake, *fields
            )
        )
    alone = sum(tally.alone.values(), Counter())
    print(f"{tally.sizes.total()} drills: {dict(tally.exercises)}; mistakes {dict(tally.sizes)}")
    print(
        f"{alone['planted']} mistakes of {len(tally.alone)} kinds; alone: {alone['named']} named,"
    )
    print(f"  {alone['line']} in their line, {alone['repair']} told apart from those mended")
    print(f"together: {tally.together['named']} of {tally.together['planted']} named")
    graded, drills = tally.deletions["graded"], tally.deletions["drills"]
    print(f"{len(tally.seen)} different drills; {graded} files of {drills} drills with a line less")
    print(*tally.faults, sep="\n")
    print(f"{len(tally.faults)} claims that do not hold")


def main(count: int, first: int) -> int:
    forge, tally = open_forge(), Tally()
    try:
        for seed in range(first, first + count):
            check_drill(seed, forge, tally)
            if (seed - first + 1) % 100 == 0:
                print(f"{seed - first + 1} of {count}", file=sys.stderr, flush=True)
    finally:
        forge.close()
    show(tally)
    return len(tally.faults)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(1 if main(*numbers, *(500, 0)[len(numbers) :]) else 0)
