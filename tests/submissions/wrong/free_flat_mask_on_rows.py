# mha-grade: free; expect: failed; in: combined-masks; mistake: padding-on-query-axis
import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    """mask: [B, 1, L, L], or [B, L] for padding; True = keep."""

    def __init__(self, hidden, heads):
        super().__init__()
        assert hidden % heads == 0
        self.heads = heads
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.dense = nn.Linear(hidden, hidden)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = [f(x).reshape(B, L, self.heads, D // self.heads).permute(0, 2, 1, 3) for f in (self.query, self.key, self.value)]
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / (D // self.heads) ** 0.5
        if mask is not None:
            if mask.ndim == 2:
                mask = mask[:, None, :, None]
            scores = scores.masked_fill(mask == 0, float("-inf"))
        probs = torch.nan_to_num(torch.softmax(scores, dim=-1))
        return self.dense(torch.einsum("bhqk,bhkd->bqhd", probs, v).reshape(B, L, D))
