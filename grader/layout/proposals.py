"""Proposes layouts for a module's parameters, likeliest first."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from grader.layout.places import EACH_HEAD, Layout, Place, groups_of, shape_of
from grader.layout.roles import UNNAMED, cost_of, role_of
from grader.model import Parameter

# Output rows first, as in nn.Linear; then x @ W; then the axes apart, as einsum likes them.
LINEAR = {
    1: ("(h d) m", "(d h) m"),
    2: ("(f h d) m", "(h f d) m", "(h d f) m"),
    3: ("(f h d) m", "(h f d) m", "(h d f) m", "(f d h) m"),
}
APART = {
    1: ("h m d", "h d m", "m h d", "m d h", "d h m"),
    2: ("f (h d) m", "f m (h d)", "h (f d) m", "f h m d", "h m (f d)"),
    3: ("f (h d) m", "f m (h d)", "h (f d) m", "f h m d", "h m (f d)", "m f h d"),
}
OUTPUTS_LINEAR = ("m (h d)", "m (d h)")
OUTPUTS_APART = ("(h d) m", "(d h) m", "h d m", "m h d", "h m d", "d h m")
LINEARS = ("Linear", "LazyLinear", "NonDynamicallyQuantizableLinear")
# A fused parameter says nothing of its order, but one order is by far the commonest.
FUSED = 3
MAX_PARAMETERS = 400
# Every three of n square matrices could be q, k and v.
MAX_ALIKE = 8


def propose(parameters: Sequence[Parameter], d_model: int, num_heads: int) -> list[Layout]:
    """Layouts that fit these parameters of a module built for d_model and num_heads."""
    known = [*parameters, *_stacks(parameters, num_heads)]
    if len(known) > MAX_PARAMETERS:
        # Every four of them would be a proposal; those whose names say something come first.
        known = sorted(known, key=lambda parameter: not role_of(parameter.name))[:MAX_PARAMETERS]
    finder = Finder(known, d_model, num_heads)
    found = [*finder.fused(), *finder.key_value_fused(), *finder.separate()]
    return sorted(found, key=lambda layout: layout.cost)


def named_layout(proposals: Sequence[Layout]) -> Layout | None:
    """The likeliest layout if its names alone settle it; for files whose values settle nothing."""
    best = [layout for layout in proposals if layout.cost == proposals[0].cost]
    return best[0] if len(best) == 1 and best[0].cost < UNNAMED else None


class Finder:
    """The parameters of one module, and the patterns their shapes fit."""

    def __init__(self, parameters: Sequence[Parameter], d_model: int, num_heads: int) -> None:
        self.parameters = parameters
        self.sizes = {"h": num_heads, "d": d_model // num_heads, "m": d_model, "1": 1}
        self.outputs = list(self._outputs())

    def fused(self) -> Iterator[Layout]:
        """One parameter for q, k and v."""
        for (place, cost), order in itertools.product(
            self._inner(3), itertools.permutations(range(3))
        ):
            slots = zip(("Wq", "Wk", "Wv"), order)
            places = {name: place._replace(slot=slot) for name, slot in slots}
            # Orders other than q, k, v are rare.
            yield from self._with_output(places, FUSED + cost + 3 * (order != (0, 1, 2)))

    def key_value_fused(self) -> Iterator[Layout]:
        """One parameter for q, another for k and v."""
        for (pair, cost), (query, more), order in itertools.product(
            self._inner(2), self._inner(1), itertools.permutations(range(2))
        ):
            if pair.weight != query.weight and _alike(pair, query):
                slots = zip(("Wk", "Wv"), order)
                places = {name: pair._replace(slot=slot) for name, slot in slots}
                cost_here = FUSED + cost + more + cost_of("q", query.weight)
                yield from self._with_output(
                    {"Wq": query} | places, cost_here + 3 * (order != (0, 1))
                )

    def separate(self) -> Iterator[Layout]:
        """One parameter each, all laid out alike."""
        found = list(self._inner(1))
        for pattern in dict.fromkeys(place.pattern for place, _ in found):
            fits = [(place, cost) for place, cost in found if place.pattern == pattern]
            if len(fits) > MAX_ALIKE:
                fits = sorted(fits, key=lambda fit: not role_of(fit[0].weight))[:MAX_ALIKE]
            for trio in itertools.permutations(range(len(fits)), 3):
                roles = [(role, *fits[at]) for role, at in zip("qkv", trio)]
                cost = sum(c + cost_of(role, place.weight) for role, place, c in roles)
                cost += sum(a > b for a, b in itertools.combinations(trio, 2))
                yield from self._with_output({f"W{r}": place for r, place, _ in roles}, cost)

    def _with_output(self, places: Mapping[str, Place], cost: int) -> Iterator[Layout]:
        taken = {place.weight for place in places.values()}
        order = _inner_order(places["Wq"].pattern)
        outputs = [
            (place, more)
            for place, more in self.outputs
            if place.weight not in taken and _inner_order(place.pattern) == order
        ]
        if not outputs:
            yield Layout(places, cost)
        for place, more in outputs:
            # With q, k and v found, what is left is the output, whatever it is called.
            yield Layout({**places, "Wo": place}, cost + more + cost_of("o", place.weight) // 4)

    def _inner(self, fused: int) -> Iterator[tuple[Place, int]]:
        linear = LINEAR[fused]
        turned = tuple(_turn(pattern) for pattern in linear)
        for parameter, pattern, cost in self._fits(linear, turned + APART[fused], fused):
            place = Place(parameter.name, pattern, fused=fused)
            yield self._with_bias(parameter, place, _without_model(pattern)), cost

    def _outputs(self) -> Iterator[tuple[Place, int]]:
        for parameter, pattern, cost in self._fits(OUTPUTS_LINEAR, OUTPUTS_APART, 1):
            yield self._with_bias(parameter, Place(parameter.name, pattern), "m"), cost

    def _fits(
        self, linear: Sequence[str], others: Sequence[str], fused: int
    ) -> Iterator[tuple[Parameter, str, int]]:
        for parameter in self.parameters:
            # nn.Linear keeps its output rows first; a parameter of one's own need not.
            free = () if parameter.owner in LINEARS and EACH_HEAD not in parameter.name else others
            for cost, pattern in enumerate((*linear, *free)):
                if EACH_HEAD in parameter.name and groups_of(pattern)[0] != ["h"]:
                    continue
                if shape_of(pattern, self.sizes | {"f": fused}) == parameter.shape:
                    yield parameter, pattern, cost

    def _with_bias(self, weight: Parameter, place: Place, pattern: str) -> Place:
        axes = " ".join(axis for group in groups_of(pattern) for axis in group)
        sizes = self.sizes | {"f": place.fused}
        for form in (pattern, f"({axes})", axes, axes.replace("h d", "h 1 d")):
            fits = [p for p in self.parameters if p.shape == shape_of(form, sizes)]
            name = _bias_of(weight, fits)
            if name is not None:
                return place._replace(bias=name, bias_pattern=form)
        return place


def _bias_of(weight: Parameter, vectors: Sequence[Parameter]) -> str | None:
    path, _, last = weight.name.rpartition(".")
    for wanted in (last.replace("weight", "bias"), re.sub("^[wW]", "b", last)):
        full = f"{path}.{wanted}" if path else wanted
        if wanted != last and any(vector.name == full for vector in vectors):
            return full
    role = role_of(weight.name)
    alike = [v for v in vectors if v.owner == weight.owner and role and role_of(v.name) == role]
    alike = [v for v in alike if v.name != weight.name]
    return alike[0].name if len(alike) == 1 and not path else None


def _stacks(parameters: Sequence[Parameter], num_heads: int) -> list[Parameter]:
    """One stacked parameter for each family whose names count the heads from 0."""
    families: dict[str, dict[int, Parameter]] = {}
    for parameter in parameters:
        for digits in re.finditer(r"\d+", parameter.name):
            before, after = parameter.name[: digits.start()], parameter.name[digits.end() :]
            family = families.setdefault(before + EACH_HEAD + after, {})
            family[int(digits.group())] = parameter
    return [
        replace(family[0], name=name, shape=(num_heads, *family[0].shape))
        for name, family in families.items()
        if set(family) == set(range(num_heads))
        and len({member.shape for member in family.values()}) == 1
    ]


def _turn(pattern: str) -> str:
    return "m " + pattern.removesuffix(" m")


def _without_model(pattern: str) -> str:
    return " ".join(re.findall(r"\([^)]*\)|[^\sm]+", pattern))


def _inner_order(pattern: str) -> bool:
    """True where the heads are the slower axis of a joined pair, or stand apart."""
    return "d h)" not in pattern


def _alike(one: Place, other: Place) -> bool:
    return _inner_order(one.pattern) == _inner_order(other.pattern)
