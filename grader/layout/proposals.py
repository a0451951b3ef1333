"""Proposes layouts for a module's parameters, likeliest first."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from grader.layout.elements import AxisSizes, Place, groups_of, shape_of
from grader.layout.patterns import APART, LINEAR, OUTPUTS_APART, OUTPUTS_LINEAR
from grader.layout.places import EACH_HEAD, Layout, head_width
from grader.layout.roles import UNNAMED, bias_of, cost_of, order_in, role_of
from grader.layout.stacks import stack_heads
from grader.model import Parameter

# One stack of square matrices, the output projection among them.
STACKED = 4
TURNS = tuple(itertools.product(("f (h d) m", "f m (h d)"), ("f m (h d)", "f (h d) m")))
TORCH_LINEARS = tuple(
    f"torch.nn.modules.linear.{name}"
    for name in ("Linear", "LazyLinear", "NonDynamicallyQuantizableLinear")
)
# One head of keys and values for all is rarer than anything else.
ONE_KV_HEAD = 40
# So is one projection for two of the three.
TIED = 60
TIES = ((("Wk", "Wv"), "Wq"), (("Wq", "Wk"), "Wv"))
# A fused parameter says nothing of its order, but one order is by far the commonest.
FUSED = 3
# Who writes x @ W writes it throughout.
STRAYING = 3
MAX_PARAMETERS = 400
# Every three of n square matrices could be q, k and v.
MAX_ALIKE = 8


def propose(
    parameters: Sequence[Parameter], d_model: int, num_heads: int, wide: bool = False
) -> list[Layout]:
    """Layouts that fit these parameters of a module built for d_model and num_heads."""
    known = [*parameters, *stack_heads(parameters, num_heads)]
    if len(known) > MAX_PARAMETERS:
        known = sorted(known, key=lambda parameter: not role_of(parameter.name))[:MAX_PARAMETERS]
    finder = Finder(known, AxisSizes(num_heads, head_width(d_model, num_heads, wide), d_model))
    found = [*finder.fused(), *finder.pairs(), *finder.stacked(), *finder.separate()]
    found += finder.tied()
    if num_heads > 1 and not wide:
        stacks = {one.name for one in known if EACH_HEAD in one.name}
        # What is there once for each head is not there once for all.
        alone = [one for one in known if re.sub(r"\d+", EACH_HEAD, one.name) not in stacks]
        found += finder.one_kv_head(Finder(alone, finder.axes._replace(h=1)))
    return [replace(layout, wide=wide) for layout in sorted(found, key=lambda one: one.cost)]


def named_layout(proposals: Sequence[Layout]) -> Layout | None:
    """The likeliest layout if its names alone settle it; for files whose values settle nothing."""
    best = [layout for layout in proposals if layout.cost == proposals[0].cost]
    return best[0] if len(best) == 1 and best[0].cost < UNNAMED else None


class Finder:
    """The parameters of one module, and the patterns their shapes fit."""

    def __init__(self, parameters: Sequence[Parameter], sizes: AxisSizes) -> None:
        self.parameters = parameters
        self.axes = sizes
        self.sizes = sizes.by_axis()
        self.outputs = list(self._outputs())

    def fused(self) -> Iterator[Layout]:
        """One parameter for q, k and v."""
        for (place, cost), order in itertools.product(
            self._inner(3), itertools.permutations("qkv")
        ):
            places = {f"W{role}": place._replace(slot=order.index(role)) for role in "qkv"}
            # Orders other than the one in the name, else q, k, v, are rare.
            rare = 3 * ("".join(order) != order_in(place.weight))
            yield from self._with_output(places, FUSED + cost + rare)

    def pairs(self) -> Iterator[Layout]:
        """One parameter for k and v, or for q and k, and another for the third."""
        for (pair, cost), (other, more), (fused, single), swapped in itertools.product(
            self._inner(2), self._inner(1), (("kv", "q"), ("qk", "v")), (False, True)
        ):
            if pair.weight == other.weight or not _alike(pair, other):
                continue
            slots = zip(reversed(fused) if swapped else fused, range(2))
            places = {f"W{role}": pair._replace(slot=slot) for role, slot in slots}
            total = FUSED + cost + more + cost_of(single, other.weight) + 3 * swapped
            yield from self._with_output({**places, f"W{single}": other}, total)

    def stacked(self) -> Iterator[Layout]:
        """One parameter for q, k, v and the output."""
        for parameter, (inner, outer) in itertools.product(self.parameters, TURNS):
            if shape_of(inner, self.sizes | {"f": STACKED}) != parameter.shape:
                continue
            for order in itertools.permutations(range(STACKED)):
                places = {}
                for name, slot in zip(("Wq", "Wk", "Wv", "Wo"), order):
                    pattern = outer if name == "Wo" else inner
                    place = Place(parameter.name, pattern, fused=STACKED, slot=slot)
                    bias = "f m" if name == "Wo" else "f (h d)"
                    places[name] = self._with_bias(parameter, place, bias)
                disorder = sum(a > b for a, b in itertools.combinations(order, 2))
                yield Layout(places, FUSED + disorder + 2 * TURNS.index((inner, outer)))

    def separate(self) -> Iterator[Layout]:
        """One parameter each, all with the same order of heads."""
        found = list(self._inner(1))
        for order in (True, False):
            fits = [(p, cost) for p, cost in found if _inner_order(p.pattern) is order]
            if len(fits) > MAX_ALIKE:
                likely = sorted(fits, key=lambda fit: (not role_of(fit[0].weight), fit[1]))
                fits = [fit for fit in fits if fit in likely[:MAX_ALIKE]]
            for trio in itertools.permutations(range(len(fits)), 3):
                roles = {role: fits[at] for role, at in zip("qkv", trio)}
                if len({place.weight for place, _ in roles.values()}) < 3:
                    continue
                # As one writes the first, so one writes the others.
                cost = sum({place.pattern: more for place, more in roles.values()}.values())
                cost += sum(cost_of(role, place.weight) for role, (place, _) in roles.items())
                cost += sum(a > b for a, b in itertools.combinations(trio, 2))
                # Three projections written in three ways are rarer than three written in one.
                cost += 2 * len({place.pattern for place, _ in roles.values()}) - 2
                places = {f"W{r}": place for r, (place, _) in roles.items()}
                yield from self._with_output(places, cost)
                for fused in self._with_one_bias(places):
                    yield from self._with_output(fused, cost + 1)

    def tied(self) -> Iterator[Layout]:
        """One parameter for both keys and values, or queries and keys, where no other is left."""
        matrices = sum(len(parameter.shape) > 1 for parameter in self.parameters)
        pairs = itertools.permutations(self._inner(1), 2) if matrices in (2, 3) else ()
        for ((shared, cost), (other, more)), (both, single) in itertools.product(pairs, TIES):
            places = {**dict.fromkeys(both, shared), single: other}
            for layout in self._with_output(places, TIED + cost + more):
                if len({place.weight for place in layout.places.values()}) == matrices:
                    yield layout

    def _with_one_bias(self, places: Mapping[str, Place]) -> Iterator[dict[str, Place]]:
        """Three matrices whose biases lie one after the other in one vector."""
        shape = shape_of("(f h d)", self.sizes | {"f": FUSED})
        if any(place.bias for place in places.values()):
            return
        for vector in (p for p in self.parameters if p.shape == shape):
            yield {
                name: Place(place.weight, place.pattern, vector.name, "(f h d)", FUSED, slot)
                for slot, (name, place) in enumerate(places.items())
            }

    def one_kv_head(self, single: Finder) -> Iterator[Layout]:
        """Keys and values of one head, which `single` looks for, and queries of all of them."""
        found = [*self._queries_first()]
        ones = [fit for fit in single._inner(1) if _inner_order(fit[0].pattern)]
        pairs = [fit for fit in single._inner(2) if _inner_order(fit[0].pattern)]
        for query, cost in self._inner(1):
            for (k, more), (v, most) in itertools.permutations(ones, 2):
                if k.weight != v.weight:
                    named = [cost_of(r, p.weight) for r, p in zip("qkv", (query, k, v))]
                    total = cost + more + most + sum(named)
                    found.append(({"Wq": query, "Wk": k, "Wv": v}, total))
            for (pair, more), slot in itertools.product(pairs, (0, 1)):
                k, v = pair._replace(slot=slot), pair._replace(slot=1 - slot)
                total = cost + more + cost_of("q", query.weight) + 3 * slot
                found.append(({"Wq": query, "Wk": k, "Wv": v}, total))
        for places, cost in found:
            for layout in self._with_output(places, ONE_KV_HEAD + cost):
                yield replace(layout, kv_heads=1)

    def _queries_first(self) -> Iterator[tuple[dict[str, Place], int]]:
        """All of them in one parameter, the queries of all heads first."""
        rows = (self.axes.h + 2) * self.axes.d
        vectors = [p for p in self.parameters if p.shape == (rows,)]
        for parameter in self.parameters:
            if parameter.shape == (rows, self.axes.m):
                bias = bias_of(parameter, vectors, self.parameters)
                place = Place(parameter.name, "(f h d) m", bias, "(f h d)" if bias else "", 3)
                yield {f"W{r}": place._replace(slot=at) for at, r in enumerate("qkv")}, 0

    def _with_output(self, places: Mapping[str, Place], cost: int) -> Iterator[Layout]:
        taken = {place.weight for place in places.values()}
        first = places["Wq"]
        order = _inner_order(first.pattern)
        # Split one way and merged another is rare, and right all the same.
        mixed = len(self.outputs) <= MAX_ALIKE
        outputs = [
            (place, more + 2 * (_inner_order(place.pattern) != order) + self._stray(place, first))
            for place, more in self.outputs
            if place.weight not in taken and (mixed or _inner_order(place.pattern) == order)
        ]
        if not outputs:
            yield Layout(places, cost)
        for place, more in outputs:
            # With q, k and v found, what is left is the output, whatever it is called.
            yield Layout({**places, "Wo": place}, cost + more + cost_of("o", place.weight) // 4)

    def _stray(self, output: Place, inner: Place) -> int:
        """What it costs to write one as x @ W and the other as nn.Linear does, by choice."""
        chosen = {p.name for p in self.parameters if p.owner not in TORCH_LINEARS}
        alike = _is_turned(output.pattern) != _is_turned(inner.pattern)
        return 0 if alike or not {output.weight, inner.weight} <= chosen else STRAYING

    def _inner(self, fused: int) -> Iterator[tuple[Place, int]]:
        linear = LINEAR[fused]
        turned = tuple(_turn(pattern) for pattern in linear)
        for parameter, pattern, cost in self._fits(linear, turned + APART[fused], fused):
            place = Place(parameter.name, pattern, fused=fused)
            yield self._with_bias(parameter, place, _without_model(pattern)), cost

    def _outputs(self) -> Iterator[tuple[Place, int]]:
        for parameter, pattern, cost in self._fits(OUTPUTS_LINEAR, OUTPUTS_APART, 1):
            place = self._with_bias(parameter, Place(parameter.name, pattern), "m")
            yield place if place.bias else self._with_lone_bias(place), cost

    def _with_lone_bias(self, place: Place) -> Place:
        """The output with the one vector that stands beside no matrix, if there is just one."""
        paths = {p.name.rpartition(".")[0] for p in self.parameters if len(p.shape) > 1}
        vectors = [p.name for p in self.parameters if p.shape == (self.axes.m,)]
        alone = [name for name in vectors if name.rpartition(".")[0] not in paths]
        return place._replace(bias=alone[0], bias_pattern="m") if len(alone) == 1 else place

    def _fits(
        self, linear: Sequence[str], others: Sequence[str], fused: int
    ) -> Iterator[tuple[Parameter, str, int]]:
        for parameter in self.parameters:
            # nn.Linear keeps its output rows first; a parameter of one's own need not.
            is_linear = parameter.owner in TORCH_LINEARS and EACH_HEAD not in parameter.name
            free = () if is_linear else others
            # A convolution of width one is a Linear with axes of one behind it.
            shape, ones = parameter.shape, ""
            while len(shape) > 2 and shape[-1] == 1 and self.sizes["d"] > 1:
                shape, ones = shape[:-1], ones + " 1"
            for cost, pattern in _by_cost(linear, free):
                if EACH_HEAD in parameter.name and groups_of(pattern)[0] != ["h"]:
                    continue
                if shape_of(pattern, self.sizes | {"f": fused}) == shape:
                    yield parameter, pattern + ones, cost

    def _with_bias(self, weight: Parameter, place: Place, pattern: str) -> Place:
        axes = " ".join(axis for group in groups_of(pattern) for axis in group if axis != "1")
        sizes = self.sizes | {"f": place.fused}
        plain = pattern.removesuffix(" 1")
        spaced = (plain.replace("f (", "f 1 ("), axes.replace("h d", "h 1 d"))
        for form in (plain, f"({axes})", axes, *spaced):
            shape = shape_of(form, sizes)
            fits = [p for p in self.parameters if p.shape == shape]
            name = bias_of(weight, fits, self.parameters)
            if name is not None:
                return place._replace(bias=name, bias_pattern=form)
        return place


def _is_turned(pattern: str) -> bool:
    """True where the width of the model comes before that of the heads."""
    return pattern.index("m") < pattern.index("d")


def _turn(pattern: str) -> str:
    return "m " + pattern.removesuffix(" m")


def _by_cost(linear: Sequence[str], free: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Patterns, each with what it costs: x @ W comes next to nn.Linear, before heads in turn."""
    for at, pattern in enumerate((*linear, *free)):
        yield 1 if at == len(linear) else at + (0 < at < len(linear)), pattern


def _without_model(pattern: str) -> str:
    return " ".join(re.findall(r"\([^)]*\)|[^\sm]+", pattern))


def _inner_order(pattern: str) -> bool:
    """True where the heads are the slower axis of a joined pair, or stand apart."""
    return "d h)" not in pattern


def _alike(one: Place, other: Place) -> bool:
    return _inner_order(one.pattern) == _inner_order(other.pattern)
