# mha-grade: free; expect: passed
import torch
from torch import nn


class Perceive(nn.Module):
    """Latents read a longer sequence that may be of another width."""

    def __init__(self, latent_dim: int, input_dim: int, heads: int, head_dim: int):
        super().__init__()
        self.heads = heads
        inner = heads * head_dim
        self.q = nn.Linear(latent_dim, inner)
        self.k = nn.Linear(input_dim, inner)
        self.v = nn.Linear(input_dim, inner)
        self.o = nn.Linear(inner, latent_dim)
        self.scale = head_dim ** -0.5

    def forward(self, latents, inputs, input_mask=None):
        b = latents.size(0)
        q, k, v = (t.view(b, -1, self.heads, t.size(-1) // self.heads).transpose(1, 2)
                   for t in (self.q(latents), self.k(inputs), self.v(inputs)))
        a = q @ k.transpose(2, 3) * self.scale
        if input_mask is not None:      # (b, 1, inputs), True: present
            m = input_mask.unsqueeze(1)
            a = a.masked_fill(m.logical_not(), torch.finfo(a.dtype).min).softmax(-1).where(m, 0)
        else:
            a = a.softmax(-1)
        y = (a @ v).transpose(1, 2)
        return self.o(y.reshape(b, y.size(1), -1))
