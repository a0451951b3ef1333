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

    def split_heads(self, x):
        return x.view(x.size(0), x.size(1), self.n_head, -1).permute(0, 2, 1, 3)

    def forward(self, x, layer_past=None):
        q, k, v = map(self.split_heads, self.c_attn(x).split(self.split_size, dim=2))
        if layer_past is not None:
            k = torch.cat((layer_past[0], k), dim=-2)
            v = torch.cat((layer_past[1], v), dim=-2)
        present = torch.stack((k, v))
        w = torch.matmul(q, k.transpose(-2, -1))
        if self.scale:
            w = w / math.sqrt(v.size(-1))
        nd, ns = w.size(-2), w.size(-1)
        b = self.bias[:, :, ns - nd:ns, :ns]
        w = torch.where(b == 1, w, torch.full_like(w, torch.finfo(w.dtype).min))
        a = torch.matmul(self.attn_dropout(w.softmax(-1)), v)
        a = a.permute(0, 2, 1, 3).contiguous().flatten(2)
        return self.c_proj(a), present
