# mha-grade: free; expect: failed; in: causal-mask; mistake: causal-reversed
import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.h, self.d = n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None, is_causal=False):
        B = q.size(0)
        split = lambda t: t.view(B, -1, self.h, self.d).transpose(1, 2)
        q, k, v = split(self.q_proj(q)), split(self.k_proj(k)), split(self.v_proj(v))
        s = q @ k.transpose(-1, -2) / self.d**0.5
        if is_causal:
            keep = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).triu()
            s = s.masked_fill(~keep, float("-inf"))
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        p = s.softmax(-1).nan_to_num(0.)
        return self.o_proj((p @ v).transpose(1, 2).reshape(B, -1, self.h * self.d))
