"""Ways to build a class that its signature allows, likeliest first."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from grader.calling import roles
from grader.calling.forwards import is_flag, keyword_of
from grader.calling.plan import SPARE, CallPlan, Slot
from grader.calling.roles import normal, role_in
from grader.model import Argument, CandidateClass, Contract, Settings

Build = tuple[tuple[Slot, ...], Mapping[str, str]]
SIZES = ("d_model", "num_heads")
# Where names say nothing: what the unknown ones may be, in the order people put them.
UNKNOWN = ("d_model", "num_heads", "head_dim", "length")
MAX_UNKNOWN = 4
HEAD_SIZES = ("head_dim", "value_dim")
# Of these a default of None is the file's own "as usual".
USUAL = (*HEAD_SIZES, "kv_heads")
SETTINGS = (
    *((words, role) for role, words in roles.BUILD),
    (roles.FLAG, "causal"),
    (r".*bias.*", True),
    (roles.DEVICE, "cpu"),
    (roles.ROTARY_BASE, 10000.0),
    (roles.ROTARY_SHARE, 0.5),
    (r".*(causal|decoder|mask|flash|cache|return|output).*", False),
)


def plan_exercise(cls: CandidateClass, contract: Contract) -> CallPlan:
    """The plan an exercise prescribes: (d_model, num_heads), then its inputs, by position.

    The dropout argument is the one named so, else the third.
    """
    arguments = [a for a in cls.constructor if not a.kind.startswith("var")]
    named = [a.name for a in arguments if role_in(a.name, [("dropout", roles.DROPOUT)])]
    third = [a.name for a in arguments[2:3] if not a.required and not _is_switch(a)]
    dropout = [Slot("dropout", name) for name in (named + third)[:1]]
    inputs = ("query", "key", "value")[: len(contract.inputs)]
    forward = (*(Slot(role) for role in inputs), Slot("mask"))
    build = (Slot("d_model"), Slot("num_heads"), *dropout)
    return CallPlan(cls.name, cls.line, build, forward)


def _is_switch(argument: Argument) -> bool:
    return re.search(r"bias|causal|mask|batch|len|size|max", argument.name) is not None


def propose_builds(cls: CandidateClass, classes: Sequence[CandidateClass]) -> Iterator[Build]:
    """Constructor arguments, and the file's own numbers to set, by role."""
    # The file's own numbers, whichever class reads them: the attention may be built of others.
    read = dict.fromkeys(name for one in classes for name in one.reads)
    numbers = {name: role for name in read if (role := role_in(name, roles.BUILD))}
    arguments = [a for a in cls.constructor if not a.kind.startswith("var")]
    own = {one.name for one in classes if not one.is_module}
    slots = {a.name: _settings_slot(a, own) or _build_slot(a) for a in arguments}
    if not any(slot and slot.role == "num_heads" for slot in slots.values()):
        # Groups of nothing: the name says less than it seems to.
        shared = [a for a in arguments if (s := slots[a.name]) and s.role.endswith("kv_heads")]
        slots |= {a.name: None if a.required else Slot("default", a.name) for a in shared}
    open_ = [a for a in arguments if slots[a.name] is None]
    known = [slot.role for slot in slots.values() if slot] + list(numbers.values())
    # A configuration object may hold whatever is not an argument.
    missing = [role for role in UNKNOWN if role not in known]
    yield from _optional(arguments, slots, numbers, [r for r in SIZES if r in missing], open_)
    for guess in itertools.permutations(missing[:MAX_UNKNOWN], min(len(open_), len(missing))):
        # What is still open after all roles are given away has no meaning that we know.
        given = dict(zip((a.name for a in open_), guess))
        filled = [
            slots[a.name] or Slot(given.get(a.name, "option"), a.name, required=a.required)
            for a in arguments
        ]
        yield _by_position(arguments, filled), numbers
    yield from _widened(arguments, slots, numbers)
    yield from _per_head(arguments, slots, numbers)
    yield from _renamed(arguments, slots, numbers)


def _optional(
    arguments: Sequence[Argument],
    slots: Mapping[str, Slot | None],
    numbers: Mapping[str, str],
    lacking: Sequence[str],
    open_: Sequence[Argument],
) -> Iterator[Build]:
    """Where width or heads are lacking, numbers with a default and a name that says nothing."""
    if open_ or not lacking:
        return
    spare = [a.name for a in arguments if _is_count(a) and _is_left(slots[a.name])]
    for chosen in itertools.permutations(spare, len(lacking)):
        given = dict(zip(chosen, lacking))
        filled = [
            Slot(given[a.name], a.name) if a.name in given else slots[a.name] or Slot("default")
            for a in arguments
        ]
        yield _by_position(arguments, filled), numbers


