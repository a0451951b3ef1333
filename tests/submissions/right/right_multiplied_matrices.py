# mha-grade: self-attention; expect: passed
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """The paper's notation: x @ W, with W of shape (in, out)."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model ({d_model}) % num_heads ({num_heads}) != 0")
        self.num_heads = num_heads
        self.head_size = d_model // num_heads
        scale = d_model**-0.5
        self.W_Q = nn.Parameter(torch.randn(d_model, d_model) * scale)
        self.W_K = nn.Parameter(torch.randn(d_model, d_model) * scale)
        self.W_V = nn.Parameter(torch.randn(d_model, d_model) * scale)
        self.W_O = nn.Parameter(torch.randn(d_model, d_model) * scale)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        heads = (B, L, self.num_heads, self.head_size)
        Q = (x @ self.W_Q).view(heads).transpose(1, 2)
        K = (x @ self.W_K).view(heads).transpose(1, 2)
        V = (x @ self.W_V).view(heads).transpose(1, 2)

        scores = Q @ K.transpose(-2, -1) / self.head_size**0.5
        if mask is None:
            mask = torch.ones(L, L, dtype=torch.bool, device=x.device)
        # log 0 = -inf would poison a dead row, so stay finite and clean up afterwards
        scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1).masked_fill(mask.logical_not(), 0.0)

        out = (self.dropout(weights) @ V).transpose(1, 2).contiguous().view(B, L, D)
        return out @ self.W_O, weights
