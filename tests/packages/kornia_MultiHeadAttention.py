# mha-grade: free; expect: passed
#
# kornia, of its vision transformer. Fused projections, no mask, two rates of dropout that must both
# be given, ValueError where heads do not divide.

from kornia.models.vit import MultiHeadAttention as Theirs


class MultiHeadAttention(Theirs):
    pass
