# mha-grade: free; expect: passed
#
# timm. torch's own attention with a bool mask, True = visible: its rows that see nothing are zero.
# An assertion where heads do not divide; dropout by `attn_drop` and `proj_drop`.

import sys
from importlib.util import find_spec
from types import ModuleType


def _open(package: str) -> None:
    """Make `package` importable without its __init__, which wants far more than its attention."""
    module = ModuleType(package)
    module.__path__ = find_spec(package).submodule_search_locations
    sys.modules[package] = module


_open("timm")
_open("timm.layers")

from timm.layers.attention import Attention as Theirs


class Attention(Theirs):
    pass
