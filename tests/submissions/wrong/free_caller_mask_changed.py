# mha-grade: free; expect: failed; in: state; mistake: input-changed-in-place; line: 25
import torch
from torch import nn


class MultiHeadedSelfAttention(nn.Module):
    """mask: (B, 1, T, T) bool, True = look; the causal part is put in here."""

    def __init__(self, n_heads, dim, p_drop_attn=0.0):
        super().__init__()
        if dim % n_heads:
            raise ValueError("n_heads must divide dim")
        self.proj_q = nn.Linear(dim, dim)
        self.proj_k = nn.Linear(dim, dim)
        self.proj_v = nn.Linear(dim, dim)
        self.proj_o = nn.Linear(dim, dim)
        self.drop = nn.Dropout(p_drop_attn)
        self.n_heads = n_heads

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.n_heads, -1).transpose(1, 2) for f in (self.proj_q, self.proj_k, self.proj_v))
        if mask is None:
            mask = torch.ones(B, 1, T, T, dtype=torch.bool, device=x.device)
        mask &= torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        s = q @ k.transpose(-2, -1) / (D // self.n_heads) ** 0.5
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min).softmax(-1).masked_fill(~mask, 0)
        return self.proj_o((self.drop(s) @ v).transpose(1, 2).reshape(B, T, D))
