"""Where two files are alike: line ranges in both, longest first found, each line used once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.similarity.fingerprints import RUN, hash_runs
from grader.similarity.tokens import Tokens


@dataclass(frozen=True)
class Passage:
    """First and last line of what is alike, in one file and in the other."""

    first: tuple[int, int]
    second: tuple[int, int]


# A run that a file repeats more often is looked for at its first places only.
REPEATS = 20
# Beginning in the one, beginning in the other, and how many tokens are equal from there.
Stretch = tuple[int, int, int]


def find_passages(first: Tokens, second: Tokens, left_out: frozenset[int]) -> tuple[Passage, ...]:
    """Passages in the order of the first file; the order in the second may be another."""
    tiles = _tile(_stretches(first, second, left_out))
    return tuple(_join([_to_lines(first, second, tile) for tile in tiles]))


def _stretches(first: Tokens, second: Tokens, left_out: frozenset[int]) -> list[Stretch]:
    """All stretches of equal tokens that do not consist of what is left out."""
    starts: dict[int, list[int]] = defaultdict(list)
    for at, run in enumerate(hash_runs(first.codes)):
        if run not in left_out and len(starts[run]) < REPEATS:
            starts[run].append(at)
    ends: dict[tuple[int, int], Stretch] = {}
    for at, run in enumerate(hash_runs(second.codes)):
        for begin in starts.get(run, ()):
            i, j, length = ends.pop((begin - 1, at - 1), (begin, at, RUN - 1))
            ends[begin, at] = i, j, length + 1
    return list(ends.values())


def _tile(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Stretches that overlap in neither file, the longest taken first."""
    used: tuple[set[int], set[int]] = set(), set()
    taken = []
    for i, j, length in sorted(stretches, key=lambda found: (-found[2], found)):
        spans = range(i, i + length), range(j, j + length)
        if all(done.isdisjoint(span) for done, span in zip(used, spans)):
            taken.append((i, j, length))
            for done, span in zip(used, spans):
                done.update(span)
    return sorted(taken)


def _to_lines(first: Tokens, second: Tokens, tile: Stretch) -> Passage:
    i, j, length = tile
    return Passage(
        (first.lines[i], first.lines[i + length - 1]),
        (second.lines[j], second.lines[j + length - 1]),
    )


def _join(passages: Sequence[Passage]) -> Iterator[Passage]:
    """Neighbours in both files made one: a changed token between them is no news to a reader."""
    held: Passage | None = None
    for passage in passages:
        if held and _follows(held.first, passage.first) and _follows(held.second, passage.second):
            passage = Passage(
                (held.first[0], max(held.first[1], passage.first[1])),
                (held.second[0], max(held.second[1], passage.second[1])),
            )
        elif held:
            yield held
        held = passage
    if held:
        yield held


def _follows(before: tuple[int, int], after: tuple[int, int]) -> bool:
    return before[0] <= after[0] <= before[1] + 2
