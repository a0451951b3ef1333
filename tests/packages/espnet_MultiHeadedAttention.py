# mha-grade: free; expect: passed
#
# espnet. A mask [b, 1, k] or [b, q, k], 1 = visible, that must be given; the fill is the smallest
# number of the dtype, and weights that are hidden are zero again after the softmax, so rows that
# see nothing are zero. An assertion where heads do not divide.

from espnet.nets.pytorch_backend.transformer.attention import MultiHeadedAttention as Theirs


class MultiHeadedAttention(Theirs):
    pass
