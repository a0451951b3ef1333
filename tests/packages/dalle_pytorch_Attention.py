# mha-grade: free; expect: failed; in: all-masked-rows; mistake: uniform-dead-rows
#
# dalle-pytorch. Causal by itself, with a padding mask [b, k], True = visible; both fill with the
# smallest number of the dtype, so rows that see nothing get equal weights, the future's too. The
# head size is an argument, so nothing need divide; dropout is on the output.
# Opened without __init__: dalle_pytorch

from dalle_pytorch.attention import Attention as Theirs


class Attention(Theirs):
    pass
