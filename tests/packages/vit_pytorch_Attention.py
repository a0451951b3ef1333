# mha-grade: free; expect: passed
#
# vit-pytorch. A LayerNorm in front, heads of a size of their own, no mask. One head as wide as the
# model has no output projection, and is told so in the constructor.

import sys
from importlib.util import find_spec
from types import ModuleType


def _open(package: str) -> None:
    """Make `package` importable without its __init__, which wants far more than its attention."""
    module = ModuleType(package)
    module.__path__ = find_spec(package).submodule_search_locations
    sys.modules[package] = module


_open("vit_pytorch")

from vit_pytorch.vit import Attention as Theirs


class Attention(Theirs):
    pass
