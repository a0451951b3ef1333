# mha-grade: free; expect: passed
import torch
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / base ** (torch.arange(0, dim, 2).float() / dim), persistent=False)

    def forward(self, n):
        t = torch.arange(n, device=self.inv_freq.device, dtype=torch.float32)
        angle = torch.outer(t, self.inv_freq.float())
        return torch.cat([angle, angle], -1)


class PhiStyleAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n = config.num_attention_heads
        self.head_dim = config.hidden_size // self.n
        if config.hidden_size % self.n != 0:
            raise ValueError("hidden_size is not divisible by num_attention_heads")
        self.ndims = int(self.head_dim * config.partial_rotary_factor)
        self.rope = RotaryEmbedding(self.ndims, config.rope_theta)
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.k_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.v_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_dropout)

    def _turn(self, x, angle):
        r, p = x[..., : self.ndims], x[..., self.ndims :]
        a, b = r.chunk(2, -1)
        turned = r * angle.cos().to(x.dtype) + torch.cat([-b, a], -1) * angle.sin().to(x.dtype)
        return torch.cat([turned, p], -1)

    def forward(self, hidden_states, attention_mask=None):
        b, l, _ = hidden_states.shape
        q, k, v = (p(hidden_states).view(b, l, self.n, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        angle = self.rope(l)
        q, k = self._turn(q, angle), self._turn(k, angle)
        w = q @ k.transpose(2, 3) * self.head_dim**-0.5
        if attention_mask is not None:
            w = w + attention_mask
        top = w.amax(-1, keepdim=True).clamp(min=torch.finfo(w.dtype).min)
        p = (w - top).exp()
        p = p / p.sum(-1, keepdim=True).clamp(min=1.0)
        p = self.dropout(p)
        return self.dense((p @ v).transpose(1, 2).reshape(b, l, -1)), p
