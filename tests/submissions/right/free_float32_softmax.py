# mha-grade: free; expect: passed
import torch
from torch import nn


class ParallelAttention(nn.Module):
    """Softmax is taken in at least float32 whatever the module is stored in."""

    def __init__(self, num_attention_heads, hidden_size, attention_dropout=0.0):
        super().__init__()
        self.np = num_attention_heads
        self.hn = hidden_size // num_attention_heads
        if self.np * self.hn != hidden_size:
            raise ValueError("hidden size and attention heads do not go together")
        self.q_lin = nn.Linear(hidden_size, hidden_size)
        self.k_lin = nn.Linear(hidden_size, hidden_size)
        self.v_lin = nn.Linear(hidden_size, hidden_size)
        self.out_lin = nn.Linear(hidden_size, hidden_size)
        self.attention_dropout = nn.Dropout(attention_dropout)

    def forward(self, query, key, value, attention_mask=None):
        """attention_mask: (b, 1, 1, sk) or (b, 1, sq, sk), True = masked out"""
        b, sq, _ = query.shape
        q = self.q_lin(query).view(b, sq, self.np, self.hn).transpose(1, 2)
        k = self.k_lin(key).view(b, -1, self.np, self.hn).transpose(1, 2)
        v = self.v_lin(value).view(b, -1, self.np, self.hn).transpose(1, 2)
        s = torch.matmul(q * self.hn ** -0.5, k.transpose(2, 3))
        s = s.to(torch.promote_types(s.dtype, torch.float32))
        if attention_mask is not None:
            s = s.masked_fill(attention_mask, torch.finfo(s.dtype).min)
        p = torch.softmax(s, dim=-1)
        if attention_mask is not None:
            p = p.masked_fill(attention_mask, 0.0)
        ctx = torch.matmul(self.attention_dropout(p.to(v.dtype)), v)
        return self.out_lin(ctx.transpose(1, 2).reshape(b, sq, self.np * self.hn))
