"""What was found out, as sentences for the top of a report."""

from __future__ import annotations

from collections.abc import Iterable

from grader.calling import CallPlan, Slot
from grader.calling.decoding import cache_of
from grader.calling.masks import MASKS
from grader.calling.plan import SPARE
from grader.calling.tables import TABLES
from grader.convention.found import Convention
from grader.model import Message
from grader.rotary import find_turn

# What is left as the file has it.
QUIET = ("option", "switch")


def describe_convention(convention: Convention, free: bool) -> Iterable[Message]:
    """The class, how it is called where that was found out, and which parameter is which."""
    plan, match = convention.plan, convention.match
    yield Message("convention.class", {"name": plan.class_name, "line": plan.line})
    if free:
        yield from _describe_call(plan)
        yield from _describe_contract(convention)
    elif match.contract.one_length:
        yield Message("convention.judged-at-one-length")
    if match.layout is None:
        yield Message("convention.layout-unknown")
        return
    for name, place in match.layout.places.items():
        part = f" [{place.pattern}]" + (f", f = {place.slot}" if "f" in place.pattern else "")
        yield Message("convention.place", {"name": name, "where": place.weight + part})
    if not match.proven:
        yield Message("convention.layout-assumed")


def _describe_call(plan: CallPlan) -> Iterable[Message]:
    given = ", ".join(
        _argument(slot)
        for slot in plan.build
        if slot.role not in QUIET and not slot.role.startswith(SPARE)
    )
    if given or not plan.globals:
        yield Message("convention.build", {"arguments": given or "-"})
    if plan.globals:
        numbers = ", ".join(f"{name} = {role}" for name, role in plan.globals.items())
        yield Message("convention.globals", {"numbers": numbers})
    order = plan.axes.upper().replace("M", "D").replace(" ", ", ")
    sequences = [slot for slot in plan.forward if slot.role in plan.sequences]
    alone = len(sequences) == 1
    called = ", ".join(slot.name or "x" if alone else _argument(slot) for slot in sequences)
    yield Message("convention.call", {"arguments": called, "axes": f"[{order}]"})
    for slot in plan.forward:
        if slot.role in MASKS and slot.style.forms and not slot.style.unknown:
            counted = slot.style.meaning == "lengths"
            shapes = ("b",) if counted else slot.style.forms
            forms = "  ".join(_form(form) for form in shapes)
            key = f"convention.mask.{slot.style.meaning}"
            fields = {"name": slot.name or slot.role, "dtype": slot.style.dtype, "forms": forms}
            yield Message(key, fields)
        elif slot.role == "cache" and plan.cache is not None and slot == cache_of(plan):
            yield Message("convention.cached", {"name": slot.name, "item": plan.cache})
        elif slot.role == "cache":
            yield Message("convention.cache", {"name": slot.name})
        elif slot.role in TABLES:
            yield Message("convention.table", {"name": slot.name})
        elif slot.role == "option" and slot.value is not None:
            yield Message("convention.option", {"name": slot.name, "value": slot.value})


def _describe_contract(convention: Convention) -> Iterable[Message]:
    contract, plan = convention.contract, convention.plan
    for name in ("causal", "residual", "wide", "uniform_dead_rows", "one_length"):
        if getattr(contract, name):
            yield Message("convention." + name.replace("_", "-"))
    if convention.match.layout is not None and convention.match.layout.kv_heads:
        yield Message("convention.one-kv-head")
    if contract.tied:
        yield Message(f"convention.tied.{contract.tied}")
    if contract.padded:
        yield Message(f"convention.padded.{contract.padded}")
    yield from _describe_positions(contract.positions)
    if plan.zeroed:
        yield Message("convention.zeroed", {"names": ", ".join(plan.zeroed)})
    if convention.match.coarse:
        yield Message("convention.coarse")
    if plan.norms:
        yield Message("convention.without-norms")
    if plan.weights is not None:
        yield Message("convention.weights", {"output": plan.output, "weights": plan.weights})


def _describe_positions(positions: str) -> Iterable[Message]:
    turn = find_turn(positions)
    if turn is not None:
        yield Message(f"convention.positions.{turn.pairing}", {"base": f"{turn.base:.12g}"})
        if turn.share < 1.0:
            yield Message("convention.positions.part", {"percent": f"{100 * turn.share:g}"})
        if turn.sense < 0.0:
            yield Message("convention.positions.back")
    elif positions:
        yield Message(f"convention.positions.{positions.partition('-')[0]}")


def _argument(slot: Slot) -> str:
    """ "embed_dim = d_model"; where the name says it already, once."""
    return slot.role if slot.name in (None, slot.role) else f"{slot.name} = {slot.role}"


def _form(form: str) -> str:
    names = {"q": "q_len", "k": "kv_len"}
    axes = (" * ".join(names.get(one, one.upper()) for one in axis) for axis in form.split())
    return "[" + ", ".join(axes) + "]"
