# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-in-order-of-heads; line: 34
import torch
from torch import nn


class DetrAttention(nn.Module):
    """Sequence first, heads folded into the batch."""

    def __init__(self, embed_dim, num_heads, dropout=0.0):
        super().__init__()
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.scaling = self.head_dim**-0.5
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _shape(self, tensor, length, batch):
        return tensor.contiguous().view(length, batch * self.num_heads, self.head_dim).transpose(0, 1)

    def forward(self, query, key, value, key_padding_mask=None):
        tgt_len, bsz, _ = query.size()
        src_len = key.size(0)
        q = self._shape(self.q_proj(query) * self.scaling, tgt_len, bsz)
        k = self._shape(self.k_proj(key), src_len, bsz)
        v = self._shape(self.v_proj(value), src_len, bsz)
        scores = torch.bmm(q, k.transpose(1, 2))
        if key_padding_mask is not None:
            hidden = key_padding_mask.unsqueeze(1).repeat(self.num_heads, 1, 1)
            scores = scores.masked_fill(hidden, float("-inf"))
        attn = nn.functional.softmax(scores, dim=-1)
        attn = nn.functional.dropout(attn, p=self.dropout, training=self.training)
        out = torch.bmm(attn, v).transpose(0, 1).reshape(tgt_len, bsz, self.embed_dim)
        return self.out_proj(out)
