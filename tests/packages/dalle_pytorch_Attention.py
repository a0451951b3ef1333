# mha-grade: free; expect: failed; in: all-masked-rows; mistake: uniform-dead-rows
#
# dalle-pytorch. Causal by itself, with a padding mask [b, k], True = visible; both fill with the
# smallest number of the dtype, so rows that see nothing get equal weights, the future's too. The
# head size is an argument, so nothing need divide; dropout is on the output.

import sys
from importlib.util import find_spec
from types import ModuleType


def _open(package: str) -> None:
    """Make `package` importable without its __init__, which wants far more than its attention."""
    module = ModuleType(package)
    module.__path__ = find_spec(package).submodule_search_locations
    sys.modules[package] = module


_open("dalle_pytorch")

from dalle_pytorch.attention import Attention as Theirs


class Attention(Theirs):
    pass
