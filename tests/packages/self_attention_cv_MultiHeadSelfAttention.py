# mha-grade: free; expect: failed; in: all-masked-rows, divisibility; mistake: nan-dead-rows
#
# self-attention-cv. One layer for q, k and v whose rows run (d k h); a mask [q, k], True = hidden.
# The fill is -inf: NaN where a query sees nothing. int(dim / heads) rounds down: a width of 10 with
# 4 heads quietly works in 8.

import sys
from importlib.util import find_spec
from types import ModuleType


def _open(package: str) -> None:
    """Make `package` importable without its __init__, which wants far more than its attention."""
    module = ModuleType(package)
    module.__path__ = find_spec(package).submodule_search_locations
    sys.modules[package] = module


_open("self_attention_cv")
_open("self_attention_cv.transformer_vanilla")

from self_attention_cv.transformer_vanilla.mhsa import MultiHeadSelfAttention as Theirs


class MultiHeadSelfAttention(Theirs):
    pass
