# mha-grade: free; expect: failed; in: scaling; mistake: rotary-mispaired; line: 38
import torch
import torch.nn as nn


def sinusoids(dim, n, device):
    inv = 1.0 / (10000 ** (torch.arange(0, dim, 2, device=device) / dim))
    angles = torch.einsum("i,j->ij", torch.arange(n, device=device).float(), inv)
    return torch.sin(angles), torch.cos(angles)


def rotate_every_two(x):
    odd, even = x[..., 1::2], x[..., ::2]
    return torch.stack((-odd, even), dim=-1).flatten(-2)


class JAttention(nn.Module):
    """Only the first rotary_dim numbers of each head are turned."""

    def __init__(self, hidden, heads, rotary_dim=64):
        super().__init__()
        if hidden % heads:
            raise ValueError("heads must divide hidden")
        self.heads, self.head_dim = heads, hidden // heads
        self.rotary_dim = rotary_dim
        self.q_proj = nn.Linear(hidden, hidden, bias=False)
        self.k_proj = nn.Linear(hidden, hidden, bias=False)
        self.v_proj = nn.Linear(hidden, hidden, bias=False)
        self.out_proj = nn.Linear(hidden, hidden, bias=False)

    def apart(self, x):
        return x.view(*x.shape[:2], self.heads, self.head_dim)

    def turn(self, x):
        sin, cos = sinusoids(self.rotary_dim, x.shape[1], x.device)
        sin, cos = (t.repeat(1, 2)[None, :, None, :].to(x.dtype) for t in (sin, cos))
        rot, rest = x[..., : self.rotary_dim], x[..., self.rotary_dim :]
        return torch.cat([rot * cos + rotate_every_two(rot) * sin, rest], dim=-1)

    def forward(self, x, attention_mask=None):
        q, k, v = self.apart(self.q_proj(x)), self.apart(self.k_proj(x)), self.apart(self.v_proj(x))
        q, k = self.turn(q).transpose(1, 2), self.turn(k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-1, -2)) / self.head_dim**0.5
        n = x.shape[1]
        keep = torch.ones(n, n, dtype=torch.bool, device=x.device).tril()
        if attention_mask is not None:
            keep = keep & attention_mask[:, None, None, :].bool()
        weights = scores.masked_fill(~keep, float("-inf")).softmax(-1)
        weights = weights.masked_fill(~keep, 0.0)
        out = torch.matmul(weights, v.transpose(1, 2)).transpose(1, 2)
        return self.out_proj(out.reshape(x.shape))
