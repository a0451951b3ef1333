# mha-grade: free; expect: passed
import math

import torch
from torch import nn


class Conv1D(nn.Module):
    """A linear layer whose weight is (in, out)."""

    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight = nn.Parameter(torch.empty(nx, nf).normal_(std=0.02))
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        y = torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight)
        return y.view(*x.shape[:-1], self.nf)


class Attention(nn.Module):
    def __init__(self, nx, n_ctx, config, scale=True):
        super().__init__()
        assert nx % config.n_head == 0
        self.register_buffer("bias", torch.tril(torch.ones(n_ctx, n_ctx)).view(1, 1, n_ctx, n_ctx))
        self.n_head = config.n_head
        self.split_size = nx
        self.scale = scale
        self.c_attn = Conv1D(nx * 3, nx)
        self.c_proj = Conv1D(nx, nx)
        self.attn_dropout = nn.Dropout(config.attn_pdrop)

    def by_head(self, x):
        return x.unflatten(-1, (self.n_head, -1)).transpose(1, 2)

    def forward(self, x, layer_past=None):
        q, k, v = map(self.by_head, self.c_attn(x).split(self.split_size, dim=2))
        if layer_past is not None:
            k = torch.cat((layer_past[0], k), dim=-2)
            v = torch.cat((layer_past[1], v), dim=-2)
        present = torch.stack((k, v))
        w = q @ k.mT * (1 / math.sqrt(k.size(-1)) if self.scale else 1)
        old = k.size(2) - q.size(2)
        seen = self.bias[..., old:k.size(2), :k.size(2)] > 0
        w = torch.where(seen, w, torch.finfo(w.dtype).min).softmax(-1)
        a = (self.attn_dropout(w) @ v).transpose(1, 2).flatten(2)
        return self.c_proj(a), present
