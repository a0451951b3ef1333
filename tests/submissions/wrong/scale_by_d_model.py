# mha-grade: causal-self-attention; expect: failed; in: scaling; mistake: scale-by-d-model; line: 28
import torch
import torch.nn as nn


class CausalMHA(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.d_model = d_model
        self.num_heads = num_heads
        self.c_attn = nn.Linear(d_model, 3 * d_model)
        self.c_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.d_model, dim=2)
        q = q.view(B, T, self.num_heads, -1).transpose(1, 2)
        k = k.view(B, T, self.num_heads, -1).transpose(1, 2)
        v = v.view(B, T, self.num_heads, -1).transpose(1, 2)

        visible = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]

        att = (q @ k.transpose(-2, -1)) / self.d_model
        att = att.masked_fill(~visible, torch.finfo(att.dtype).min).softmax(dim=-1)
        att = att.masked_fill(~visible, 0.0)
        y = self.dropout(att) @ v
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C)), att
