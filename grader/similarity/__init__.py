"""Near-copies within a set of files: something for a human to read, never a verdict."""

from grader.similarity.as_text import render_similarity
from grader.similarity.pairs import Pair, Similarity, find_similar
from grader.similarity.passages import Passage

__all__ = ["Pair", "Passage", "Similarity", "find_similar", "render_similarity"]
