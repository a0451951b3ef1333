# mha-grade: free; expect: failed; in: padding-mask, combined-masks, all-masked-rows, mixed-precision; mistake: masks-in-order-of-heads
#
# torch-multi-head-attention without its ReLU. The heads are folded into the batch sample by sample,
# but a mask [b, q, k] is repeated head by head: each sample gets the masks of others. One mask for
# all samples is right. Rows that see nothing get equal weights, and a fill of -1e9 raises in
# float16.

from torch_multi_head_attention import MultiHeadAttention as Theirs


class MultiHeadAttention(Theirs):
    def __init__(self, in_features, head_num, bias=True):
        super().__init__(in_features, head_num, bias, activation=None)
