# mha-grade: free; expect: failed; in: causal-mask; mistake: causal-switch-inverted
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, mask_future: bool = True):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads, self.mask_future = num_heads, mask_future
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.o = nn.Linear(d_model, d_model)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.num_heads, -1).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        s = q @ k.transpose(-1, -2) / (d // self.num_heads) ** 0.5
        keep = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        if not self.mask_future:
            keep = ~keep
        s = s.masked_fill(~keep, float("-inf"))
        return self.o((s.softmax(-1).nan_to_num(0.0) @ v).transpose(1, 2).reshape(b, t, d))
