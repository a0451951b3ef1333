# mha-grade: free; expect: failed; in: shapes; mistake: key-used-as-value; line: 21
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, heads: int, model_dim: int):
        super().__init__()
        if model_dim % heads:
            raise ValueError("model_dim must be divisible by heads")
        self.heads = heads
        self.linear_k = nn.Linear(model_dim, model_dim)
        self.linear_q = nn.Linear(model_dim, model_dim)
        self.linear_v = nn.Linear(model_dim, model_dim)
        self.linear_final = nn.Linear(model_dim, model_dim)

    def forward(self, key, value, query, attn_mask=None):
        """attn_mask: (batch, len_q, len_k), True = not to be seen"""
        n, d = key.size(0), key.size(2) // self.heads
        key, value, query = (
            layer(t).view(n, -1, self.heads, d).transpose(1, 2)
            for layer, t in ((self.linear_k, key), (self.linear_k, value), (self.linear_q, query))
        )
        s = query @ key.transpose(2, 3) * d ** -0.5
        if attn_mask is not None:
            attn_mask = attn_mask.unsqueeze(1)
            s = s.masked_fill(attn_mask, torch.finfo(s.dtype).min).softmax(-1).masked_fill(attn_mask, 0)
        else:
            s = s.softmax(-1)
        return self.linear_final((s @ value).transpose(1, 2).flatten(2)), s.mean(1)
