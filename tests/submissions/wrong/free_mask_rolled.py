# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-shifted; line: 27
import torch
from torch import nn


class SelfAttn(torch.nn.Module):
    """One chunked matmul per block of queries; mask 1.0 = keep, 0.0 = drop, [N, T]."""

    def __init__(self, heads, width, chunk=2):
        super().__init__()
        assert width % heads == 0, "heads must divide width"
        self.h = heads
        self.chunk = chunk
        self.kv = nn.Linear(width, 2 * width, bias=False)
        self.q = nn.Linear(width, width, bias=False)
        self.o = nn.Linear(width, width)

    def forward(self, seq, keep=None):
        n, t, w = seq.shape
        shape = (n, t, self.h, w // self.h)
        k, v = (z.reshape(shape).transpose(1, 2) for z in self.kv(seq).chunk(2, -1))
        q = self.q(seq).reshape(shape).transpose(1, 2) * shape[-1] ** -0.5
        outs = []
        for part in q.split(self.chunk, dim=2):
            s = part @ k.mT[..., : k.shape[2]]
            if keep is not None:
                gone = (keep == 0)[:, None, None].roll(1, -1)
                s = s.masked_fill(gone, torch.finfo(s.dtype).min)
            a = s.softmax(-1)
            if keep is not None:
                a = a.masked_fill(gone, 0)
            outs.append(a @ v)
        y = torch.cat(outs, 2) if outs else q
        return self.o(y.transpose(1, 2).reshape(n, t, w))
