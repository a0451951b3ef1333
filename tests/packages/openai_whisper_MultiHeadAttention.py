# mha-grade: free; expect: failed; in: divisibility, padding-mask, combined-masks, all-masked-rows, mixed-precision, gradients, state; mistake: mask-taken-for-causal
#
# openai-whisper. On the way it takes by default any mask at all means "causal": its values are not
# looked at. A causal mask is therefore right, every other one wrong wherever one is shown. A width
# that does not divide is noticed by a view in forward.

from whisper.model import MultiHeadAttention as Theirs


class MultiHeadAttention(Theirs):
    pass
