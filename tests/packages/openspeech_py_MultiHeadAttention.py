# mha-grade: free; expect: failed; in: scaling, padding-mask, all-masked-rows; mistake: scale-by-sqrt-d-model
#
# openspeech-py. Scores are divided by the root of the width, not of the head size; no output
# projection. A mask [b, q, k], True = hidden, is filled with -1e4: equal weights in rows that see
# nothing, and large scores outweigh it. An assertion where heads do not divide.
# Opened without __init__: openspeech, openspeech.modules

from openspeech.modules.multi_head_attention import MultiHeadAttention as Theirs


class MultiHeadAttention(Theirs):
    pass
