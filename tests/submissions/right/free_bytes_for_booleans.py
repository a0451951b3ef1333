# mha-grade: free; expect: passed
import torch
from torch import nn


class Attention(nn.Module):
    """mask: bool, or bytes as older code makes them; True or 1 = may be seen. No floats."""

    def __init__(self, dim, heads):
        super().__init__()
        if dim % heads != 0:
            raise ValueError("dim % heads")
        self.heads, self.size = heads, dim // heads
        self.q = nn.Linear(dim, dim, bias=False)
        self.kv = nn.Linear(dim, 2 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, context, mask=None):
        b, t, _ = x.shape
        s = context.shape[1]
        q = self.q(x).view(b, t, self.heads, self.size).transpose(1, 2)
        k, v = self.kv(context).view(b, s, 2, self.heads, self.size).permute(2, 0, 3, 1, 4)
        scores = torch.einsum("bhtd,bhsd->bhts", q, k).div(self.size**0.5)
        if mask is not None:
            if mask.dtype in (torch.uint8, torch.int32, torch.int64):
                mask = mask.bool()
            assert mask.ndim in (2, 4), "give [B, S] or [B, H, T, S]"
            if mask.ndim == 2:
                mask = mask.view(b, 1, 1, s)
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(dim=-1).nan_to_num(0.0)
        return self.proj(torch.einsum("bhts,bhsd->bthd", weights, v).reshape(b, t, -1))
