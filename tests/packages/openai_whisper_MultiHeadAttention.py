# mha-grade: free; expect: failed; in: divisibility, causal-mask, padding-mask, combined-masks, all-masked-rows, cross-attention, mixed-precision, gradients, dropout, state; mistake: mask-taken-for-causal
#
# openai-whisper. On the way it takes by default any mask at all means "causal": its values are not
# looked at, and between two lengths the edge stands at the start. Every mask is wrong wherever one is
# shown. A width that does not divide is noticed by a view in forward.

from whisper.model import MultiHeadAttention as Theirs


class MultiHeadAttention(Theirs):
    pass
