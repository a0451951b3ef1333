# mha-grade: free; expect: failed; in: shapes, scaling, causal-mask, padding-mask, combined-masks, all-masked-rows, cross-attention, non-contiguous, mixed-precision, gradients, dropout, state; mistake: projections-through-relu
#
# torch-multi-head-attention, as it comes: each projection, that of the output too, goes through a
# ReLU. That is another function than attention, so no case that compares values can pass, and what
# builds on them is skipped. Only the constructor is right: ValueError where heads do not divide.

from torch_multi_head_attention import MultiHeadAttention as Theirs


class MultiHeadAttention(Theirs):
    pass
