"""Ready-made attention in use: which, and at which line of the candidate's file.

Not at the names by which it is called, of which there are dozens, but where all of them lead: the
kernels in torch's dispatcher, and the code of the functions that torch has in Python. What is noted
is a claim like everything else from here; none noted means that none was seen.
"""

from __future__ import annotations

from torch import nn

from . import functions, kernels, notes
from .notes import Call

__all__ = ["Call", "install", "install_late", "read", "take"]


def install() -> None:
    """Put the counters in place, once, before any worker is forked."""
    kernels.install()
    functions.install()


# For what was imported after that; and the file whose lines are meant.
install_late, read = functions.install, notes.read


def take(module: nn.Module) -> list[Call]:
    """Calls since the last time, and torch's attention modules that are held."""
    kinds = (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)
    held = {type(part).__name__ for part in module.modules() if isinstance(part, kinds)}
    return [*notes.take(), *((name, 0) for name in sorted(held))]
