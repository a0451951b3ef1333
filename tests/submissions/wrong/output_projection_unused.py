# mha-grade: causal-self-attention; expect: failed; in: shapes; mistake: output-projection-unused; line: 39/38
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, d_model, head_size, dropout):
        super().__init__()
        self.key = nn.Linear(d_model, head_size, bias=False)
        self.query = nn.Linear(d_model, head_size, bias=False)
        self.value = nn.Linear(d_model, head_size, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, visible):
        k, q, v = self.key(x), self.query(x), self.value(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(~visible, torch.finfo(wei.dtype).min).softmax(dim=-1)
        wei = wei.masked_fill(~visible, 0.0)
        return self.dropout(wei) @ v, wei


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.heads = nn.ModuleList(
            Head(d_model, d_model // num_heads, dropout) for _ in range(num_heads)
        )
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x, padding_mask=None):
        T = x.shape[1]
        visible = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, :]
        results = [head(x, visible) for head in self.heads]
        out = torch.cat([y for y, _ in results], dim=-1)
        weights = torch.stack([w for _, w in results], dim=1)
        return out, weights
