"""How many wrong files get their mistake by name and by line; and no right file gets either.

`python benchmarks/diagnosis.py [SEED]`: what is wrong with a file, and in which line, stands in
its first line. 21/23 is one of two lines, 21, 30 those of two mistakes.
"""

import ast
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

from grader.grading import Request, grade
from grader.intake import read_submission
from grader.model import Report
from grader.sandbox.forge import Forge, open_forge
from grader.texts import load_pages

CORPUS = Path(__file__).resolve().parent.parent / "tests" / "submissions"
HEADER = re.compile(r"# mha-grade:.*; mistake: (?P<ids>[\w, -]+)(?:; line: (?P<lines>[\d, /]+))?$")
# How well what is named fits, best first.
RANKS = ("first", "among others", "wrongly", "not at all")


@dataclass(frozen=True)
class Wanted:
    """What the first line of a file announces: ids, and for each the lines that will do."""

    ids: tuple[str, ...]
    lines: tuple[tuple[int, ...], ...]

    @property
    def has_id(self) -> bool:
        """True where the mistake has a page, and so a name that can be given."""
        return set(self.ids) <= set(load_pages("en"))


def read_wanted(source: str) -> Wanted | None:
    """What the first line announces; None where nothing can be named, as in a file refused."""
    found = HEADER.match(source.split("\n")[0])
    if found is None:
        return None
    lines = (found["lines"] or "").split(", ") if found["lines"] else []
    ends = tuple(tuple(int(line) for line in one.split("/")) for one in lines)
    return Wanted(tuple(found["ids"].split(", ")), ends)


def same_statement(source: str, one: int, other: int) -> bool:
    """True where both lines are of one statement, compound ones by their heads alone."""
    if one == other:
        return True
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else (node.end_lineno or node.lineno)
            above = [d.lineno for d in getattr(node, "decorator_list", [])]
            if min([node.lineno, *above]) <= min(one, other) and max(one, other) <= last:
                return True
    return False


def names(report: Report) -> list[tuple[str, ...]]:
    """Each mistake named, the costliest first, with those that fit as well."""
    return [(m.mistake, *m.alternatives) for m in report.diagnosis.mistakes]


def rank(report: Report, wanted: Wanted) -> str:
    """How well what is named fits; one that stands beside the name as good as it counts as it."""
    said = names(report)
    if not said:
        return "not at all"
    if set(said[0]) & set(wanted.ids):
        return "first"
    return "among others" if any(set(one) & set(wanted.ids) for one in said) else "wrongly"


def hits_line(report: Report, source: str, wanted: Wanted) -> bool:
    """True where a mistake, or failing a name a departure, has a line of the statement meant."""
    found = report.diagnosis
    lines = [m.line for m in found.mistakes[: len(wanted.ids)] if m.line]
    lines = lines or [departure.line for departure in found.departures[:1]]
    meant = [line for one in wanted.lines for line in one]
    return any(same_statement(source, line, other) for line in lines for other in meant)


def graded(kind: str, forge: Forge, seed: int) -> Iterator[tuple[str, str, Report]]:
    for path in sorted(CORPUS.glob(f"{kind}/*.py")):
        submission = read_submission(path)
        yield path.name, submission.source, grade(submission, forge, Request(seed))


def count_wrong(forge: Forge, seed: int) -> None:
    """The table: for each kind its files, how many are named first, and how many have the line."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    ranks: Counter[str] = Counter()
    for name, source, report in graded("wrong", forge, seed):
        wanted = read_wanted(source)
        if wanted is None:
            continue
        found = rank(report, wanted)
        line = hits_line(report, source, wanted)
        count = kinds[wanted.ids[0] if wanted.has_id else "(no id)"]
        count.update(files=1, named=found == "first", lines=line, marked=bool(wanted.lines))
        if wanted.has_id:
            ranks[found] += 1
        if (not line and wanted.lines) or (wanted.has_id and found != "first"):
            said = ", ".join(f"{m.mistake}:{m.line}" for m in report.diagnosis.mistakes)
            print(f"{found:12} {'line' if line else 'no line':7} {name}: {wanted}; said {said}")
    for kind, count in sorted(kinds.items()):
        print(
            f"{kind:32} {count['files']:3} files {count['named']:3} named {count['lines']:3} lines"
        )
    print(f"{sum(c['files'] for c in kinds.values())} wrong files of {len(kinds)} kinds")
    print(f"  {ranks.total()} with an id, named: {share(ranks)}")
    marked, lines = (sum(c[what] for c in kinds.values()) for what in ("marked", "lines"))
    print(f"  {marked} with a line, of which found or in the same statement: {lines}")


def count_pairs(forge: Forge, seed: int) -> None:
    """Of files with two mistakes: how often both are named."""
    both = either = files = 0
    for name, source, report in graded("pairs", forge, seed):
        wanted = read_wanted(source)
        assert wanted is not None
        said = {one for group in names(report) for one in group}
        found = sum(one in said for one in wanted.ids)
        files, both, either = files + 1, both + (found == 2), either + (found == 1)
        if found < 2:
            print(f"{found} of 2  {name}; said {', '.join(sorted(said)) or 'nothing'}")
    print(f"{files} files with two mistakes: both named {both}, one {either}")


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
        count_pairs(forge, seed)
        return count_right(forge, seed)
    finally:
        forge.close()


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 7) else 0)
