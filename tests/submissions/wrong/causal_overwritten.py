# mha-grade: causal-self-attention; expect: failed; in: combined-masks; mistake: causal-overwritten; line: 23
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        B, L, D = x.shape
        q, k, v = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)

        if padding_mask is None:
            visible = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()
        else:
            visible = padding_mask[:, None, None, :]

        att = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        att = att.masked_fill(~visible, torch.finfo(att.dtype).min).softmax(dim=-1)
        att = att.masked_fill(~visible, 0.0)
        y = self.dropout(att) @ v
        return self.proj(y.transpose(1, 2).reshape(B, L, D)), att
