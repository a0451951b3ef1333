# mha-grade: free; expect: failed; in: causal-mask, padding-mask, combined-masks, all-masked-rows, cross-attention, mixed-precision, gradients, dropout, state; mistake: relative-positions
#
# conformer. Learned relative positions are set to 0, and what is around them is right. With a
# context of its own the mask is that of the queries, [b, q]: no mask says which keys may be seen, and
# every one that does is refused. It runs only with as many queries as keys.

from conformer.conformer import Attention as Theirs


class Attention(Theirs):
    pass
