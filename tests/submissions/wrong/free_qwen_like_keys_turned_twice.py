# mha-grade: free; expect: failed; in: scaling; mistake: rotary-uneven; line: 42
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


def rope(x, base):
    d, n = x.shape[-1], x.shape[-2]
    inv = base ** -(torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angle = torch.arange(n, device=x.device, dtype=torch.float64)[:, None] * inv
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.num_attention_heads
        self.kv_heads = config.num_key_value_heads
        self.head_dim = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        self.base = config.rope_theta
        self.q_proj = nn.Linear(config.hidden_size, self.heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, self.kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, self.kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.head_dim, config.hidden_size, bias=False)
        self.q_norm, self.k_norm = RMSNorm(self.head_dim), RMSNorm(self.head_dim)

    def forward(self, hidden_states, past_key_values=None):
        b, n, _ = hidden_states.shape
        apart = lambda t: t.view(b, n, -1, self.head_dim)
        q = rope(self.q_norm(apart(self.q_proj(hidden_states))).transpose(1, 2), self.base)
        k = rope(rope(self.k_norm(apart(self.k_proj(hidden_states))).transpose(1, 2), self.base), self.base)
        v = apart(self.v_proj(hidden_states)).transpose(1, 2)
        k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        w = q @ k.transpose(2, 3) * self.head_dim**-0.5
        w = w + torch.full((n, n), float("-inf"), device=w.device, dtype=w.dtype).triu(1)
        w = w.softmax(dim=-1, dtype=torch.promote_types(w.dtype, torch.float32)).to(q.dtype)
        return self.o_proj((w @ v).transpose(1, 2).reshape(b, n, -1)), w
