"""A plan: what goes into each argument of a candidate's constructor and of its forward."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from grader.calling.masks import MASKS, MaskStyle, axes_in, ways_to_say
from grader.calling.roles import ATTENTION_DROPOUT
from grader.calling.tables import TABLES, write_table
from grader.model import Array, Call, Input, Option, Settings

BATCH_FIRST = "b l m"
# What a length argument is given: enough for every sequence but the longest.
LENGTH = 64
# Before the role of what is left to its default until a case is about it.
SPARE = "spare "
SWITCHES = ("flag", "returns")
# What may be a mask for all that its name says.
PERHAPS = "perhaps"
AS_DRAWN = MaskStyle()


class NotOfferedError(Exception):
    """A case needs what this file does not offer: `what`, with `fields` for its sentence."""

    def __init__(self, what: str, **fields: Any) -> None:
        super().__init__(what)
        self.what = what
        self.fields = fields


@dataclass(frozen=True)
class Slot:
    """One argument and what goes there; by keyword where it has a `name`, unless `positional`.

    Roles of a constructor: d_model, num_heads, kv_heads, head_dim, value_dim, rotary_dim (as much
    of a head as is turned), length, batch, dropout, settings, value, and switch, whose value is
    its own default; of forward: query, key, value, context (both of these), mask, padding, option,
    perhaps, cache and caching (what has a cache returned), which are left out, flag and returns,
    which are left as they are where they can be and whose value is what turns them, and turn, cos
    and sin, whose value is the form of that table ("l d/2").
    """

    role: str
    name: str | None = None
    value: Any = None
    style: MaskStyle = AS_DRAWN
    required: bool = False
    positional: bool = False

    def styled(self, style: MaskStyle) -> Slot:
        """The same argument with masks written in another style."""
        return replace(self, style=style)

    @property
    def keyword(self) -> str | None:
        """The name to pass it by."""
        return None if self.positional else self.name


@dataclass(frozen=True)
class CallPlan:
    """How one class is built and called, and where in what it returns the answer stands.

    `axes` orders the axes of inputs and output; `output` and `weights` are positions in what is
    returned. `globals` are numbers of the file to set, each by its role, `norms` the parameters of
    layer norms, which are made to let everything through, `asked` the roles of what the module
    reads from its settings, `zeroed` the parameters for positions, which are set to 0. It is
    `doubtful` where something of the weights' shape is returned that is neither weights nor scores;
    `cache` is the position of what it takes back for one more token.
    """

    class_name: str
    line: int
    build: tuple[Slot, ...]
    forward: tuple[Slot, ...]
    globals: Mapping[str, str] = field(default_factory=dict)
    axes: str = BATCH_FIRST
    output: int = 0
    weights: int | None = 1
    norms: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    zeroed: tuple[str, ...] = ()
    doubtful: bool = False
    cache: int | None = None

    @property
    def has_dropout(self) -> bool:
        """True where the probability can be chosen."""
        roles = [slot.role for slot in self.build] + list(self.globals.values())
        return "dropout" in roles or "dropout" in self.asked

    def lone_dropouts(self) -> Iterator[CallPlan]:
        """The plan with each of several dropouts set and the others 0; nothing where it has one.

        In settings they are told apart by name, as those of the attention and the rest.
        """
        slots = [slot for slot in self.build if slot.role == "dropout"]
        for one in slots if len(slots) > 1 else []:
            off = {slot: replace(slot, role="option", value=0.0) for slot in slots if slot != one}
            yield replace(self, build=tuple(off.get(slot, slot) for slot in self.build))
        for slot in self.build:
            if slot.role == "settings" and "dropout" in self.asked:
                for role, rest in (("dropout", 0.0), (0.0, "dropout")):
                    own = ((ATTENTION_DROPOUT, role),)
                    values = own + tuple(
                        (p, rest if r == "dropout" else r) for p, r in slot.value.values
                    )
                    turned = replace(slot, value=slot.value._replace(values=values))
                    yield replace(self, build=put(self.build, slot, turned))

    @property
    def fixes_head_dim(self) -> bool:
        """True where the head size is an argument of its own, so that nothing need divide."""
        given = {"head_dim", "value_dim"}
        return bool(given & (self.asked | {slot.role for slot in self.build}))

    def takes(self, role: str) -> bool:
        """True where the constructor can be given this, or reads it from its settings."""
        return role in self.asked or any(s.role in (role, SPARE + role) for s in self.build)

    def with_default_length(self) -> CallPlan:
        """The plan that leaves a length of the constructor at its default; itself without one."""
        given = tuple(s for s in self.build if s.role != "length" or s.required or s.name is None)
        return replace(self, build=given)

    def construct(self, sizes: Mapping[str, int], dropout: float | None = None) -> dict[str, Any]:
        """Probe's `construct`, `construct_named` and `globals` for these sizes.

        A dropout of None is left to the default where it can be.
        """
        values = _values(sizes, dropout or 0.0)
        positional, named = [], {}
        for slot in self.build:
            role = slot.role.removeprefix(SPARE)
            if slot.role == "dropout" and dropout is None and not slot.required:
                continue
            if slot.role != role and not sizes.get(role):
                continue
            value = values.get(role, slot.value)
            if slot.role == "settings":
                value = Settings(_patterns(slot.value, values), slot.value.class_name)
            if slot.name is None:
                positional.append(value)
            else:
                named[slot.name] = value
        numbers = {name: values[role] for name, role in self.globals.items()}
        return {"construct": tuple(positional), "construct_named": named, "globals": numbers}

    def call(
        self,
        inputs: Sequence[Array],
        mask: Array | None,
        sizes: Sequence[int],
        dtype: str,
        storage: str = "contiguous",
    ) -> Call:
        """The inputs [b, l, m] and the mask of one call for sizes (b, h, q, k), as planned.

        Raises NotOfferedError where the file takes no mask that could say the same.
        """
        tensors = dict(zip(self.sequences, inputs))
        masks = self._masks(mask, sizes, dtype)
        call: list[Input | Option] = []
        # Sequences first, wherever they stand in the signature: gradients come back in this order.
        for slot in sorted(self.forward, key=lambda slot: slot.role not in tensors):
            if slot.role in tensors:
                call.append(Input(self.arrange(tensors[slot.role]), dtype, storage, slot.keyword))
            elif slot.role in masks:
                call.append(masks[slot.role]._replace(name=slot.name))
            elif slot.role == "option":
                call.append(Option(slot.value, slot.name))
            elif slot.role in SWITCHES and slot.required:
                call.append(Option(not slot.value, slot.name))
            elif slot.role in TABLES:
                shape = inputs[0].shape
                call.append(write_table(slot.role, slot.value, slot.name, shape, sizes[1], dtype))
        return tuple(call)

    @property
    def has_tables(self) -> bool:
        """True where rotary positions are given from outside."""
        return any(slot.role in TABLES for slot in self.forward)

    def turned(self, role: str) -> Iterator[CallPlan]:
        """The plan with each switch of forward of this role turned by itself."""
        for slot in self.forward:
            if slot.role == role and slot.value is not None:
                yield replace(self, forward=put(self.forward, slot, replace(slot, role="option")))

    def switched(self) -> Iterator[tuple[CallPlan, bool]]:
        """The plan with each switch for causality turned by itself, and whether it is on then."""
        for plan in self.turned("flag"):
            (slot,) = set(plan.forward) - set(self.forward)
            yield plan, slot.value
        for slot in self.build:
            if slot.role == "switch":
                turned = replace(slot, value=not slot.value)
                yield replace(self, build=put(self.build, slot, turned)), turned.value
            if slot.role == "settings" and "causal" in self.asked:
                values = tuple((p, True if r == "causal" else r) for p, r in slot.value.values)
                turned = replace(slot, value=slot.value._replace(values=values))
                yield replace(self, build=put(self.build, slot, turned)), True

    @property
    def takes_lengths(self) -> bool:
        """True where the only masks are lengths."""
        styles = [slot.style for slot in self.forward if slot.role in MASKS]
        return bool(styles) and all(style.meaning == "lengths" for style in styles)

    @property
    def masks_between(self) -> bool:
        """True where a mask can say of each query what it may see."""
        return any("q" in axes for axes in self.mask_axes())

    def mask_axes(self) -> list[frozenset[str]]:
        """The axes of each form of mask that is known to be taken; [] where any broadcasts."""
        styles = [slot.style for slot in self.forward if slot.role in MASKS]
        return [axes_in(form) for style in styles for form in style.forms]

    def without_mask(self) -> Option:
        """A mask of None, given by hand."""
        slot = next((slot for slot in self.forward if slot.role in MASKS), None)
        if slot is None or slot.required:
            raise NotOfferedError("mask")
        return Option(None, slot.name)

    @functools.cached_property
    def sequences(self) -> list[str]:
        """The roles of the tensors it takes, query first, in the definition's order."""
        known = ("query", "key", "value", "context")
        return [role for role in known if any(slot.role == role for slot in self.forward)]

    def arrange(self, x: Array) -> Array:
        """[b, l, m] -> the file's own order of axes."""
        return np.ascontiguousarray(x.transpose(self._turns[0]))

    def restore(self, x: Array) -> Array:
        """The file's own order of axes -> [b, l, m]; of another rank, as it is."""
        return x.transpose(self._turns[1]) if x.ndim == len(self._turns[1]) else x

    @functools.cached_property
    def _turns(self) -> tuple[list[int], list[int]]:
        """The order of axes from [b, l, m] to the file's own, and back."""
        usual, own = BATCH_FIRST.split(), self.axes.split()
        return [usual.index(axis) for axis in own], [own.index(axis) for axis in usual]

    def _masks(self, mask: Array | None, sizes: Sequence[int], dtype: str) -> dict[str, Input]:
        slots = {slot.role: slot for slot in self.forward if slot.role in MASKS}

        def write(said: Mapping[str, Array]) -> dict[str, Input]:
            found = {r: slots[r].style.write(m, sizes, dtype) for r, m in said.items()}
            return {role: item for role, item in found.items() if item}

        # One that must be given, and has nothing to say, shows everything.
        wanted = [role for role, slot in slots.items() if slot.required]
        spare = write(dict.fromkeys(wanted, np.ones(tuple(sizes), bool))) if wanted else {}
        if mask is None:
            return spare
        for said in ways_to_say(mask, sizes, slots):
            written = write(said)
            if len(written) == len(said):
                return spare | written
        raise NotOfferedError("mask")


def put(slots: Sequence[Slot], old: Slot, new: Slot) -> tuple[Slot, ...]:
    """The slots with one of them replaced."""
    return tuple(new if slot == old else slot for slot in slots)


def _values(sizes: Mapping[str, int], dropout: float) -> dict[str, Any]:
    d_model, num_heads = sizes["d_model"], sizes["num_heads"]
    head_dim = sizes.get("head_dim") or d_model // num_heads
    return {
        "d_model": d_model,
        "num_heads": num_heads,
        "head_dim": head_dim,
        "value_dim": sizes.get("value_dim") or head_dim,
        "kv_heads": sizes.get("kv_heads") or num_heads,
        "rotary_dim": head_dim // 2,
        "length": max(LENGTH, sizes.get("q_len", 0), sizes.get("kv_len", 0)),
        "batch": sizes.get("batch", 2),
        "dropout": dropout,
        "causal": False,
    }


def _patterns(asked: Settings, values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((pattern, values.get(role, role)) for pattern, role in asked.values)
