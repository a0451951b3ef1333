# mha-grade: self-attention; expect: failed; in: scaling; mistake: softmax-denominator-padded; line: 20
import torch
import torch.nn as nn


class Attend(nn.Module):
    """The softmax, stable and safe for rows without a visible key."""

    def __init__(self, tiny=1e-3):
        super().__init__()
        self.tiny = tiny

    def forward(self, scores, visible):
        if visible is not None:
            scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
        exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach())
        if visible is not None:
            exps = exps * visible
        # Never a division by zero.
        return exps / (exps.sum(dim=-1, keepdim=True) + self.tiny)


class SelfAttention(nn.Module):
    def __init__(self, emb, heads, dropout=0.0):
        super().__init__()
        if emb % heads:
            raise ValueError(f"emb ({emb}) must be a multiple of heads ({heads})")
        self.emb, self.heads = emb, heads
        self.toqueries = nn.Linear(emb, emb, bias=False)
        self.tokeys = nn.Linear(emb, emb, bias=False)
        self.tovalues = nn.Linear(emb, emb, bias=False)
        self.unifyheads = nn.Linear(emb, emb)
        self.attend = Attend()
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        b, t, e = x.size()
        h, s = self.heads, e // self.heads
        queries = self.toqueries(x).view(b, t, h, s).transpose(1, 2).reshape(b * h, t, s)
        keys = self.tokeys(x).view(b, t, h, s).transpose(1, 2).reshape(b * h, t, s)
        values = self.tovalues(x).view(b, t, h, s).transpose(1, 2).reshape(b * h, t, s)
        dot = torch.bmm(queries, keys.transpose(1, 2)) / s**0.5
        weights = self.attend(dot.view(b, h, t, t), mask)
        out = torch.bmm(self.dropout(weights).view(b * h, t, t), values)
        out = out.view(b, h, t, s).transpose(1, 2).reshape(b, t, e)
        return self.unifyheads(out), weights
