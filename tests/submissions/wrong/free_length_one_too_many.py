# mha-grade: free; expect: failed; in: padding-mask, all-masked-rows; mistake: mask-shifted; line: 28
"""A reader with lengths, written with out-of-place index arithmetic and baddbmm."""
import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self, width: int, n_head: int):
        super().__init__()
        if width % n_head:
            raise ValueError("no")
        self.width, self.n_head = width, n_head
        self.kv = nn.Linear(width, 2 * width)
        self.qq = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def _pack(self, t):
        b, n, _ = t.shape
        return t.reshape(b, n, self.n_head, -1).transpose(1, 2).reshape(b * self.n_head, n, -1)

    def forward(self, queries, memory, memory_lengths=None):
        b, n, _ = queries.shape
        m = memory.size(1)
        k, v = map(self._pack, self.kv(memory).tensor_split(2, dim=-1))
        q = self._pack(self.qq(queries))
        bias = torch.zeros(b * self.n_head, n, m, dtype=q.dtype, device=q.device)
        if memory_lengths is not None:
            hidden = torch.arange(m, device=q.device)[None, :] > memory_lengths[:, None]
            hidden = hidden[:, None, None, :].expand(b, self.n_head, n, m).reshape_as(bias)
            bias = bias.masked_fill(hidden, torch.finfo(q.dtype).min)
        score = torch.baddbmm(bias, q, k.transpose(1, 2), alpha=q.size(-1) ** -0.5)
        w = torch.softmax(score, dim=-1)
        if memory_lengths is not None:
            w = w.masked_fill(hidden, 0.0)
        y = torch.bmm(w, v).reshape(b, self.n_head, n, -1).transpose(1, 2).reshape(b, n, -1)
        return self.out(y)
