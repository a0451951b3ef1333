"""Near-copies in words, for a person who then opens both files."""

from __future__ import annotations

from collections.abc import Iterator

from grader.clean import clean
from grader.reports.columns import wrap
from grader.similarity.pairs import Pair, Similarity
from grader.texts import Texts

MAX_NAME = 200


def render_similarity(similarity: Similarity, texts: Texts) -> str:
    """Pairs with their line ranges, after what such a list can and cannot say."""
    if not similarity.pairs:
        return texts("similar.none", files=similarity.files) + "\n"
    counts = {"found": similarity.found, "files": similarity.files}
    lines = [*wrap(texts("similar.title", **counts), "", ""), *wrap(texts("similar.read"), "", "")]
    for pair in similarity.pairs:
        lines += ["", *_pair(pair, texts)]
    if similarity.found > len(similarity.pairs):
        lines += ["", texts("similar.more", more=similarity.found - len(similarity.pairs))]
    return "\n".join(lines) + "\n"


def _pair(pair: Pair, texts: Texts) -> Iterator[str]:
    names = {"first": clean(pair.first, MAX_NAME), "second": clean(pair.second, MAX_NAME)}
    yield texts("similar.pair", percent=int(pair.similarity * 100), **names)
    ranges = [
        texts("similar.passage", first=_lines(passage.first), second=_lines(passage.second))
        for passage in pair.passages
    ]
    yield from wrap(texts("similar.passages", passages=", ".join(ranges)), "      ", "      ")


def _lines(span: tuple[int, int]) -> str:
    return f"{span[0]}" if span[0] == span[1] else f"{span[0]}-{span[1]}"
