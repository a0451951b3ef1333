"""What a parameter's name says of its role, and what it costs to go against it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from grader.model import Parameter

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


@functools.lru_cache(maxsize=1024)
def role_of(name: str) -> str:
    """q, k, v or o as a parameter's name suggests, "" where it suggests nothing."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    tokens = [t for t in re.split(r"[^a-z]+", spaced) if t and t not in FILLER]
    for role, words in SYNONYMS.items():
        if any(token in words for token in tokens):
            return role
    return ""


def order_in(name: str) -> str:
    """The order of q, k and v in one parameter: as its name has it, "qkv" where it has none."""
    found = (name[at : at + 3].lower() for at in range(len(name) - 2))
    return next((three for three in found if set(three) == set("qkv")), "qkv")


def cost_of(role: str, name: str) -> int:
    """0 when the name says so, more when it says nothing, most when it says otherwise."""
    said = role_of(name)
    return UNNAMED if not said else 0 if said == role else MISNAMED


def bias_of(
    weight: Parameter, vectors: Sequence[Parameter], parameters: Sequence[Parameter]
) -> str | None:
    """The vector that goes with a matrix: by its name, by its place, by its turn."""
    vectors = [vector for vector in vectors if vector.name != weight.name]
    for wanted in _bias_names(weight.name):
        if any(vector.name == wanted for vector in vectors):
            return wanted
    path = weight.name.rpartition(".")[0]
    beside = [vector for vector in vectors if vector.name.rpartition(".")[0] == path]
    role = role_of(weight.name)
    near = [p for p in parameters if p.name.rpartition(".")[0] == path and p not in beside]
    alone = [p for p in near if len(p.shape) > 1]
    if path and len(beside) == 1:
        # One vector beside several matrices is not the bias of each of them.
        said = role_of(beside[0].name) or "o"
        return beside[0].name if len(alone) == 1 or said == role else None
    for those in (beside, vectors):
        alike = [vector for vector in those if role and role_of(vector.name) == role]
        if len(alike) == 1:
            return alike[0].name
    # A matrix's turn among its like is its bias's turn among those of its length.
    matrices = [parameter for parameter in parameters if parameter.shape == weight.shape]
    if not path and len(beside) == len(matrices):
        return beside[matrices.index(weight)].name
    return None


def _bias_names(weight: str) -> Iterator[str]:
    """What the bias would be called if "weight" or a "w" in the name became "bias" or "b"."""
    path, dot, last = weight.rpartition(".")
    yield path + dot + last.replace("weight", "bias")
    yield path + dot + re.sub("^[wW]", "b", last)
    yield re.sub(r"\b[wW](?=[._\[]|$)", "b", weight)
    yield re.sub(r"\bweights\b", "biases", weight)
