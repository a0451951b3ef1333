"""The problem of one case, with numbers that a few lines of the standard library can draw."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from grader.bank.bench import Bench
from grader.bank.draw import BIAS, GAIN, Problem
from grader.calling import NotOfferedError
from grader.errors import UsageError
from grader.model import Array, Case, Exercise, Parameter, Probe, Settings, Status
from grader.precision import PRECISIONS

# Checks that judge one call by the values that the definition gives for it.
SHOWN = (
    "matches_reference",
    "matches_in_some_rows",
    "handles_dead_rows",
    "accepts_none_mask",
    "has_output_shape",
    "returns_weights",
    "keeps_dtype",
    "takes_mask_forms",
    "first_query_sees_itself",
    "raises_for_indivisible",
)
VISIBLE = "visible"
EVERYTHING: Mapping[str, str] = MappingProxyType({})
MAX_NUMBERS = 200_000


@dataclass(frozen=True)
class Posed:
    """One call: the probe that makes it, and what to expect; `expected` of None is ValueError.

    `spreads` are the parameters in the order in which they are drawn, with the standard deviation
    of each; the inputs follow them. `rows` are the places [b, l] of the output to look at.
    """

    case: Case
    probe: Probe
    spreads: tuple[tuple[str, float], ...] = ()
    lengths: tuple[tuple[int, ...], ...] = ()
    narrow: str = "float64"
    expected: Array | None = None
    rows: tuple[tuple[int, int], ...] = ()
    allowed: float = 0.0


def pose_case(
    bench: Bench, exercise: Exercise, wanted: str, visibility: Mapping[str, str] = EVERYTHING
) -> Posed:
    """The case of this id; raises UsageError where there is none, or none that can be shown.

    `visibility` says by case, by area or by "default" what a course shows; the rest it keeps back.
    """
    case = next((case for case in exercise.cases if case.id == wanted), None)
    if case is None:
        raise UsageError("repro.unknown", wanted=wanted, exercise=exercise.id)
    said = (visibility.get(name) for name in (case.id, case.area, "default"))
    if next((one for one in said if one is not None), VISIBLE) != VISIBLE:
        raise UsageError("repro.hidden", wanted=wanted)
    if case.check not in SHOWN:
        raise UsageError("repro.several", wanted=wanted)
    if case.check == "raises_for_indivisible":
        return Posed(case, _plain(bench.build(case.args["d_model"], case.args["num_heads"])))
    if bench.layout is None:
        raise UsageError("repro.no-layout", wanted=wanted)
    try:
        return _pose(bench, case)
    except NotOfferedError:
        raise UsageError("repro.not-offered", wanted=wanted) from None


def _pose(bench: Bench, case: Case) -> Posed:
    args = case.args
    narrow = str(args.get("autocast") or args.get("dtype") or "float64")
    options = {"mask": args["mask"]} if "mask" in args else {}
    drawn = bench.draw(case, args.get("sizes"), **options)
    if "forms" in args:
        drawn = bench.remask(case, drawn, "random", args["forms"][0])
    spreads, problem = _redraw(bench, drawn, narrow, float(args.get("gain", GAIN)))
    wide = "float32" if args.get("autocast") else narrow
    training = {"train": True, "dropout": 0.0} if args.get("train") else {}
    probe = bench.probe(
        problem,
        storage=str(args.get("storage", "contiguous")),
        dtype=wide,
        autocast=args.get("autocast"),
        **training,
    )
    seen = bench.run(probe)
    got = bench.answer(seen).output if seen.status is Status.OK else None
    expected = problem.truth.output
    lengths = tuple(x.shape for x in problem.inputs)
    rows = _worst(got, expected)
    allowed = problem.tolerance.whole().output
    return Posed(case, _plain(probe), spreads, lengths, narrow, expected, rows, allowed)


def _plain(probe: Probe) -> Probe:
    """The probe, if it can be written as a plain call."""
    arguments = (*probe.construct, *probe.construct_named.values())
    if any(isinstance(value, Settings) for value in arguments) or probe.without_norms:
        raise UsageError("repro.settings")
    return probe


def _redraw(
    bench: Bench, problem: Problem, narrow: str, gain: float
) -> tuple[tuple[tuple[str, float], ...], Problem]:
    """The same with parameters and inputs that `random.Random` draws, in this order."""
    sizes = problem.sizes
    built = bench.build(sizes.d_model, sizes.num_heads)._replace(describe=True)
    found = [p for p in bench.run(built).parameters if p.registered]
    spreads = tuple((p.name, _spread(p, gain, sizes.d_model)) for p in found)
    shapes = [p.shape for p in found] + [x.shape for x in problem.inputs]
    if sum(math.prod(shape) for shape in shapes) > MAX_NUMBERS:
        raise UsageError("repro.large")
    numbers, store = random.Random(bench.seed), PRECISIONS[narrow].store
    widths = [spread for _, spread in spreads] + [1.0] * len(problem.inputs)
    drawn = [store(_normal(numbers, shape, width)) for shape, width in zip(shapes, widths)]
    assert bench.layout is not None
    theta = dict(zip((p.name for p in found), drawn))
    weights = bench.layout.read(theta, sizes.num_heads)
    inputs = tuple(drawn[len(found) :])
    return spreads, replace(problem, weights=weights, inputs=inputs, dtype=narrow)


def _spread(parameter: Parameter, gain: float, d_model: int) -> float:
    is_bias = len(parameter.shape) < 2 or "bias" in parameter.name
    return BIAS if is_bias else round(gain / math.sqrt(d_model), 6)


def _normal(numbers: random.Random, shape: Iterable[int], spread: float) -> Array:
    shape = tuple(shape)
    flat = [numbers.gauss(0.0, spread) for _ in range(math.prod(shape))]
    return np.array(flat, dtype=float).reshape(shape)


def _worst(got: Array | None, expected: Array) -> tuple[tuple[int, int], ...]:
    """The rows that are farthest off, a few; the first ones where nothing came back."""
    off = np.zeros(expected.shape[:2])
    if got is not None and got.shape == expected.shape:
        off = np.nan_to_num(np.abs(got - expected), nan=np.inf).max(axis=-1, initial=0.0)
    order = np.argsort(-off, axis=None, kind="stable")[:3]
    return tuple((int(b), int(row)) for b, row in zip(*np.unravel_index(order, off.shape)))
