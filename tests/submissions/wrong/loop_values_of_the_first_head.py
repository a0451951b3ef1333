# mha-grade: cross-attention; expect: failed; in: shapes; mistake: first-head-shared; line: 30
import torch
from torch import nn
from torch.nn.functional import linear, softmax


class CrossAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads, self.depth = num_heads, d_model // num_heads
        self.in_weight = nn.Parameter(torch.randn(3, d_model, d_model) / d_model**0.5)
        self.in_bias = nn.Parameter(torch.zeros(3, d_model))
        self.out = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            linear(x, w, b)
            for x, w, b in zip((query, key, value), self.in_weight, self.in_bias)
        )
        if mask is not None:
            mask = mask.expand(q.shape[0], self.num_heads, q.shape[1], k.shape[1])
        contexts, all_weights = [], []
        for h in range(self.num_heads):
            part = slice(h * self.depth, (h + 1) * self.depth)
            q_h = q[..., part]
            k_h = k[..., part]
            v_h = v[..., : self.depth]
            scores = q_h @ k_h.mT / self.depth**0.5
            if mask is not None:
                scores = scores.masked_fill(~mask[:, h], torch.finfo(scores.dtype).min)
            weights = softmax(scores, dim=-1)
            weights = weights if mask is None else weights * mask[:, h]
            contexts.append(self.drop(weights) @ v_h)
            all_weights.append(weights)
        return self.out(torch.cat(contexts, dim=-1)), torch.stack(all_weights, dim=1)
