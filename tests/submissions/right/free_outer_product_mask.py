# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, emb, heads):
        super().__init__()
        assert emb % heads == 0
        self.heads = heads
        self.tokeys = nn.Linear(emb, emb, bias=False)
        self.toqueries = nn.Linear(emb, emb, bias=False)
        self.tovalues = nn.Linear(emb, emb, bias=False)
        self.unifyheads = nn.Linear(emb, emb)

    def forward(self, x, pad=None):
        """pad: bool (b, t), True where there is a real token"""
        b, t, e = x.size()
        h, s = self.heads, e // self.heads
        keys = self.tokeys(x).view(b, t, h, s).transpose(1, 2).contiguous().view(b * h, t, s)
        queries = self.toqueries(x).view(b, t, h, s).transpose(1, 2).contiguous().view(b * h, t, s)
        values = self.tovalues(x).view(b, t, h, s).transpose(1, 2).contiguous().view(b * h, t, s)
        dot = torch.bmm(queries, keys.transpose(1, 2)) / s**0.5
        if pad is not None:
            both = pad[:, None, :] & pad[:, :, None]
            both = both.repeat_interleave(h, dim=0)
            dot = dot.masked_fill(~both, float("-inf"))
        dot = torch.nan_to_num(torch.softmax(dot, dim=2))
        out = torch.bmm(dot, values).view(b, h, t, s).transpose(1, 2).contiguous().view(b, t, s * h)
        return self.unifyheads(out)
