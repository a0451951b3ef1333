# mha-grade: free; expect: passed
#
# timm. torch's own attention with a bool mask, True = visible: its rows that see nothing are zero.
# An assertion where heads do not divide; dropout by `attn_drop` and `proj_drop`.
# Opened without __init__: timm, timm.layers

from timm.layers.attention import Attention as Theirs


class Attention(Theirs):
    pass
