# mha-grade: free; expect: failed; in: shapes; mistake: fused-split-by-view; line: 27
import math

import torch
import torch.nn as nn


class FusedAttention(nn.Module):
    def __init__(self, n_embd, n_head, attn_pdrop=0.0):
        super().__init__()
        if n_embd % n_head:
            raise ValueError("n_embd has to be a multiple of n_head")
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.attn_dropout = nn.Dropout(attn_pdrop)

    def heads(self, t):
        B, T, C = t.shape
        return t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)

    def forward(self, x, mask=None):
        B, T, C = x.size()
        # The projections stand one behind the other, so the first axis
        # of the result counts them.
        qkv = self.c_attn(x)
        q, k, v = qkv.view(3, B, T, C)
        q, k, v = self.heads(q), self.heads(k), self.heads(v)
        att = (q / math.sqrt(q.size(-1))) @ k.transpose(-2, -1)
        if mask is not None:
            att = att.masked_fill(mask == 0, torch.finfo(att.dtype).min)
        att = self.attn_dropout(att.softmax(dim=-1))
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)
