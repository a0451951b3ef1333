# mha-grade: causal-self-attention; expect: failed; in: scaling; mistake: scale-by-sqrt-num-heads; line: 30
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        self.n_heads = n_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        bsz, seqlen, _ = x.shape
        xq = self.wq(x).view(bsz, seqlen, self.n_heads, -1).transpose(1, 2)
        xk = self.wk(x).view(bsz, seqlen, self.n_heads, -1).transpose(1, 2)
        xv = self.wv(x).view(bsz, seqlen, self.n_heads, -1).transpose(1, 2)

        mask = torch.ones(seqlen, seqlen, dtype=torch.bool, device=x.device).tril()
        if padding_mask is not None:
            mask = mask & padding_mask[:, None, None, :]

        scores = xq @ xk.transpose(2, 3) / math.sqrt(xq.size(1))
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        probs = scores.softmax(dim=-1).masked_fill(~mask, 0.0)
        out = (self.dropout(probs) @ xv).transpose(1, 2).reshape(bsz, seqlen, -1)
        return self.wo(out), probs
