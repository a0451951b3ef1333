"""The problem of one case, with numbers that a few lines of the standard library can draw."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from grader.bank.bench import Bench, in_training
from grader.bank.checks import WEIGHTLESS
from grader.bank.checks.gradients import TOLERANCES, expect, gradients_seen
from grader.bank.draw import BIAS, GAIN
from grader.bank.problem import Problem
from grader.calling import NotOfferedError
from grader.errors import UsageError
from grader.model import Array, Case, Exercise, Parameter, Probe, Settings, Status
from grader.precision import PRECISIONS
from grader.repro.behaviours import BEHAVIOURS

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
    "is_off_in_eval",
    "moves_with_dtype",
    "raises_for_indivisible",
)
GRADIENTS = "matches_gradients"
FEW_SLOPES = 2
# Mean nothing in a module without dropout.
OF_DROPOUT = ("is_on_in_training", "scales_inversely", "averages_to_eval")
# What is called in between, as the check does.
OTHER = {"batch": 3, "q_len": 4, "kv_len": 6}
VISIBLE = "visible"
EVERYTHING: Mapping[str, str] = MappingProxyType({})
MAX_NUMBERS = 200_000


@dataclass(frozen=True)
class Posed:
    """One call: the probe that makes it, and what to expect; `expected` of None is ValueError.

    `spreads` are the parameters in the order in which they are drawn, with the standard deviation
    of each; the inputs follow them, whose shapes [b, l, m] are `lengths`. `rows` are the places
    [b, l] of the output to look at; `slopes` are gradients of the sum of the output times the
    `cotangent`, which is drawn last. Where there is neither, the case is about behaviour.
    """

    case: Case
    probe: Probe
    spreads: tuple[tuple[str, float], ...] = ()
    lengths: tuple[tuple[int, ...], ...] = ()
    narrow: str = "float64"
    expected: Array | None = None
    rows: tuple[tuple[int, int], ...] = ()
    allowed: float = 0.0
    slopes: tuple[Slope, ...] = ()


class Slope(NamedTuple):
    """One number of a gradient: of an argument by its position or a parameter by its name."""

    of: int | str
    place: tuple[int, ...]
    value: float


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
    if case.check not in (*SHOWN, *BEHAVIOURS, GRADIENTS):
        raise UsageError("repro.several", wanted=wanted)
    if case.check == "raises_for_indivisible":
        return Posed(case, _plain(bench.build(case.args["d_model"], case.args["num_heads"])))
    if bench.layout is None and case.check not in WEIGHTLESS:
        raise UsageError("repro.no-layout", wanted=wanted)
    try:
        if case.check in BEHAVIOURS:
            return _pose_behaviour(bench, case)
        return _pose_gradients(bench, case) if case.check == GRADIENTS else _pose(bench, case)
    except NotOfferedError:
        raise UsageError("repro.not-offered", wanted=wanted) from None


def _pose(bench: Bench, case: Case) -> Posed:
    args = case.args
    narrow = str(args.get("autocast") or args.get("dtype") or "float64")
    options = {"mask": args["mask"]} if "mask" in args else {}
    drawn = bench.draw(case, args.get("sizes"), **options)
    if "forms" in args:
        drawn = bench.remask(case, drawn, "random", args["forms"][0])
    spreads, problem, _ = _redraw(bench, drawn, narrow, float(args.get("gain", GAIN)))
    if args.get("storage") == "expanded":
        alike = (np.repeat(x[:1], len(x), axis=0) for x in problem.inputs)
        problem = replace(problem, inputs=tuple(alike))
    wide = "float32" if args.get("autocast") else narrow
    training = in_training(args.get("train"))
    if "probability" in args:
        training = {"dropout": args["probability"]}
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


def _pose_behaviour(bench: Bench, case: Case) -> Posed:
    """The calls of the case on parameters that are drawn; what comes of them need not be known."""
    args = case.args
    probability = args.get("probability")
    if probability is not None and not bench.plan.has_dropout and case.check in OF_DROPOUT:
        raise NotOfferedError("dropout")
    problem = bench.draw(case, args.get("sizes"), mask=args.get("mask"))
    others = [bench.remask(case, problem, m["kind"], m["form"]) for m in args.get("masks") or ()]
    if case.check == "keeps_no_state" and not others:
        problem = bench.draw(case)
        other = bench.draw(case, args.get("sizes") or OTHER)
        others = [other] * int(args.get("repeats", 1))
    calls = tuple(bench.call(one) for one in (problem, *others))
    dropout = probability if bench.plan.has_dropout else None
    dtype = str(args.get("dtype", "float64"))
    probe = _plain(bench.probe(problem, calls=calls, dropout=dropout, dtype=dtype))
    spreads = _spreads(bench, problem, GAIN)
    lengths = tuple(x.shape for x in problem.inputs)
    return Posed(case, probe, tuple((p.name, s) for p, s in spreads), lengths, dtype)


def _pose_gradients(bench: Bench, case: Case) -> Posed:
    """The numbers of the gradients that are farthest off, of inputs or of parameters."""
    args = case.args
    dtype, of = str(args.get("dtype", "float64")), str(args.get("of", "inputs"))
    drawn = bench.draw(case, args.get("sizes"), mask=args.get("mask"))
    spreads, problem, cotangent = _redraw(bench, drawn, dtype, GAIN)
    training = in_training(args.get("train"))
    seen = bench.run(bench.probe(problem, dtype=dtype, cotangent=cotangent, **training))
    known = gradients_seen(bench, seen) if seen.status is Status.OK else {}
    expected = expect(bench, problem, cotangent, of)
    slopes: list[Slope] = []
    for name, wanted in expected.items():
        at = bench.inputs_in_call().index(name) if of == "inputs" else name
        got = known.get((of, name))
        if of == "inputs":
            wanted = bench.plan.arrange(wanted)
            got = None if got is None else bench.plan.arrange(got)
        slopes += [Slope(at, i, float(wanted[i])) for i in _farthest(got, wanted, FEW_SLOPES)]
    largest = max(np.abs(wanted).max(initial=0.0) for wanted in expected.values())
    probe = _plain(bench.probe(problem, dtype=dtype, **training))
    lengths = tuple(x.shape for x in problem.inputs)
    allowed = TOLERANCES[dtype] * float(largest)
    return Posed(case, probe, spreads, lengths, dtype, allowed=allowed, slopes=tuple(slopes))


def _plain(probe: Probe) -> Probe:
    """The probe, if it can be written as a plain call."""
    arguments = (*probe.construct, *probe.construct_named.values())
    if any(isinstance(value, Settings) for value in arguments) or probe.without_norms:
        raise UsageError("repro.settings")
    return probe


def _redraw(
    bench: Bench, problem: Problem, narrow: str, gain: float
) -> tuple[tuple[tuple[str, float], ...], Problem, Array]:
    """The same with parameters, inputs and a cotangent drawn by `random.Random`, in this order."""
    sizes = problem.sizes
    found = _spreads(bench, problem, gain)
    shapes = [p.shape for p, _ in found] + [x.shape for x in problem.inputs]
    shapes.append(problem.truth.output.shape)
    if sum(math.prod(shape) for shape in shapes) > MAX_NUMBERS:
        raise UsageError("repro.large")
    numbers, store = random.Random(bench.seed), PRECISIONS[narrow].store
    widths = [spread for _, spread in found] + [1.0] * (len(problem.inputs) + 1)
    *drawn, cotangent = (store(_normal(numbers, s, width)) for s, width in zip(shapes, widths))
    assert bench.layout is not None
    theta = dict(zip((p.name for p, _ in found), drawn))
    weights = bench.layout.read(theta, sizes.num_heads)
    inputs = tuple(drawn[len(found) :])
    spreads = tuple((p.name, spread) for p, spread in found)
    return spreads, replace(problem, weights=weights, inputs=inputs, dtype=narrow), cotangent


def _spreads(bench: Bench, problem: Problem, gain: float) -> list[tuple[Parameter, float]]:
    """Each registered parameter with the standard deviation of its numbers."""
    sizes = problem.sizes
    built = bench.build(sizes.d_model, sizes.num_heads)._replace(describe=True)
    found = [p for p in bench.run(built).parameters if p.registered]
    return [(p, _spread(p, gain, sizes.d_model)) for p in found]


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
    return tuple((b, row) for b, row in _largest(off, 3))


def _farthest(got: Array | None, expected: Array, count: int) -> list[tuple[int, ...]]:
    """The places of the numbers that are farthest off; of the largest where nothing came back."""
    off = np.abs(expected)
    if got is not None and got.shape == expected.shape:
        off = np.nan_to_num(np.abs(got - expected), nan=np.inf)
    return _largest(off, count)


def _largest(off: Array, count: int) -> list[tuple[int, ...]]:
    order = np.argsort(-off, axis=None, kind="stable")[:count]
    return [tuple(int(i) for i in np.unravel_index(at, off.shape)) for at in order]
