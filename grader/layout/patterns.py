"""The shapes in which people write projections, as patterns of axes, likeliest first.

m is d_model, h the heads, d the size of one head, f two or three projections in one parameter; axes
in brackets are joined.
"""

from __future__ import annotations

import itertools

# Output rows first, as in nn.Linear; then x @ W; then the axes apart, as einsum likes them.
LINEAR = {
    1: ("(h d) m", "(d h) m"),
    2: ("(f h d) m", "(h f d) m", "(h d f) m"),
    3: ("(f h d) m", "(h f d) m", "(h d f) m", "(f d h) m", "(d f h) m"),
}
# Rarer, and right all the same: several heads in one axis, and any other order.
GROUPED = ("m f (h d)", "m h (f d)", "m (f h) d", "(f h) m d", "(f h) d m")
ORDERED = tuple(map(" ".join, itertools.permutations("fhdm")))


def _each(*patterns: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(patterns))


APART = {
    1: ("h m d", "h d m", "m h d", "m d h", "d h m"),
    2: _each(
        *("f (h d) m", "f m (h d)", "h (f d) m", "f h m d", "h m (f d)", "f h d m", "h f d m"),
        *(*GROUPED, *ORDERED),
    ),
    3: _each(
        *("f (h d) m", "f m (h d)", "h (f d) m", "f h m d", "h m (f d)", "m f h d"),
        *("f h d m", "h f d m", "h f m d", "m h f d", "m h d f"),
        *(*GROUPED, *ORDERED),
    ),
}
OUTPUTS_LINEAR = ("m (h d)", "m (d h)")
OUTPUTS_APART = ("(h d) m", "(d h) m", "h d m", "m h d", "h m d", "d h m")
