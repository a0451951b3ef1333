# mha-grade: free; expect: failed; in: scaling; mistake: scale-floored; line: 24
import torch
import torch.nn as nn


class CrossAttention(nn.Module):
    def __init__(self, n_heads, d_embed, d_cross, in_proj_bias=True, out_proj_bias=True):
        super().__init__()
        assert d_embed % n_heads == 0
        self.q_proj = nn.Linear(d_embed, d_embed, bias=in_proj_bias)
        self.k_proj = nn.Linear(d_cross, d_embed, bias=in_proj_bias)
        self.v_proj = nn.Linear(d_cross, d_embed, bias=in_proj_bias)
        self.out_proj = nn.Linear(d_embed, d_embed, bias=out_proj_bias)
        self.n_heads = n_heads
        self.d_head = d_embed // n_heads

    def forward(self, x, y):
        # x (latent): batch, len_q, d_embed; y (context): batch, len_kv, d_cross
        b, n, d = x.shape
        q = self.q_proj(x).view(b, n, self.n_heads, self.d_head).transpose(1, 2)
        k = self.k_proj(y).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = self.v_proj(y).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        weight = q @ k.transpose(-1, -2)
        weight = weight / int(self.d_head ** 0.5)
        out = weight.softmax(dim=-1) @ v
        return self.out_proj(out.transpose(1, 2).reshape(b, n, d))
