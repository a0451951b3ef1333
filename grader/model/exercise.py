"""What is asked: exercises, their contracts and cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Seconds are wall time, measured by the grader."""

    load_seconds: float = 10.0
    probe_seconds: float = 4.0
    total_seconds: float = 60.0
    memory_mib: int = 2048
    output_kib: int = 64

    def changed(self, limits: Mapping[str, float]) -> Limits:
        """With these instead; memory and output are whole numbers."""
        merged = {**vars(self), **limits}
        return Limits(**{name: type(getattr(self, name))(x) for name, x in merged.items()})


@dataclass(frozen=True)
class Helper:
    """A module that an author lets files import: `path` from the YAML file on, and its source."""

    path: str
    source: str

    @property
    def name(self) -> str:
        """What it is imported as."""
        return PurePosixPath(self.path).stem


@dataclass(frozen=True)
class Contract:
    """What an exercise promises its candidates about the call.

    `inputs` are the tensor arguments in order; `mask` is the meaning of the optional last
    argument: "attention" (broadcastable to [B, H, q_len, kv_len]) or "padding" ([B, L]), both
    bool with True = visible. `causal` says that the module hides the future by itself. The rest
    is what only a file of its own kind may choose: the query added to the output (`residual`),
    rows that see nothing given equal weights (`uniform_dead_rows`) instead of none, queries and
    keys that are always equally many (`one_length`), heads as wide as the model (`wide`), positions
    inside (`positions`, as grader/rotary.py names them, or a key of LEANS in
    grader/variations.py), for which the head size may have to be a `head_multiple`, padded queries
    that see nothing or whose output is 0 (`padded`: "hidden" or "blank"), one projection for two of
    queries, keys and values (`tied`: "qk" or "kv").
    """

    inputs: tuple[str, ...]
    mask: str
    causal: bool
    residual: bool = False
    uniform_dead_rows: bool = False
    one_length: bool = False
    wide: bool = False
    positions: str = ""
    head_multiple: int = 1
    padded: str = ""
    tied: str = ""


@dataclass(frozen=True)
class Case:
    """One graded row of the bank.

    `after` names the cases that must pass first, `needs` what a file without an exercise must
    offer for the case to mean anything.
    """

    id: str
    area: str
    check: str
    points: float
    catches: str
    args: Mapping[str, Any] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exercise:
    """A task: what candidates are asked for, and the cases that judge it.

    `packages` names what files may import beside torch, the standard library and the usual few;
    `helpers` are modules of the author's own, served from memory.
    """

    id: str
    contract: Contract
    areas: Mapping[str, float]
    cases: tuple[Case, ...]
    limits: Limits
    version: str
    packages: tuple[str, ...] = ()
    helpers: tuple[Helper, ...] = ()

    def on_terms(self, terms: Terms) -> Exercise:
        """The same cases with a course's own limits, imports and points, which still make 100.

        A course's helper goes before one of the exercise that has its name.
        """
        helpers = {helper.name: helper for helper in (*self.helpers, *terms.helpers)}
        found = replace(
            self,
            limits=self.limits.changed(terms.limits),
            packages=(*self.packages, *terms.packages),
            helpers=tuple(helpers.values()),
        )
        return found._weighted(terms.weights) if terms.weights else found

    def _weighted(self, weights: Mapping[str, float]) -> Exercise:
        wanted = {area: weights.get(area, points) for area, points in self.areas.items()}
        total = sum(wanted.values()) or 1.0
        areas = {area: 100.0 * points / total for area, points in wanted.items()}
        cases = tuple(
            replace(case, points=case.points * areas[case.area] / self.areas[case.area])
            for case in self.cases
        )
        return replace(self, areas=areas, cases=cases)


@dataclass(frozen=True)
class Terms:
    """What a course changes: points by area, in any unit, limits by name, what may be imported."""

    weights: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    helpers: tuple[Helper, ...] = ()
