# mha-grade: free; expect: failed; in: shapes, scaling; mistake: query-used-as-key, softmax-denominator-padded; line: 23, 26
import torch
from torch import nn


class MultiHeadAttn(nn.Module):
    def __init__(self, num_units, num_heads):
        super().__init__()
        self.depth, rest = divmod(num_units, num_heads)
        if rest:
            raise ValueError('num_units is not a multiple of num_heads')
        self.num_heads = num_heads
        self.Wk = nn.Linear(num_units, num_units)
        self.Wq = nn.Linear(num_units, num_units)
        self.Wv = nn.Linear(num_units, num_units)
        self.Wo = nn.Linear(num_units, num_units)

    def _split(self, t):
        # neighbouring features belong to different heads
        return t.view(*t.shape[:2], self.depth, self.num_heads).permute(0, 3, 1, 2)

    def forward(self, k, q, v):
        k, q, v = self._split(self.Wq(k)), self._split(self.Wq(q)), self._split(self.Wv(v))
        score = torch.einsum('bhqd,bhkd->bhqk', q, k).div(self.depth ** 0.5)
        share = torch.exp(score - score.amax(-1, keepdim=True))
        share = share / (share.sum(-1, keepdim=True) + 1)
        mixed = torch.einsum('bhqk,bhkd->bqdh', share, v)
        return self.Wo(mixed.flatten(2))
