"""Which files of a set are near-copies: fingerprints, an index over them, and a ranking.

The work grows with the number of files and not with that of pairs: a fingerprint of many files
pairs each of them with the next few only, and files that share nothing never meet.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from grader.similarity.fingerprints import hash_runs, winnow
from grader.similarity.passages import Passage, find_passages
from grader.similarity.tokens import Tokens, tokenize

# Files written apart share up to 0.38, disguised copies 0.7 and more: measured on the corpus, with
# benchmarks/disguise.py.
AT_LEAST = 0.6
# What more than half of a set shares says nothing; in a small set half of it may be one group.
SMALL_SET = 10
# The next files in the index that each file is compared with, for one fingerprint.
NEXT = 40
# Two very short files are easily alike: fewer fingerprints than this count as this many.
FEW = 20


@dataclass(frozen=True)
class Pair:
    """Two files that are alike.

    `similarity`, from 0 to 1, is the share of the fingerprints of the one with fewer that the
    other has too, without what was left out.
    """

    first: str
    second: str
    similarity: float
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Similarity:
    """What was found among so many files: `found` pairs, of which the first few are described."""

    files: int
    found: int
    pairs: tuple[Pair, ...]


def find_similar(
    sources: Mapping[str, str],
    known: Iterable[str] = (),
    at_least: float = AT_LEAST,
    limit: int = 100,
) -> Similarity:
    """Near-copies among `sources` (name -> text), most alike first, at most `limit` of them.

    `known` are texts that everyone was given, such as the exercise's stub. What they contain is
    left out, and so is what more than half of the files share, from SMALL_SET files on. No source
    is parsed, imported or run, and any text will do.
    """
    given = frozenset(run for text in known for run in hash_runs(tokenize(text).codes))
    tokens = {name: tokenize(source) for name, source in sorted(sources.items())}
    prints = {name: winnow(hash_runs(found.codes), given) for name, found in tokens.items()}
    common = _common(prints)
    prints = {name: found - common for name, found in prints.items()}
    ranked = sorted(_rank(prints, at_least))
    shown = [_describe(one, tokens, given | common) for one in ranked[:limit]]
    return Similarity(len(sources), len(ranked), tuple(shown))


def _common(prints: Mapping[str, frozenset[int]]) -> frozenset[int]:
    if len(prints) < SMALL_SET:
        return frozenset()
    counts = Counter(chain.from_iterable(prints.values()))
    return frozenset(one for one, count in counts.items() if count > len(prints) / 2)


def _rank(
    prints: Mapping[str, frozenset[int]], at_least: float
) -> Iterable[tuple[float, str, str]]:
    """(-similarity, first, second), so that the most alike come first when sorted."""
    for first, second in _candidates(prints):
        ours, theirs = prints[first], prints[second]
        similarity = len(ours & theirs) / max(FEW, min(len(ours), len(theirs)))
        if similarity >= at_least:
            yield -similarity, first, second


def _candidates(prints: Mapping[str, frozenset[int]]) -> set[tuple[str, str]]:
    """Pairs worth a look: neighbours in the list of files of one fingerprint at least."""
    index: dict[int, list[str]] = defaultdict(list)
    for name, found in prints.items():
        for one in found:
            index[one].append(name)
    return {
        (name, other)
        for names in index.values()
        for at, name in enumerate(names)
        for other in names[at + 1 : at + 1 + NEXT]
    }


def _describe(
    ranked: tuple[float, str, str], tokens: Mapping[str, Tokens], left_out: frozenset[int]
) -> Pair:
    negative, first, second = ranked
    passages = find_passages(tokens[first], tokens[second], left_out)
    return Pair(first, second, -negative, passages)
