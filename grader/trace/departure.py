"""Finds the first line that makes a tensor which no right attention passes through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from grader.bank.problem import Problem
from grader.model import Array, Departure, Message, Step
from grader.trace.landmarks import Landmark
from grader.trace.recognise import Recognised
from grader.trace.trail import Trail
from grader.trace.words import in_letters, write_shape

PRODUCTS = ("matmul", "bmm", "einsum", "__matmul__", "baddbmm", "mul", "sum", "tensordot")
SOFTMAX = ("softmax",)
BARE = "output before bias"
SCALED = {"q scaled", "k scaled"}
SCORES = "scaled scores"
# The same in every language.
PRODUCT = "q @ k"
# What a product is of, by the stage it should give.
OPERANDS = {2: ("q", "k"), 5: ("weights", "v")}


def find_departure(
    steps: Sequence[Step], problem: Problem, sequences: int, output: Array | None
) -> Departure | None:
    """The first departure on the way to what was returned; None where there is none to see."""
    trail = Trail(steps, problem, sequences)
    end = trail.end(output)
    if end is None:
        return None
    if trail.is_clean(end) and trail.stage(end) >= trail.last:
        return _describe_bias(trail, end)
    way = sorted(trail.ancestors(end) | {end})
    for at in way:
        suspect = trail.derived[at] and trail.is_float(at) and not trail.is_clean(at)
        if suspect and steps[at].value is not None and not trail.leads_back(at):
            return _describe(trail, at)
    return _describe_end(trail, end)


def find_not_finite(steps: Sequence[Step], returned: Iterable[Array | None]) -> Departure | None:
    """The first step that holds NaN and was made of tensors that do not.

    None where nothing that was returned holds NaN: what is cleaned away on the way is no fault.
    """
    if not any(value is not None and np.isnan(value).any() for value in returned):
        return None
    bad: set[int] = set()
    for at, step in enumerate(steps):
        if step.value is None or step.value.dtype.kind != "f" or not np.isnan(step.value).any():
            continue
        if not any(source in bad for source in (int(s) for s in step.sources if s.isdecimal())):
            fields = {"operation": _name(step), "name": step.name, "line": step.line}
            return Departure(step.line, Message("departure.not-finite", fields))
        bad.add(at)
    return None


def _describe(trail: Trail, at: int) -> Departure:
    step, found = trail.steps[at], trail.found[at]
    fields = {"operation": _name(step), "name": step.name, "line": step.line}
    if found is not None and found.scrambled:
        got, expected = in_letters(found.letters), write_shape(found.landmark.axes)
        fields |= {"what": found.landmark.name, "got": got, "expected": expected}
        return Departure(step.line, Message("departure.scrambled", fields))
    if found is not None:
        return Departure(step.line, Message(*_describe_mask(found, fields)))
    parents = [p for p in trail.parents[at] if trail.found[p]]
    if step.operation in SOFTMAX and parents:
        return _describe_softmax(trail, at, parents[0], fields)
    wrong = _wrong_operand(trail, at, parents) or _scaled_twice(trail, at, parents)
    if wrong is not None:
        return wrong
    if len(parents) >= 1:
        names = dict.fromkeys(_landmark(trail, p).name for p in parents)
        fields |= {"sources": ", ".join(names)}
        return Departure(step.line, Message("departure.from", fields))
    return Departure(step.line, Message("departure.unknown", fields))


def _describe_mask(found: Recognised, fields: dict[str, object]) -> tuple[str, dict[str, object]]:
    first = (found.shown or found.hidden)[0]
    place = "[" + ", ".join(map(str, first)) + "]"
    counts = {"shown": len(found.shown), "hidden": len(found.hidden), "first": place}
    return "departure.mask", {**fields, **counts}


def _describe_softmax(trail: Trail, at: int, parent: int, fields: dict[str, object]) -> Departure:
    step, source = trail.steps[at], trail.found[parent]
    assert source is not None
    assert step.value is not None
    ones = [
        axis
        for axis in range(step.value.ndim)
        if np.allclose(np.nansum(step.value, axis=axis), 1.0, atol=1e-6)
    ]
    alike = len(ones) == 1 and step.value.ndim == len(source.letters)
    letters = source.letters[ones[0]] if alike else "S"
    if letters != "S":
        fields |= {"got": in_letters((letters,)), "shape": in_letters(source.letters)}
        return Departure(step.line, Message("departure.softmax-axis", fields))
    if source.landmark.stage == 2:
        scores = trail.steps[parent].line
        return Departure(step.line, Message("departure.unscaled", {**fields, "scores": scores}))
    return Departure(step.line, Message("departure.softmax", fields))


def _wrong_operand(trail: Trail, at: int, parents: Sequence[int]) -> Departure | None:
    """A product of right tensors that do not belong together: the line that made the wrong one."""
    step = trail.steps[at]
    if step.operation not in PRODUCTS or len(parents) < 2:
        return None
    names = [_landmark(trail, parent).base for parent in parents]
    # What was made of q and k already is on its way to the second product.
    late = any(2 <= trail.stage(parent) <= 4 for parent in parents)
    wanted = OPERANDS[5] if late else OPERANDS[2]
    missing = next((name for name in wanted if name not in names), None)
    if missing is None:
        return None
    # Of two that are the same, the one that stands where the other should.
    same = parents[:1] if missing == wanted[0] else parents[1:]
    strays = [p for p, name in zip(parents, names) if name not in wanted] or same
    line = trail.steps[_origin(trail, strays[0])].line
    made = trail.stage(strays[0]) == 1
    if (
        late
        and made
        and any(trail.stage(step) in (2, 3) for step in trail.reach(_origin(trail, strays[0])))
    ):
        # What was rightly made, and used for the scores: it is this product that takes it again.
        line = step.line
    got = _landmark(trail, strays[0]).base
    fields = {"operation": _name(step), "line": step.line, "got": got}
    fields |= {"expected": missing, "made": line}
    return Departure(line, Message("departure.operand", fields))


def _scaled_twice(trail: Trail, at: int, parents: Sequence[int]) -> Departure | None:
    """A product of queries and keys that have the whole scale each: the line that was second.

    Or of scores that have it already.
    """
    names = {_landmark(trail, parent).name for parent in parents}
    if names == {SCORES}:
        return _scaled_again(trail, at, parents[0])
    if trail.steps[at].operation not in PRODUCTS or not names >= SCALED:
        return None
    known = [(one, trail.found[one]) for one in sorted(trail.ancestors(at))]
    made = {f.landmark.name: one for one, f in reversed(known) if f and f.landmark.name in SCALED}
    first, second = sorted(SCALED, key=lambda name: made[name])
    line = trail.steps[made[second]].line
    fields = {"line": line, "what": _landmark(trail, made[second]).base}
    fields |= {"made": trail.steps[made[first]].line, "other": _landmark(trail, made[first]).base}
    return Departure(line, Message("departure.scaled-twice", fields))


def _scaled_again(trail: Trail, at: int, parent: int) -> Departure | None:
    """Scaled scores that are divided by the same root once more."""
    before, after = trail.steps[parent].value, trail.steps[at].value
    root = np.sqrt(trail.problem.sizes.head_width)
    if before is None or after is None or before.shape != after.shape or root == 1.0:
        return None
    # A fill may be as large as numbers get.
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.allclose(after, before / root):
            return None
    known = [(one, trail.found[one]) for one in sorted(trail.ancestors(at))]
    first = next(one for one, f in known if f and f.landmark.name in {*SCALED, SCORES})
    other = _landmark(trail, first)
    fields = {"line": trail.steps[at].line, "what": PRODUCT, "made": trail.steps[first].line}
    fields |= {"other": PRODUCT if other.name == SCORES else other.base}
    return Departure(trail.steps[at].line, Message("departure.scaled-twice", fields))


def _origin(trail: Trail, at: int) -> int:
    """The first step that made this landmark, of those that led here."""
    name = _landmark(trail, at).base
    same = [a for a in trail.ancestors(at) if trail.found[a] and _landmark(trail, a).base == name]
    return min(same, default=at)


def _describe_end(trail: Trail, end: int) -> Departure | None:
    """What was returned is right, but of an earlier stage: the steps after it are missing."""
    found = trail.found[end]
    if found is None or trail.stage(end) >= trail.last:
        return None
    step = trail.steps[end]
    fields = {"what": found.landmark.name, "line": step.line}
    return Departure(step.line, Message("departure.stops-early", fields))


def _describe_bias(trail: Trail, end: int) -> Departure | None:
    """The output projection without its bias is no end, where there is one to add."""
    found, step = trail.found[end], trail.steps[end]
    if found is None or found.landmark.name != BARE or trail.problem.weights.bo is None:
        return None
    fields = {"what": BARE, "line": step.line}
    return Departure(step.line, Message("departure.stops-early", fields))


def _landmark(trail: Trail, at: int) -> Landmark:
    found = trail.found[at]
    assert found is not None
    return found.landmark


def _name(step: Step) -> str:
    return step.operation.strip("_")
