# mha-grade: causal-self-attention; expect: failed; in: shapes; mistake: window-imposed; line: 23
import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        size, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"num_heads={num_heads} does not divide d_model={d_model}")
        self.shape = (num_heads, size)
        self.to_q = nn.Linear(d_model, d_model)
        self.to_kv = nn.Linear(d_model, 2 * d_model)
        self.to_out = nn.Linear(d_model, d_model)
        self.keep = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        n = x.size(1)
        q = self.to_q(x).unflatten(-1, self.shape)
        k, v = self.to_kv(x).unflatten(-1, (2, *self.shape)).unbind(2)
        full = x.new_ones(n, n, dtype=torch.bool)
        hidden = full.triu(1) | full.tril(-3)
        logits = torch.einsum("bihd,bjhd->bhij", q, k).div(self.shape[1] ** 0.5)
        hidden = hidden.expand(len(x), 1, n, n)
        if padding_mask is not None:
            hidden = hidden | ~padding_mask[:, None, None, :]
        logits = logits.masked_fill(hidden, float("-inf"))
        dead = hidden.all(-1, keepdim=True)
        probs = logits.masked_fill(dead, 0.0).softmax(-1).masked_fill(dead, 0.0)
        mixed = torch.einsum("bhij,bjhd->bihd", self.keep(probs), v)
        return self.to_out(mixed.flatten(2)), probs
