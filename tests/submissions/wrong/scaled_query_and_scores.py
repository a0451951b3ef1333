# mha-grade: causal-self-attention; expect: failed; in: scaling; mistake: scale-by-head-dim; line: 26
import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} is not divisible by {num_heads}")
        self.h = num_heads
        self.dk = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.p = dropout

    def split(self, t):
        return t.unflatten(-1, (self.h, self.dk)).transpose(1, 2)

    def forward(self, x, padding_mask=None):
        B, L, D = x.shape
        q, k, v = self.split(self.q_proj(x)) * self.dk ** -0.5, self.split(self.k_proj(x)), self.split(self.v_proj(x))
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * self.dk ** -0.5
        visible = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()[None, None]
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]
        scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
        w = F.softmax(scores, dim=-1)
        w = w.masked_fill(~visible, 0.0)
        w = F.dropout(w, p=self.p, training=self.training)
        ctx = torch.einsum("bhij,bhjd->bhid", w, v)
        return self.o_proj(ctx.transpose(1, 2).flatten(2)), w
