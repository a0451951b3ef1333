# mha-grade: free; expect: failed; in: all-masked-rows; mistake: nan-dead-rows; line: 14
from torch import nn


class EncoderSelfAttention(nn.Module):
    """Thin layer over the module that torch ships."""

    def __init__(self, emb_dim, n_head, dropout=0.0):
        super().__init__()
        self.mha = nn.MultiheadAttention(emb_dim, n_head, dropout=dropout, batch_first=True)

    def forward(self, x, padding=None):
        """padding: (batch, length), True at the padding"""
        out, weights = self.mha(x, x, x, key_padding_mask=padding, average_attn_weights=False)
        return out, weights
