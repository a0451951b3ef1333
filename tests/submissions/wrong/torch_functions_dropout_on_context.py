# mha-grade: self-attention; expect: failed; in: dropout; mistake: dropout-misplaced; line: 34
import torch
from torch import nn
from torch.nn import functional as fn


def split(t, n):
    return torch.permute(torch.reshape(t, (t.shape[0], t.shape[1], n, -1)), (0, 2, 1, 3))


def join(t):
    return torch.flatten(torch.permute(t, (0, 2, 1, 3)), 2)


class A(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("no")
        self.n, self.rate = num_heads, dropout
        for name in ("wq", "wk", "wv", "wo"):
            self.register_parameter(name, nn.Parameter(torch.randn(d_model, d_model) / d_model))

    def forward(self, x, mask=None):
        q, k, v = (split(fn.linear(x, w), self.n) for w in (self.wq, self.wk, self.wv))
        s = torch.divide(torch.matmul(q, torch.swapaxes(k, 2, 3)), q.shape[3] ** 0.5)
        if mask is not None:
            s = torch.masked_fill(s, torch.logical_not(mask), torch.finfo(s.dtype).min)
            w = torch.multiply(torch.softmax(s, 3), mask)
        else:
            w = torch.softmax(s, 3)
        y = join(torch.matmul(w, v))
        if self.rate:
            y = fn.dropout(y, self.rate, self.training)
        return fn.linear(y, self.wo), w
