# mha-grade: free; expect: failed; in: all-masked-rows, divisibility; mistake: nan-dead-rows
#
# self-attention-cv. One layer for q, k and v whose rows run (d k h); a mask [q, k], True = hidden.
# The fill is -inf: NaN where a query sees nothing. int(dim / heads) rounds down: a width of 10 with
# 4 heads quietly works in 8.
# Opened without __init__: self_attention_cv, self_attention_cv.transformer_vanilla

from self_attention_cv.transformer_vanilla.mhsa import MultiHeadSelfAttention as Theirs


class MultiHeadSelfAttention(Theirs):
    pass
