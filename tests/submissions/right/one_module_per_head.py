# mha-grade: causal-self-attention; expect: passed
import torch
from torch import nn


class Head(nn.Module):
    """One head of causal self-attention."""

    def __init__(self, d_model, head_size, dropout):
        super().__init__()
        self.key = nn.Linear(d_model, head_size, bias=False)
        self.query = nn.Linear(d_model, head_size, bias=False)
        self.value = nn.Linear(d_model, head_size, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, visible):
        k = self.key(x)    # (B, T, hs)
        q = self.query(x)  # (B, T, hs)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5  # (B, T, T)
        wei = wei.masked_fill(~visible, torch.finfo(wei.dtype).min)
        wei = torch.softmax(wei, dim=-1).masked_fill(~visible, 0.0)
        return self.dropout(wei) @ self.value(x), wei


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        head_size = d_model // num_heads
        self.heads = nn.ModuleList([Head(d_model, head_size, dropout) for _ in range(num_heads)])
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x, padding_mask=None):
        T = x.shape[1]
        visible = torch.tril(torch.ones(1, T, T, dtype=torch.bool, device=x.device))
        if padding_mask is not None:
            visible = visible & padding_mask.unsqueeze(1)
        outputs, weights = zip(*(head(x, visible) for head in self.heads))
        return self.proj(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)
