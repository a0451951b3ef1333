# mha-grade: free; expect: passed
from types import SimpleNamespace

import torch
from torch import nn

args = SimpleNamespace(dim=128, n_heads=8)


class Attention(nn.Module):
    def __init__(self, args):
        super().__init__()
        assert args.dim % args.n_heads == 0
        self.n_heads = args.n_heads
        self.head_dim = args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, args.n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(args.dim, args.n_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(args.dim, args.n_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(args.n_heads * self.head_dim, args.dim, bias=False)

    def forward(self, x, mask=None):
        """mask is added to the scores, (seqlen, seqlen): 0 / -inf, e.g. triu(full(-inf), 1)"""
        bsz, seqlen, _ = x.shape
        xq, xk, xv = (
            w(x).view(bsz, seqlen, self.n_heads, self.head_dim).transpose(1, 2) for w in (self.wq, self.wk, self.wv)
        )
        scores = xq @ xk.transpose(2, 3) * self.head_dim**-0.5
        if mask is not None:
            # rows of nothing but -inf would be 0/0 in the softmax
            dead = torch.isneginf(mask).all(dim=-1, keepdim=True)
            scores = scores + torch.where(dead, torch.zeros_like(mask), mask)
        wide = torch.promote_types(scores.dtype, torch.float32)
        scores = torch.softmax(scores, dim=-1, dtype=wide).type_as(xq)
        if mask is not None:
            scores = scores * ~dead
        output = (scores @ xv).transpose(1, 2).contiguous().view(bsz, seqlen, -1)
        return self.wo(output)
