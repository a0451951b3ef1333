# mha-grade: self-attention; expect: failed; in: mixed-precision; mistake: output-dtype-changed; line: 24/29/32
import torch
from torch import nn


class StableAttention(nn.Module):
    """Softmax and the mix in float32, as large models do."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model")
        self.num_heads = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.p = dropout

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        shape = (b, n, self.num_heads, -1)
        wide = torch.float64 if x.dtype is torch.float64 else torch.float32
        q = self.q(x).view(shape).transpose(1, 2)
        k = self.k(x).view(shape).transpose(1, 2)
        v = self.v(x).view(shape).transpose(1, 2)
        s = (q.to(wide) @ k.to(wide).mT) / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        w = s.softmax(-1) if mask is None else s.softmax(-1) * mask
        y = nn.functional.dropout(w, self.p, self.training) @ v.to(wide)
        y = y.transpose(1, 2).flatten(2)
        y = nn.functional.linear(y, self.o.weight.to(wide))
        y = y + self.o.bias
        return y, w
