# mha-grade: cross-attention; expect: failed; in: shapes; mistake: projection-unused, first-head-shared; line: 16, 16
import torch
from torch import nn


class OneHead(nn.Module):
    def __init__(self, width, size, rate):
        super().__init__()
        self.ask = nn.Linear(width, size)
        self.match = nn.Linear(width, size)
        self.tell = nn.Linear(width, size)
        self.rate = nn.Dropout(rate)

    def forward(self, query, key, value, hidden):
        a, m = self.ask(query), self.match(key)
        t = value[..., : a.shape[2]]
        energy = torch.bmm(a, m.transpose(1, 2)) / a.shape[2] ** 0.5
        if hidden is not None:
            energy = energy.masked_fill(hidden, torch.finfo(energy.dtype).min)
        alpha = nn.functional.softmax(energy, dim=2)
        if hidden is not None:
            alpha = alpha.masked_fill(hidden, 0.0)
        return torch.bmm(self.rate(alpha), t), alpha


class HeadsInAList(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model has to be a multiple of num_heads")
        self.heads = nn.ModuleList(
            OneHead(d_model, d_model // num_heads, dropout) for _ in range(num_heads)
        )
        self.join = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        hidden = [None] * len(self.heads)
        if mask is not None:
            shape = (query.shape[0], len(self.heads), query.shape[1], key.shape[1])
            hidden = mask.expand(shape).logical_not().unbind(1)
        found = [head(query, key, value, h) for head, h in zip(self.heads, hidden)]
        joined = torch.cat([output for output, _ in found], dim=2)
        return self.join(joined), torch.stack([alpha for _, alpha in found], dim=1)
