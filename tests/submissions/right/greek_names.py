# mha-grade: cross-attention; expect: passed
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """α = softmax(ψ(y) φ(x)ᵀ / √δ), output = ω(α χ(z))"""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model / num_heads is not an integer")
        self.η = num_heads
        self.δ = d_model // num_heads
        self.φ = nn.Linear(d_model, d_model)  # keys
        self.χ = nn.Linear(d_model, d_model)  # values
        self.ψ = nn.Linear(d_model, d_model)  # queries
        self.ω = nn.Linear(d_model, d_model)  # output
        self.dropout = nn.Dropout(dropout)

    def heads(self, t):
        return t.view(t.size(0), t.size(1), self.η, self.δ).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        φ, χ, ψ = self.heads(self.φ(key)), self.heads(self.χ(value)), self.heads(self.ψ(query))
        σ = ψ @ φ.transpose(-1, -2) / self.δ**0.5
        if mask is None:
            α = torch.softmax(σ, dim=-1)
        else:
            σ = torch.where(mask, σ, torch.finfo(σ.dtype).min)
            α = torch.softmax(σ, dim=-1).where(mask, torch.zeros_like(σ))
        μ = self.dropout(α) @ χ
        return self.ω(μ.transpose(1, 2).reshape(query.shape)), α
