# mha-grade: free; expect: failed; in: combined-masks; mistake: padding-overwritten
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x, padding_mask=None, is_causal=False):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.n_heads, -1).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        s = q @ k.transpose(-2, -1) / (d // self.n_heads) ** 0.5
        if is_causal:
            s = s.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        elif padding_mask is not None:
            s = s.masked_fill(padding_mask[:, None, None, :], float("-inf"))
        p = s.softmax(-1).nan_to_num(0.0)
        return self.proj((p @ v).transpose(1, 2).reshape(b, t, d))
