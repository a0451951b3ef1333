"""Ways to call forward that its signature allows, likeliest first."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from grader.calling import roles
from grader.calling.masks import MaskStyle
from grader.calling.plan import PERHAPS, SPARE, SWITCHES, Slot
from grader.calling.roles import normal, role_in
from grader.calling.tables import TABLES, list_forms
from grader.model import Argument, CandidateClass

POSITIONAL = ("positional_only", "positional_or_keyword")


def propose_forwards(cls: CandidateClass) -> Iterator[tuple[Slot, ...]]:
    """Forward's arguments: sequences and masks by role, flags and the rest left as they are."""
    arguments = [a for a in cls.forward if not a.kind.startswith("var")]
    said = {a.name: _say(a) for a in arguments}
    found = [slot for a in arguments if (slot := _mask_slot(a, said[a.name]))]
    masks = list(_one_of_each(found))
    flags = [_flag_slot(a, said[a.name]) for a in arguments if said[a.name] in SWITCHES]
    starts = [
        Slot("option", a.name, 0) for a in arguments if a.required and said[a.name] == "start"
    ]
    tables = [
        Slot(said[a.name], a.name, required=a.required) for a in arguments if said[a.name] in TABLES
    ]
    taken = {slot.name for slot in (*found, *starts, *tables)}
    free = [a for a in arguments if a.name not in taken and said[a.name] not in SWITCHES]
    needed = [a for a in free if a.required]
    perhaps = [] if masks else [Slot(PERHAPS, a.name) for a in free if _is_open(a, said[a.name])]
    caches = [Slot("cache", a.name) for a in free if not a.required and _is_cache(a)]
    caches += [Slot("caching", a.name, True) for a in free if _turns_caching(a)]
    wanted = needed + [a for a in free if not a.required and _is_sequence(a, said[a.name])]
    if not wanted:
        # A decorator may hide the signature.
        count = len([a for a in cls.forward if a.kind == "var_positional"])
        for hidden in (("query",), ("query", "key", "value")):
            if count:
                yield tuple(Slot(role) for role in hidden)
        wanted = free[:1]
    leading = wanted == arguments[: len(wanted)]
    orders = list(_orders([said[a.name] for a in wanted]))
    for given, names in itertools.product(_ways_to_give(tables), orders):
        # By position where they come first, as people call it.
        sequences = tuple(
            Slot(
                role,
                keyword_of(a),
                required=a.required,
                positional=leading and a.kind in POSITIONAL,
            )
            for role, a in zip(names, wanted)
        )
        yield (*sequences, *masks, *flags, *perhaps, *caches, *starts, *given)
    yield from _with_another_last(arguments, wanted, masks, flags, said)


def takes_tables(cls: CandidateClass) -> bool:
    """True where forward may be given rotary positions from outside."""
    return any(role_in(argument.name, roles.FORWARD) in TABLES for argument in cls.forward)


def with_tables(forward: tuple[Slot, ...], share: float) -> Iterator[tuple[Slot, ...]]:
    """Forward's tables of positions in each of the forms they may have, all in the same one.

    They turn this `share` of each head.
    """
    given = {slot.role for slot in forward} & {*TABLES}
    for form in list_forms(given, share) if given else (None,):
        yield tuple(replace(s, value=form) if s.role in given else s for s in forward)


def _ways_to_give(tables: Sequence[Slot]) -> list[tuple[Slot, ...]]:
    """Those that must be given; where there are others, all as well."""
    needed = tuple(slot for slot in tables if slot.required)
    return list(dict.fromkeys([needed, tuple(tables)]))


def _with_another_last(
    arguments: Sequence[Argument],
    wanted: Sequence[Argument],
    masks: Sequence[Slot],
    flags: Sequence[Slot],
    said: Mapping[str, str],
) -> Iterator[tuple[Slot, ...]]:
    """The last thing that must be given may be a mask of another name, or what is called m none."""
    sequences, end = list(wanted), tuple(flags)
    masks = [slot for slot in masks if not slot.role.startswith(SPARE)]
    if len(wanted) in (2, 4) and not masks:
        *sequences, last = wanted
        end = (Slot("mask", last.name, required=True), *flags)
    elif len(wanted) in (1, 2) and [slot.required for slot in masks] == [True]:
        sequences += [a for a in arguments if a.name == masks[0].name]
    else:
        return
    for names in _orders([said[a.name] for a in sequences]):
        yield (
            *(Slot(role, keyword_of(a), required=True) for role, a in zip(names, sequences)),
            *end,
        )


def _say(argument: Argument) -> str:
    """The role that a name says; a tensor may be called causal_mask, a switch is true or false."""
    said = role_in(argument.name, roles.FORWARD)
    tensor = said == "flag" and "mask" in argument.name and argument.default == "None"
    return "mask" if tensor and "bool" not in argument.annotation.lower() else said


def _flag_slot(argument: Argument, role: str) -> Slot:
    """A switch of forward, with what turns it from its default."""
    turned = argument.default != "True"
    return Slot(role, argument.name, turned, required=argument.required)


def _mask_slot(argument: Argument, role: str) -> Slot | None:
    if role == "lengths":
        style = MaskStyle("lengths", "int64", ("b k",))
        return Slot("padding", argument.name, style=style, required=argument.required)
    role = "mask" if not role and "bool" in argument.annotation.lower() else role
    if role in ("mask", "padding") and argument.default not in ("True", "False"):
        return Slot(role, argument.name, required=argument.required)
    return None


def _one_of_each(masks: Sequence[Slot]) -> Iterator[Slot]:
    """The first mask of each role; more of them are spare until one turns out to be of use."""
    roles = [slot.role for slot in masks]
    for at, slot in enumerate(masks):
        if slot.role not in roles[:at]:
            yield slot
        elif not slot.required:
            yield replace(slot, role=SPARE + slot.role)


def _is_sequence(argument: Argument, role: str) -> bool:
    return role in ("query", "key", "value", "context") and argument.default == "None"


def _is_open(argument: Argument, role: str) -> bool:
    """True for what may be left out, and whose name says nothing."""
    return not role and argument.default == "None"


def _is_cache(argument: Argument) -> bool:
    """True for what holds keys and values of earlier calls, or says where they lie."""
    kept = re.fullmatch(roles.CACHE, normal(argument.name)) is not None
    return kept and argument.default == "None"


def _turns_caching(argument: Argument) -> bool:
    """True for a switch that by its name has such things returned."""
    kept = re.fullmatch(roles.CACHE, normal(argument.name)) is not None
    return kept and argument.default in ("True", "False")


def _orders(said: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Roles of the sequences, as their names say if they agree, then in every other order."""
    everything: dict[int, list[tuple[str, ...]]] = {
        1: [("query",)],
        2: [("query", "context"), ("context", "query")],
        3: list(itertools.permutations(("query", "key", "value"))),
    }
    yield from sorted(
        everything.get(len(said), []),
        key=lambda order: sum(a != b for a, b in zip(order, said)),
    )


def is_flag(argument: Argument) -> bool:
    """True for what by its name turns causality on or off."""
    return re.fullmatch(roles.FLAG, normal(argument.name)) is not None


def keyword_of(argument: Argument) -> str | None:
    """The name to pass an argument by; None where it has to go by position."""
    return None if argument.kind == "positional_only" else argument.name
