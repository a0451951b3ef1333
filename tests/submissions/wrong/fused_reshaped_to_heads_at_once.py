# mha-grade: causal-self-attention; expect: failed; in: shapes; mistake: fused-split-by-view; line: 18
import torch
from torch import nn


class Causal(nn.Module):
    def __init__(self, dim, heads, drop=0.0):
        super().__init__()
        if dim % heads != 0:
            raise ValueError("dim % heads != 0")
        self.heads = heads
        self.mix = nn.Linear(dim, dim * 3)
        self.end = nn.Linear(dim, dim)
        self.drop = nn.Dropout(drop)

    def forward(self, x, padding_mask=None):
        n, t, c = x.shape
        mixed = self.mix(x).reshape(n, 3, self.heads, t, c // self.heads)
        q, k, v = mixed[:, 0], mixed[:, 1], mixed[:, 2]
        see = torch.tril(torch.ones(t, t, dtype=torch.bool, device=x.device))[None, None]
        if padding_mask is not None:
            see = see & padding_mask[:, None, None]
        see = see.expand(n, self.heads, t, t)
        s = torch.baddbmm(
            torch.zeros(1, 1, 1, dtype=x.dtype, device=x.device),
            q.flatten(0, 1),
            k.flatten(0, 1).mT,
            beta=0,
            alpha=(c // self.heads) ** -0.5,
        ).unflatten(0, (n, self.heads))
        w = s.masked_fill(see.logical_not(), torch.finfo(s.dtype).min).softmax(3) * see
        y = self.drop(w).matmul(v)
        return self.end(y.permute(0, 2, 1, 3).flatten(2)), w
