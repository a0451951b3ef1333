"""Places: where one projection lives in a parameter, as a pattern of axes.

A pattern names the axes of the parameter in order, joined ones in brackets: f the fused
projections, h num_heads, d head_dim, m d_model. `nn.Linear(m, 3 * m)` holding q, k and v one after
the other is "(f h d) m"; an einsum parameter of shape [H, D, Dh] is "h m d".
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from grader.definition import Weights
from grader.layout.elements import (
    SHARED,
    AxisSizes,
    Place,
    find_elements,
    find_shape,
    groups_of,
    lies_after_query,
)
from grader.model import Array, Contract
from grader.variations import spread_heads, thin_heads

BIASES = {"Wq": "bq", "Wk": "bk", "Wv": "bv", "Wo": "bo"}
EACH_HEAD = "*"
# As many sets of weights as a run of the whole bank has, and some more.
MOST_RECALLED = 128


def head_width(d_model: int, num_heads: int, wide: bool) -> int:
    """The size of one head: its share of the model, or all of it."""
    return d_model if wide else d_model // num_heads


@dataclass(frozen=True)
class Layout:
    """A place for each of Wq, Wk, Wv and, unless the module has no output projection, Wo.

    In a `wide` one every head is as wide as the model. `kv_heads` are the heads of keys and values
    where there are always fewer than of queries, else 0.
    """

    places: Mapping[str, Place]
    cost: int
    wide: bool = False
    kv_heads: int = 0

    def read(
        self,
        theta: Mapping[str, Array],
        num_heads: int,
        known: dict[Hashable, Array] | None = None,
    ) -> Weights:
        """Parameters by name -> canonical weights.

        `known` keeps what was read of these parameters, for other layouts with the same places.
        """
        known = {} if known is None else known
        found: dict[str, Array | None] = dict.fromkeys(("Wo", *BIASES.values()))
        for tensor in self._tensors:
            key = tensor, self.wide, self.kv_heads
            if key not in known:
                known[key] = self._read(tensor, theta, num_heads)
            found[tensor[0]] = known[key]
        return Weights(**found)  # type: ignore[arg-type]

    def _read(
        self, tensor: tuple[str, str, str, Place], theta: Mapping[str, Array], num_heads: int
    ) -> Array:
        canonical, name, pattern, place = tensor
        d_model = self._width(theta)
        sizes = AxisSizes(num_heads, head_width(d_model, num_heads, self.wide), d_model)
        where = find_elements(canonical, pattern, place, sizes, self.kv_heads or num_heads)
        found: Array = _gather(theta, name, num_heads).reshape(-1)[where]
        if canonical in SHARED and self.kv_heads:
            return spread_heads(found, num_heads, self.kv_heads)
        return found

    def write(self, weights: Weights, num_heads: int, kv_heads: int = 0) -> dict[str, Array]:
        """Canonical weights -> parameters by name.

        With fewer `kv_heads` than num_heads, neighbouring query heads share one of keys and values.
        """
        theta: dict[str, Array] = {}
        heads = kv_heads or self.kv_heads or num_heads
        for canonical, name, pattern, place in self._tensors:
            array = getattr(weights, canonical)
            if array is None:
                continue
            sizes = _sizes_in(weights, canonical, num_heads)
            where = find_elements(canonical, pattern, place, sizes, heads)
            if name not in theta:
                theta[name] = np.zeros(find_shape(canonical, pattern, place, sizes, heads))
            if canonical in SHARED and heads < num_heads:
                array = thin_heads(array, num_heads, heads)
            theta[name].reshape(-1)[where] = array
        return {
            one: array for name, stacked in theta.items() for one, array in _scatter(name, stacked)
        }

    def recall(self, weights: Weights, num_heads: int, kv_heads: int = 0) -> Mapping[str, Array]:
        """What `write` gives, always the same mapping for the same weights; not to be changed."""
        # Their address stands for the weights: they are held here, so no others can get that.
        key = id(weights), num_heads, kv_heads
        if key not in self._recalled:
            if len(self._recalled) >= MOST_RECALLED:
                self._recalled.clear()
            self._recalled[key] = weights, self.write(weights, num_heads, kv_heads)
        return self._recalled[key][1]

    @functools.cached_property
    def _recalled(self) -> dict[tuple[int, int, int], tuple[Weights, Mapping[str, Array]]]:
        return {}

    def exchanged(self) -> Layout:
        """The same with the parameters of queries and keys exchanged."""
        places = {**self.places, "Wq": self.places["Wk"], "Wk": self.places["Wq"]}
        return replace(self, places=places)

    def biases(self) -> frozenset[str]:
        """The canonical names of the biases this module has."""
        return frozenset(BIASES[name] for name, p in self.places.items() if p.bias is not None)

    @property
    def is_fused(self) -> bool:
        """True where one parameter holds more than one projection."""
        return any(place.fused > 1 for place in self.places.values())

    @property
    def tied(self) -> str:
        """The two of "qkv" that one projection makes, else ""."""
        pairs = ("qk", "kv")
        alike = (pair for pair in pairs if self.places[f"W{pair[0]}"] == self.places[f"W{pair[1]}"])
        return next(alike, "")

    def settle(self, contract: Contract) -> Contract:
        """The contract with what this layout says of the heads and of the projections."""
        return replace(contract, wide=self.wide, tied=self.tied)

    def can_group(self) -> bool:
        """True where it is known how fewer heads of keys and values than of queries would lie."""
        query = self.places["Wq"]
        return query.fused == 1 or (lies_after_query(query) and query.slot == 0)

    @functools.cached_property
    def _tensors(self) -> list[tuple[str, str, str, Place]]:
        """(canonical name, parameter name, pattern, place) of each tensor that is there."""
        found = []
        for name, place in self.places.items():
            found.append((name, place.weight, place.pattern, place))
            if place.bias is not None:
                found.append((BIASES[name], place.bias, place.bias_pattern, place))
        return found

    @functools.cached_property
    def of_values(self) -> Hashable:
        """Where what makes the values and the output is; the same in layouts alike in it."""
        return self.wide, self.kv_heads, self.places["Wv"], self.places.get("Wo")

    def _width(self, theta: Mapping[str, Array]) -> int:
        place = self.places["Wq"]
        shape = theta[place.weight.replace(EACH_HEAD, "0")].shape
        groups = groups_of(place.pattern)
        at = groups.index(["m"]) - (EACH_HEAD in place.weight)
        return shape[at]


def _sizes_in(weights: Weights, canonical: str, num_heads: int) -> AxisSizes:
    """The axes of one canonical tensor; a bias has those of its matrix."""
    matrix: Array = getattr(weights, "W" + canonical[1])
    inner, d_model = matrix.shape if canonical[1] != "o" else matrix.shape[::-1]
    return AxisSizes(num_heads, inner // num_heads, d_model)


def _gather(theta: Mapping[str, Array], name: str, num_heads: int) -> Array:
    if EACH_HEAD not in name:
        return theta[name]
    return np.stack([theta[name.replace(EACH_HEAD, str(i))] for i in range(num_heads)])


def _scatter(name: str, stacked: Array) -> list[tuple[str, Array]]:
    if EACH_HEAD not in name:
        return [(name, stacked)]
    return [(name.replace(EACH_HEAD, str(i)), one) for i, one in enumerate(stacked)]
