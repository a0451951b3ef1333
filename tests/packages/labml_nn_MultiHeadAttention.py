# mha-grade: free; expect: failed; in: all-masked-rows, divisibility; mistake: nan-dead-rows
#
# labml-nn. Sequence first; a mask [q, k, b], 1 = visible, given by keyword like the rest.
# The fill is -inf: NaN where a query sees nothing. Nothing asks whether the heads divide the width,
# so it is only forward that finds 8 values where the output layer wants 10.

from labml_nn.transformers.mha import MultiHeadAttention as Theirs


class MultiHeadAttention(Theirs):
    pass
