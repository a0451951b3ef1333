# mha-grade: cross-attention; expect: failed; in: cross-attention; mistake: key-value-swapped; line: 30
import torch
import torch.nn.functional as F
from torch import nn


def fold(x, heads):
    """[B, L, D] -> [L, B * H, D / H] -> [B * H, L, D / H], as older code has it."""
    x = x.transpose(0, 1).contiguous()
    length, batch, width = x.shape
    return x.view(length, batch * heads, width // heads).transpose(0, 1)


class FoldedAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.heads = num_heads
        self.dropout = dropout
        self.in_q = nn.Linear(d_model, d_model)
        self.in_k = nn.Linear(d_model, d_model)
        self.in_v = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        batch, q_len, width = query.shape
        kv_len = key.shape[1]
        q = fold(self.in_q(query), self.heads) * (width // self.heads) ** -0.5
        k = fold(self.in_k(value), self.heads)
        v = fold(self.in_v(key), self.heads)
        scores = torch.bmm(q, k.transpose(1, 2))
        if mask is not None:
            mask = mask.expand(batch, self.heads, q_len, kv_len)
            mask = mask.reshape(batch * self.heads, q_len, kv_len)
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        attn = F.softmax(scores, dim=-1)
        if mask is not None:
            attn = attn.masked_fill(~mask, 0.0)
        dropped = F.dropout(attn, self.dropout, self.training)
        mixed = torch.bmm(dropped, v).transpose(0, 1).reshape(q_len, batch, width)
        return self.out(mixed.transpose(0, 1)), attn.view(batch, self.heads, q_len, kv_len)
