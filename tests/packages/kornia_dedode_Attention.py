# mha-grade: free; expect: failed; in: divisibility; mistake: divisibility-only-in-forward
#
# kornia, of its DeDoDe. Right as it stands, no mask; dim // num_heads is taken unasked, so that a
# width that does not divide is noticed by a reshape in forward.

from kornia.feature.dedode.transformer.layers.attention import Attention as Theirs


class Attention(Theirs):
    pass
