# mha-grade: free; expect: failed; in: combined-masks; mistake: mask-kind-misread
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        assert width % heads == 0
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, mask=None):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / (d // self.heads) ** 0.5
        if mask is not None:
            if mask.is_floating_point():
                s = s + mask
            else:
                s = s.masked_fill(mask.bool(), float("-inf"))
            if mask.dim() == 3:
                s = s.transpose(-1, -2)
        w = s.softmax(-1).nan_to_num(0.0)
        return self.out((w @ v).transpose(1, 2).reshape(b, n, d))
