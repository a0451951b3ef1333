# mha-grade: free; expect: failed; in: scaling; mistake: double-softmax, scale-by-head-dim; line: 25, 19
import torch
from torch import nn


class Attn(nn.Module):
    def __init__(self, embedding_dim, heads_count, dropout_prob=0.0):
        super().__init__()
        assert embedding_dim % heads_count == 0
        self.heads_count = heads_count
        self.kvq = nn.Linear(embedding_dim, embedding_dim * 3, bias=False)
        self.merge = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.dropout = nn.Dropout(dropout_prob)

    def forward(self, x, mask):
        # mask: the same for all sequences, (n, n), True = may attend; None for everything
        packed = self.kvq(x).unflatten(-1, (self.heads_count, -1, 3))
        k, v, q = packed.transpose(1, 2).unbind(-1)
        sim = torch.einsum('...qc,...kc->...qk', q, k) * q.shape[-1] ** -1.
        if mask is not None:
            sim = torch.where(mask, sim, torch.finfo(sim.dtype).min)
            sim = torch.where(mask, torch.softmax(sim, -1), 0)
        else:
            sim = torch.softmax(sim, -1)
        y = torch.einsum('bhqk,bhkc->bqhc', self.dropout(sim.softmax(-1)), v)
        return self.merge(y.flatten(-2))