def _is_count(argument: Argument) -> bool:
    return re.fullmatch(r"[1-9]\d*", argument.default) is not None


def _is_left(slot: Slot | None) -> bool:
    return slot is not None and slot.role == "default"


def _widened(
    arguments: Sequence[Argument], slots: Mapping[str, Slot | None], numbers: Mapping[str, str]
) -> Iterator[Build]:
    """Where a size of keys and the like is that of their input, not that of a head."""
    filled = [slots[a.name] or Slot("d_model", a.name) for a in arguments]
    wide = [
        replace(slot, role="d_model")
        if slot.role in HEAD_SIZES and re.fullmatch(roles.EITHER, normal(a.name))
        else slot
        for a, slot in zip(arguments, filled)
    ]
    # Where more than one name says nothing, they may be widths, each of an input of its own.
    if wide != filled or sum(slot is None for slot in slots.values()) > 1:
        yield _by_position(arguments, wide), numbers


def _per_head(
    arguments: Sequence[Argument], slots: Mapping[str, Slot | None], numbers: Mapping[str, str]
) -> Iterator[Build]:
    """Where the width that comes out is that of one head, beside one of what goes in."""
    widths = [a.name for a in arguments if (s := slots[a.name]) and s.role == "d_model"]
    out = [name for name in widths if re.fullmatch(roles.OUT, normal(name))]
    if len(out) == 1 and len(widths) > 1 and None not in slots.values():
        head = Slot("head_dim", out[0], required=True)
        filled = [head if name == out[0] else slot for name, slot in slots.items() if slot]
        yield _by_position(arguments, filled), numbers


def _renamed(
    arguments: Sequence[Argument], slots: Mapping[str, Slot | None], numbers: Mapping[str, str]
) -> Iterator[Build]:
    """Where no argument is the number of heads, one that seems a head size may be."""
    if any(slot and slot.role == "num_heads" for slot in slots.values()):
        return
    for chosen in [a.name for a in arguments if (s := slots[a.name]) and s.role in HEAD_SIZES]:
        filled = [
            Slot("num_heads", a.name)
            if a.name == chosen
            else slots[a.name] or Slot("d_model", a.name)
            for a in arguments
        ]
        yield _by_position(arguments, filled), numbers


def _settings_slot(argument: Argument, own: set[str]) -> Slot | None:
    """A configuration object: of a class of the file, or of any that has the names asked for."""
    meant = next((kind for kind in (argument.annotation, argument.default) if kind in own), None)
    called = role_in(argument.name, [("settings", roles.SETTINGS)])
    if not called and not (meant and argument.required):
        return None
    value = Settings(SETTINGS, meant)
    return Slot("settings", keyword_of(argument), value, required=True)


def _build_slot(argument: Argument) -> Slot | None:
    """What goes into one argument; None where its name says nothing and it must be given.

    A default of None is the file's own "work it out", and is left.
    """
    role = role_in(argument.name, roles.BUILD)
    switch = re.fullmatch(roles.SWITCH, normal(argument.name)) is not None
    if argument.required:
        if switch or argument.annotation == "bool":
            return Slot(
                "option", keyword_of(argument), "bias" in argument.name or "first" in argument.name
            )
        if role:
            return Slot(role, keyword_of(argument), required=True)
        if re.fullmatch(roles.DEVICE, normal(argument.name)):
            return Slot("option", keyword_of(argument), "cpu")
        return None
    perhaps = re.fullmatch(roles.PERHAPS, normal(argument.name)) is not None
    if argument.default in ("True", "False") and (perhaps or is_flag(argument)):
        return Slot("switch", argument.name, argument.default == "True")
    width = re.fullmatch(roles.EITHER, normal(argument.name)) is not None
    if role in USUAL and argument.default == "None" and not width:
        return Slot(SPARE + role, argument.name)
    if not role or switch or not re.fullmatch(r"-?[\d.]+(e-?\d+)?", argument.default):
        return Slot("default", argument.name)
    return Slot(role, argument.name)


def _by_position(arguments: Sequence[Argument], slots: Sequence[Slot]) -> tuple[Slot, ...]:
    return tuple(
        Slot(s.role, keyword_of(a), s.value, required=s.required)
        for a, s in zip(arguments, slots)
        if s.role != "default"
    )
