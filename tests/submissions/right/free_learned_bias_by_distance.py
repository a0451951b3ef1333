# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class RelativeAttention(nn.Module):
    """Learned bias for each head and clipped distance, as in T5."""

    def __init__(self, d_model, num_heads, max_distance=16, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.max_distance = max_distance
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.k = nn.Linear(d_model, d_model, bias=False)
        self.v = nn.Linear(d_model, d_model, bias=False)
        self.o = nn.Linear(d_model, d_model, bias=False)
        self.rel_bias = nn.Embedding(2 * max_distance + 1, num_heads)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.num_heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        idx = torch.arange(n, device=x.device)
        dist = (idx[None] - idx[:, None]).clamp(-self.max_distance, self.max_distance) + self.max_distance
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5 + self.rel_bias(dist).permute(2, 0, 1)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        attn = self.dropout(torch.nan_to_num(scores.softmax(-1)))
        return self.o((attn @ v).transpose(1, 2).reshape(b, n, d))
