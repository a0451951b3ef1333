# mha-grade: causal-self-attention; expect: failed; in: causal-mask; mistake: causal-wrong-in-chunks; line: 32
import torch
import torch.nn as nn


class ChunkedCausal(nn.Module):
    """Queries go through in chunks of four, to save memory."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("sizes")
        self.num_heads = num_heads
        self.q = nn.Linear(d_model, d_model)
        self.k = nn.Linear(d_model, d_model)
        self.v = nn.Linear(d_model, d_model)
        self.o = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def heads(self, t):
        return t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x, padding_mask=None):
        q, k, v = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        parts = [self.chunk(part, k, v, padding_mask) for part in q.split(4, dim=2)]
        context = torch.cat([c for c, _ in parts], dim=2)
        weights = torch.cat([w for _, w in parts], dim=2)
        return self.o(context.transpose(1, 2).flatten(2)), weights

    def chunk(self, q, k, v, padding_mask):
        scores = q @ k.mT / q.size(-1) ** 0.5
        visible = scores.new_ones(scores.shape[-2:], dtype=torch.bool).tril()
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None]
        low = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(~visible, low).softmax(-1) * visible
        return self.drop(weights) @ v, weights
