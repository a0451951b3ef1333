# mha-grade: self-attention; expect: failed; in: scaling; mistake: scale-by-sqrt-d-model; line: 17/30
import torch
import torch.nn as nn


class FairAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.num_heads = num_heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.dropout_module = nn.Dropout(dropout)
        nn.init.xavier_uniform_(self.in_proj_weight)
        self.scaling = torch.tensor(float(embed_dim)).rsqrt().item()

    def forward(self, x, mask=None):
        bsz, length, embed_dim = x.shape
        q, k, v = nn.functional.linear(x, self.in_proj_weight, self.in_proj_bias).chunk(3, -1)
        q, k, v = (
            t.transpose(0, 1)
            .reshape(length, bsz * self.num_heads, -1)
            .transpose(0, 1)
            for t in (q, k, v)
        )
        bias = torch.zeros(1, 1, 1, dtype=x.dtype, device=x.device)
        scores = torch.baddbmm(
            bias, q, k.transpose(1, 2), alpha=self.scaling
        ).view(bsz, self.num_heads, length, length)
        if mask is not None:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = torch.where(mask, weights, 0.0)
        attn = torch.bmm(self.dropout_module(weights).flatten(0, 1), v)
        attn = attn.transpose(0, 1).reshape(length, bsz, embed_dim).transpose(0, 1)
        return self.out_proj(attn), weights
