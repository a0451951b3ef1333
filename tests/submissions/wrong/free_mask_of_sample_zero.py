# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-of-first-sample; line: 21
import torch
from torch import nn


class LoopedAttention(nn.Module):
    def __init__(self, num_heads, dim, dim_head):
        super().__init__()
        self.q = nn.ModuleList(nn.Linear(dim, dim_head) for _ in range(num_heads))
        self.k = nn.ModuleList(nn.Linear(dim, dim_head) for _ in range(num_heads))
        self.v = nn.ModuleList(nn.Linear(dim, dim_head) for _ in range(num_heads))
        self.join = nn.Linear(num_heads * dim_head, dim)

    def forward(self, q, k, v, mask=None):
        """mask: (batch, len_k), 1 = visible"""
        ys = []
        for fq, fk, fv in zip(self.q, self.k, self.v):
            a, b, c = fq(q), fk(k), fv(v)
            s = a @ b.transpose(1, 2) / a.shape[-1] ** 0.5
            if mask is not None:
                m = mask[0].bool().expand_as(s)
                p = s.masked_fill(~m, torch.finfo(s.dtype).min).softmax(-1).masked_fill(~m, 0)
            else:
                p = s.softmax(-1)
            ys.append(p @ c)
        return self.join(torch.cat(ys, -1))
