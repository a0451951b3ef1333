# mha-grade: self-attention; expect: failed; in: scaling; mistake: weights-transposed; line: 33
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model % num_heads != 0")
        self.nh = num_heads
        self.wqkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        bs, seq, dm = x.size()
        q, k, v = self.wqkv(x).split(dm, dim=-1)
        q = q.view(bs, seq, self.nh, -1)
        k = k.view(bs, seq, self.nh, -1)
        v = v.view(bs, seq, self.nh, -1)

        logp = (q.unsqueeze(2) * k.unsqueeze(1)).sum(-1) / (dm / self.nh) ** 0.5  # b q k h
        logp = logp.permute(0, 3, 1, 2)
        if mask is not None:
            logp = logp.masked_fill(~mask, torch.finfo(logp.dtype).min)
        logp = F.log_softmax(logp, dim=-1)
        probs = logp.exp()
        if mask is not None:
            probs = probs.masked_fill(~mask, 0)
        # b h q k with b q h d
        mixed = torch.einsum("bhij,bihd->bjhd", self.drop(probs), v)
        return self.wo(mixed.reshape(bs, seq, dm)), probs
