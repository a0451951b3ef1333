"""How a file wants its masks: what they mean, of which dtype, with which axes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grader.model import Array, Input

AXES = "bhqk"
# Roles of mask arguments: between tokens, and of tokens.
MASKS = ("mask", "padding")


@dataclass(frozen=True)
class MaskStyle:
    """One mask argument's reading of our masks, which are bool with True = visible.

    `meaning`: "visible" or "hidden" say what True (or 1) stands for, "additive" is 0 or -inf added
    to the scores, "lengths" a number of visible keys for each sample (of a mask "b k"). `dtype` is
    "bool", "int64", "float" (the module's own) or "float32". `forms` are the axes it takes,
    likeliest first ("b 1 q k"); none at all stands for whatever broadcasts to [b, h, q, k]. Letters
    that stand together are one axis ("bh q k", as for scores that are folded for torch.bmm). `also`
    are further styles, each of one form, that the file tells from this one. Where it is `unknown`
    what a mask means to the file, it can be given one that shows everything, and no other.
    """

    meaning: str = "visible"
    dtype: str = "bool"
    forms: tuple[str, ...] = ()
    also: tuple[MaskStyle, ...] = ()
    unknown: bool = False

    def write(self, mask: Array, sizes: Sequence[int], dtype: str) -> Input | None:
        """`mask` as this file takes it, for sizes (b, h, q, k); None where no form can hold it."""
        if self.unknown and not mask.all():
            return None
        if not self.forms:
            return self._render(mask, dtype)
        full = np.broadcast_to(mask, tuple(sizes))
        if self.meaning == "lengths" and (full[..., 1:] > full[..., :-1]).any():
            return None
        fits = [cut for form in self.forms if (cut := cut_to(full, form)) is not None]
        same = [cut for cut in fits if cut.shape == mask.shape]
        return self._render((same or fits)[0], dtype) if fits else None

    def _render(self, mask: Array, dtype: str) -> Input:
        if self.meaning == "lengths":
            return Input(mask.sum(axis=-1), "int64")
        if self.meaning == "additive":
            return Input(np.where(mask, 0.0, -np.inf), self._of_floats(dtype))
        said = mask if self.meaning == "visible" else ~mask
        if self.dtype == "bool":
            return Input(said, "bool")
        given = "int64" if self.dtype == "int64" else self._of_floats(dtype)
        return Input(said.astype(np.int64), given)

    def _of_floats(self, dtype: str) -> str:
        return "float32" if self.dtype == "float32" else dtype


def axes_in(form: str) -> frozenset[str]:
    """The axes along which a mask of this form may differ: "bh 1 k" -> b, h and k."""
    return frozenset(form) & frozenset(AXES)


def cut_to(full: Array, form: str) -> Array | None:
    """[b, h, q, k] cut to the axes of `form`, in its order.

    None where an axis left out makes a difference.
    """
    for at, axis in enumerate(AXES):
        first = full.take([0], axis=at)
        if axis not in form:
            if not np.array_equal(np.broadcast_to(first, full.shape), full):
                return None
            full = first
    sizes = dict(zip(AXES, full.shape))
    order = sorted(range(len(AXES)), key=lambda at: form.find(AXES[at]))
    turned = np.ascontiguousarray(full.transpose(order))
    joined = [math.prod(sizes.get(axis, 1) for axis in axes) for axes in form.split()]
    return turned.reshape(joined)


def split_mask(mask: Array, sizes: Sequence[int]) -> tuple[Array, Array] | None:
    """A mask as ([1, 1, q, k], [b, 1, 1, k]) of which it is the conjunction, if it is one."""
    full = np.broadcast_to(mask, tuple(sizes))
    between: Array = np.asarray(full.any(axis=(0, 1), keepdims=True))
    padding: Array = np.asarray(full.any(axis=(1, 2), keepdims=True))
    return (between, padding) if bool(((between & padding) == full).all()) else None


def ways_to_say(
    mask: Array, sizes: Sequence[int], roles: Collection[str]
) -> Iterator[dict[str, Array]]:
    """A mask as each mask argument may be given it: one the whole, or both a part if it takes two.

    Padding that all samples share is no mask between tokens.
    """
    parts = split_mask(mask, sizes) if len(roles) == len(MASKS) else None
    if parts is not None and not any((part == mask).all() for part in parts):
        yield dict(zip(MASKS, parts))
    yield from ({role: mask} for role in reversed(MASKS) if role in roles)
