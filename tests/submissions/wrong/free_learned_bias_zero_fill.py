# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-fill-zero
import torch
import torch.nn as nn


class RelPosAttention(nn.Module):
    def __init__(self, dim, heads, window=32):
        super().__init__()
        assert dim % heads == 0
        self.heads, self.window = heads, window
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        self.relative_position_bias = nn.Parameter(torch.zeros(heads, 2 * window - 1))

    def forward(self, x, mask=None):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        i = torch.arange(n, device=x.device)
        rel = (i[None] - i[:, None]).clamp(1 - self.window, self.window - 1) + self.window - 1
        s = q @ k.transpose(-1, -2) + self.relative_position_bias[:, rel]
        if mask is not None:
            s = s.masked_fill(~mask, 0.0)
        s = s * (d // self.heads) ** -0.5
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))
