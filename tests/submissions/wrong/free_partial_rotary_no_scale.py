# mha-grade: free; expect: failed; in: scaling; mistake: missing-scale; line: 29
import torch
import torch.nn as nn


def rotate_pairs(x):
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


class PartialRotaryAttention(nn.Module):
    """GPT-J's way: the first half of each head is turned, by tables [length, half of a head]."""

    def __init__(self, n_embd: int, n_head: int):
        super().__init__()
        assert n_embd % n_head == 0
        self.n_head, self.head_dim = n_head, n_embd // n_head
        self.rotary_dim = self.head_dim // 2
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)

    def _rotate(self, x, cos, sin):
        turned, rest = x.split([self.rotary_dim, self.head_dim - self.rotary_dim], dim=-1)
        return torch.cat((turned * cos + rotate_pairs(turned) * sin, rest), dim=-1)

    def forward(self, x, cos, sin):
        b, t, c = x.shape
        q, k, v = (p.view(b, t, self.n_head, -1).transpose(1, 2) for p in self.c_attn(x).split(c, dim=2))
        q, k = self._rotate(q, cos, sin), self._rotate(k, cos, sin)
        scores = (q @ k.transpose(-2, -1))
        future = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(-1)
        return self.c_proj((weights @ v).transpose(1, 2).reshape(b, t, c))
