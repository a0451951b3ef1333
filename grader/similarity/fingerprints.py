"""Winnowing: of all runs of tokens the few that stand for a file.

Schleimer, Wilkerson, Aiken: Winnowing, local algorithms for document fingerprinting (SIGMOD 2003).
Whatever two files share of at least RUN + WINDOW - 1 tokens has a fingerprint in both.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

RUN = 12
WINDOW = 5


def hash_runs(codes: Sequence[int]) -> list[int]:
    """A number for every run of RUN tokens, by where it begins."""
    # Hashes of whole numbers are the same in every process, those of text are not.
    return [hash(tuple(codes[at : at + RUN])) for at in range(len(codes) - RUN + 1)]


def winnow(runs: Sequence[int], left_out: Container[int] = ()) -> frozenset[int]:
    """The smallest of every WINDOW runs, those left out passed over."""
    kept = [run for run in runs if run not in left_out]
    windows = range(max(1, len(kept) - WINDOW + 1)) if kept else ()
    return frozenset(min(kept[at : at + WINDOW]) for at in windows)
