# mha-grade: free; expect: passed
#
# kornia, of its Segment Anything. Query, key and value of their own, no mask, no dropout; its own
# check raises where heads do not divide.

from kornia.models.sam.architecture.transformer import Attention as Theirs


class Attention(Theirs):
    pass
