# mha-grade: self-attention; expect: failed; in: shapes; mistake: key-used-as-value; line: 34
import torch
from torch import nn


class Mixer(nn.Module):
    """One parameter [3, H, D, Dh] holds all three projections of all heads."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.H = num_heads
        self.Dh = d_model // num_heads
        if self.Dh * num_heads < d_model:
            raise ValueError(f"cannot cut {d_model} into {num_heads}")
        self.W = nn.Parameter(nn.init.xavier_normal_(torch.empty(3, self.H, d_model, self.Dh)))
        self.b = nn.Parameter(torch.zeros(3, self.H, 1, self.Dh))
        self.O = nn.Parameter(nn.init.xavier_normal_(torch.empty(self.H, self.Dh, d_model)))
        self.c = nn.Parameter(torch.zeros(d_model))
        self.p = dropout

    def forward(self, x, mask=None):
        x = x[:, None]
        project = lambda i: x.matmul(self.W[i]).add(self.b[i])
        scores = project(0).div(self.Dh**0.5).matmul(project(1).mT)
        if mask is None:
            weights = scores.softmax(-1)
        else:
            hidden = mask.logical_not()
            scores = scores.masked_fill(hidden, -torch.inf)
            empty = scores.isneginf().all(-1, keepdim=True)
            weights = scores.masked_fill(empty, 0).softmax(-1).masked_fill(hidden, 0)
        dropped = torch.dropout(weights, self.p, self.training)
        # [B, H, L, L] @ [B, H, L, Dh] @ [H, Dh, D], summed over the heads
        out = dropped.matmul(project(1)).matmul(self.O).sum(1).add(self.c)
        return out, weights
