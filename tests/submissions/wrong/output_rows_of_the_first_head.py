# mha-grade: self-attention; expect: failed; in: shapes; mistake: output-slice-shared; line: 42
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, d_model, size, p):
        super().__init__()
        self.q = nn.Linear(d_model, size)
        self.k = nn.Linear(d_model, size)
        self.v = nn.Linear(d_model, size)
        self.drop = nn.Dropout(p)

    def forward(self, x, hidden):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q.matmul(k.transpose(1, 2)).mul(q.size(-1) ** -0.5)
        if hidden is None:
            weights = scores.softmax(-1)
        else:
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
            weights = scores.softmax(-1).masked_fill(hidden, 0.0)
        return self.drop(weights).matmul(v), weights


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.size = d_model // num_heads
        self.heads = nn.ModuleList(Head(d_model, self.size, dropout) for _ in range(num_heads))
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        total, seen = self.out.bias, []
        for number, head in enumerate(self.heads):
            hidden = None
            if mask is not None:
                wide = (len(x), len(self.heads), x.size(1), x.size(1))
                hidden = ~mask.expand(wide)[:, number]
            context, weights = head(x, hidden)
            total = total + context.matmul(self.out.weight[:, : self.size].t())
            seen.append(weights)
        return total, torch.stack(seen, 1)
