# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class RelativeSelfAttention(nn.Module):
    """Shaw et al. 2018: learned vectors for clipped distances are added to the keys."""

    def __init__(self, d_model, n_heads, max_rel=8):
        super().__init__()
        assert d_model % n_heads == 0
        self.h, self.d, self.max_rel = n_heads, d_model // n_heads, max_rel
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.rel_k = nn.Embedding(2 * max_rel + 1, self.d)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = (w(x).view(b, n, self.h, self.d).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        i = torch.arange(n, device=x.device)
        r = self.rel_k((i[None] - i[:, None]).clamp(-self.max_rel, self.max_rel) + self.max_rel)
        s = (q @ k.transpose(-1, -2) + torch.einsum("bhid,ijd->bhij", q, r)) / self.d**0.5
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        return self.w_o((torch.nan_to_num(s.softmax(-1)) @ v).transpose(1, 2).reshape(b, n, -1))
