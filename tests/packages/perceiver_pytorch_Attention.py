# mha-grade: free; expect: failed; in: all-masked-rows; mistake: uniform-dead-rows
#
# perceiver-pytorch. A context of its own, a padding mask [b, k], True = visible; the fill is the
# smallest number of the dtype, so a row that sees nothing gets equal weights. The head size is an
# argument, so nothing need divide.

import sys
from importlib.util import find_spec
from types import ModuleType


def _open(package: str) -> None:
    """Make `package` importable without its __init__, which wants far more than its attention."""
    module = ModuleType(package)
    module.__path__ = find_spec(package).submodule_search_locations
    sys.modules[package] = module


_open("perceiver_pytorch")

from perceiver_pytorch.perceiver_pytorch import Attention as Theirs


class Attention(Theirs):
    pass
