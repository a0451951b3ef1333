# mha-grade: free; expect: passed
#
# vit-pytorch. A LayerNorm in front, heads of a size of their own, no mask. One head as wide as the
# model has no output projection, and is told so in the constructor.
# Opened without __init__: vit_pytorch

from vit_pytorch.vit import Attention as Theirs


class Attention(Theirs):
    pass
