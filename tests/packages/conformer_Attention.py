# mha-grade: free; expect: failed; in: shapes, scaling, causal-mask, padding-mask, combined-masks, all-masked-rows, cross-attention, non-contiguous, mixed-precision, gradients, dropout, state; mistake: relative-positions
#
# conformer. Scores get a share of learned relative positions: another function than attention, so
# that no case that compares values can pass, and what builds on them is skipped.

from conformer.conformer import Attention as Theirs


class Attention(Theirs):
    pass
