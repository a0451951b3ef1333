"""How often the rules read a typed answer as a person does: points, traps and marks.

`python benchmarks/marking.py [--list]`: over `tests/answers/`, what a person finds in each answer
stands beside it. The answers `brief` and `slip` were written after the rules; a fifth of them is
set aside, and so are all of `last.yaml`: no rule was changed on their account.
`--list` shows where the others are misread.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.drill.rounds import Mark, Suggestion, choose_mark, load_markings, suggest
from grader.files import read_data

ANSWERS = Path(__file__).resolve().parent.parent / "tests" / "answers"
SHARE = 5
LAST = "last"
LATE = ("brief", "slip")


@dataclass(frozen=True)
class Read:
    """One answer: which it is, to what, what it says, and what a person finds in it."""

    name: str
    question: str
    says: str
    covers: frozenset[int]
    trap: bool

    @cached_property
    def found(self) -> Suggestion:
        """What the rules find in it."""
        return suggest(self.question, self.says)

    @property
    def is_last(self) -> bool:
        """True of what was written after all rules were fitted."""
        return self.name.startswith(LAST)

    @property
    def is_aside(self) -> bool:
        """True where no rule may be fitted to it: of the last ones, and of a fifth before them."""
        is_chosen = hashlib.sha256(self.name.encode()).digest()[0] % SHARE == 0
        return self.is_last or (self.name.endswith(LATE) and is_chosen)

    @property
    def mark(self) -> Mark:
        """The mark that follows from what a person finds."""
        points = len(load_markings()[self.question].points)
        return choose_mark(len(self.covers), points, self.trap)


def read_all() -> Iterator[Read]:
    """Every answer of the corpus."""
    for path in sorted(ANSWERS.glob("*.yaml")):
        for question, answers in read_data(path).items():
            for kind, answer in answers.items():
                name, says = f"{path.stem} {question} {kind}", answer["says"]
                covers = frozenset(point - 1 for point in answer["covers"])
                yield Read(name, question, says, covers, answer.get("trap", False))


def count(reads: list[Read]) -> Counter[str]:
    """Points and traps found, missed and imagined; marks that agree."""
    counts: Counter[str] = Counter(answers=len(reads))
    for read in reads:
        found = frozenset(read.found.covered)
        counts["hits"] += len(found & read.covers)
        counts["missed"] += len(read.covers - found)
        counts["imagined"] += len(found - read.covers)
        counts["trap hits"] += read.trap and bool(read.found.trap)
        counts["traps missed"] += read.trap and not read.found.trap
        counts["traps imagined"] += bool(read.found.trap) and not read.trap
        counts["marks"] += read.mark == read.found.mark
    return counts


def show(title: str, counts: Counter[str]) -> None:
    points, traps = counts["hits"] + counts["missed"], counts["trap hits"] + counts["traps missed"]
    print(f"{title}: {counts['answers']} answers")
    print(f"  points made and found    {counts['hits']}/{points} = {counts['hits'] / points:.1%}")
    print(f"  points found, not made   {counts['imagined']}")
    print(f"  traps stated and found   {counts['trap hits']}/{traps}")
    print(f"  traps found, not stated  {counts['traps imagined']}")
    print(f"  marks that agree         {counts['marks']}/{counts['answers']}")


def main() -> None:
    reads = list(read_all())
    used = [read for read in reads if not read.is_aside]
    show("Rules fitted", count(used))
    aside = [read for read in reads if read.is_aside]
    show("A fifth", count([read for read in aside if not read.is_last]))
    show("Written last", count([read for read in aside if read.is_last]))
    if "--list" in sys.argv:
        for read in used:
            found = frozenset(read.found.covered)
            if found != read.covers or read.trap != bool(read.found.trap):
                print(
                    read.name,
                    "missed",
                    sorted(point + 1 for point in read.covers - found),
                    "imagined",
                    sorted(point + 1 for point in found - read.covers),
                    "trap",
                    read.trap,
                    read.found.trap,
                )


if __name__ == "__main__":
    main()
