"""What a parameter's name says of its role, and what it costs to go against it."""

from __future__ import annotations

import re

UNNAMED = 4
MISNAMED = 12
FILLER = frozenset(
    [
        "w",
        "weight",
        "weights",
        "bias",
        "b",
        "proj",
        "projection",
        "linear",
        "lin",
        "fc",
        "layer",
        "layers",
        "to",
        "net",
        "dense",
        "mat",
        "matrix",
        "attn",
        "attention",
        "self",
        "in",
        "c",
        "map",
        "transform",
        "heads",
        "head",
    ]
)
SYNONYMS = {
    "q": {"q", "query", "queries", "qs", "wq", "toqueries", "bq", "toq"},
    "k": {"k", "key", "keys", "ks", "wk", "tokeys", "bk", "tok"},
    "v": {"v", "value", "values", "val", "vs", "wv", "tovalues", "bv", "tov"},
    "o": {"o", "out", "output", "wo", "merge", "unify", "unifyheads", "concat", "final", "bo"},
}


def role_of(name: str) -> str:
    """q, k, v or o as a parameter's name suggests, "" where it suggests nothing."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    tokens = [t for t in re.split(r"[^a-z]+", spaced) if t and t not in FILLER]
    for role, words in SYNONYMS.items():
        if any(token in words for token in tokens):
            return role
    return ""


def cost_of(role: str, name: str) -> int:
    """0 when the name says so, more when it says nothing, most when it says otherwise."""
    said = role_of(name)
    return UNNAMED if not said else 0 if said == role else MISNAMED
