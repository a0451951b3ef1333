# mha-grade: free; expect: failed; in: all-masked-rows; mistake: uniform-dead-rows
#
# perceiver-pytorch. A context of its own, a padding mask [b, k], True = visible; the fill is the
# smallest number of the dtype, so a row that sees nothing gets equal weights. The head size is an
# argument, so nothing need divide.
# Opened without __init__: perceiver_pytorch

from perceiver_pytorch.perceiver_pytorch import Attention as Theirs


class Attention(Theirs):
    pass
