# mha-grade: free; expect: passed
import torch
from torch import nn


class MaskedSelfAttention(nn.Module):
    def __init__(self, hidden_dim: int, n_heads: int, is_causal: bool = False, dropout: float = 0.0):
        super().__init__()
        if hidden_dim % n_heads != 0:
            raise ValueError("n_heads does not divide hidden_dim")
        self.n_heads = n_heads
        self.is_causal = is_causal
        self.to_k = nn.Linear(hidden_dim, hidden_dim)
        self.to_v = nn.Linear(hidden_dim, hidden_dim)
        self.to_q = nn.Linear(hidden_dim, hidden_dim)
        self.to_o = nn.Linear(hidden_dim, hidden_dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, src, src_key_padding_mask=None):
        n, t, e = src.shape
        q, k, v = (p(src).reshape(n, t, self.n_heads, e // self.n_heads).transpose(1, 2)
                   for p in (self.to_q, self.to_k, self.to_v))
        logits = q @ k.transpose(-1, -2) / (e // self.n_heads) ** 0.5
        forbidden = torch.zeros(1, 1, t, t, dtype=torch.bool, device=src.device)
        if self.is_causal:
            forbidden = forbidden | torch.ones_like(forbidden).triu(1)
        if src_key_padding_mask is not None:
            forbidden = forbidden | src_key_padding_mask[:, None, None]
        attn = logits.masked_fill(forbidden, torch.finfo(logits.dtype).min).softmax(-1)
        attn = attn.masked_fill(forbidden, 0)
        y = (self.drop(attn) @ v).transpose(1, 2).reshape(n, t, e)
        return self.to_o(y), None
