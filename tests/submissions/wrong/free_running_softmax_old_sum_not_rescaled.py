# mha-grade: free; expect: failed; in: scaling; mistake: running-softmax-not-rescaled; line: 29
import torch
from torch import nn


class StreamedAttention(nn.Module):
    """Keys come one after the other; only a maximum, a sum and a mean are kept."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, q, k, v):
        b, l, m = q.shape
        heads = lambda t: t.view(b, -1, self.n_heads, m // self.n_heads).transpose(1, 2)
        q, k, v = heads(self.wq(q)), heads(self.wk(k)), heads(self.wv(v))
        q = q / q.shape[-1] ** 0.5
        kind = torch.promote_types(q.dtype, torch.float32)
        q, k, v = q.to(kind), k.to(kind), v.to(kind)
        top = torch.full_like(q[..., :1], -torch.inf)
        total = torch.zeros_like(top)
        mean = torch.zeros_like(q)
        for j in range(k.shape[2]):
            score = (q * k[:, :, j : j + 1]).sum(-1, keepdim=True)
            new = torch.maximum(top, score)
            keep, add = torch.exp(top - new), torch.exp(score - new)
            total = total + add
            mean = mean * keep + add * v[:, :, j : j + 1]
            top = new
        out = (mean / total).to(self.wo.weight.dtype)
        return self.wo(out.transpose(1, 2).reshape(b, l, m))
