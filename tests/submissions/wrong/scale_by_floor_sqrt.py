# mha-grade: self-attention; expect: failed; in: scaling; mistake: scale-floored; line: 17/25
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be a multiple of num_heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.sqrt_dk = int(self.d_k**0.5)
        self.drop = nn.Dropout(dropout)

    def heads(self, t):
        return t.view(t.size(0), t.size(1), self.h, self.d_k).permute(0, 2, 1, 3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.W_q(x)), self.heads(self.W_k(x)), self.heads(self.W_v(x))
        scores = q @ k.transpose(-1, -2) / self.sqrt_dk
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        attn = scores.softmax(-1)
        if mask is not None:
            attn = attn.masked_fill(~mask, 0.0)
        out = self.drop(attn) @ v
        out = out.permute(0, 2, 1, 3).flatten(2)
        return self.W_o(out), attn
