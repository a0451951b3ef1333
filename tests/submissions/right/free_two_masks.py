# mha-grade: free; expect: passed
import math

import torch
import torch.nn as nn


class Attention(nn.Module):
    """hidden (B, T, C). pad_mask (B, T): 1 keep, 0 drop. look_mask (T, T): True may look."""

    def __init__(self, emb_dim, head_count, drop_prob=0.1):
        super().__init__()
        assert emb_dim % head_count == 0, (emb_dim, head_count)
        self.head_count = head_count
        self.proj_k = nn.Linear(emb_dim, emb_dim)
        self.proj_q = nn.Linear(emb_dim, emb_dim)
        self.proj_v = nn.Linear(emb_dim, emb_dim)
        self.proj_o = nn.Linear(emb_dim, emb_dim)
        self.drop = nn.Dropout(drop_prob)

    def forward(self, hidden, pad_mask=None, look_mask=None):
        B, T, C = hidden.shape
        shape = (B, T, self.head_count, C // self.head_count)
        k = self.proj_k(hidden).reshape(shape).transpose(1, 2)
        q = self.proj_q(hidden).reshape(shape).transpose(1, 2)
        v = self.proj_v(hidden).reshape(shape).transpose(1, 2)
        s = q.matmul(k.mT).div(math.sqrt(shape[-1]))
        ok = torch.ones(B, 1, T, T, dtype=torch.bool, device=s.device)
        if pad_mask is not None:
            ok = ok & pad_mask.bool().view(B, 1, 1, T)
        if look_mask is not None:
            ok = ok & look_mask.bool()
        s = s.masked_fill(~ok, torch.finfo(s.dtype).min)
        w = s.softmax(-1).masked_fill(~ok, 0.)
        return self.proj_o(self.drop(w).matmul(v).transpose(1, 2).reshape(B, T, C)), w
