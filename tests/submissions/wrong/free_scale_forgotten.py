# mha-grade: free; expect: failed; in: scaling; mistake: missing-scale; line: 23
import torch
import torch.nn as nn


class AttentionBlock(nn.Module):
    def __init__(self, num_heads, channels):
        super().__init__()
        assert channels % num_heads == 0
        self.num_heads = num_heads
        self.head_channels = channels // num_heads
        self.scale = self.head_channels ** -0.5
        self.norm = nn.LayerNorm(channels)
        self.to_q = nn.Linear(channels, channels, bias=False)
        self.to_kv = nn.Linear(channels, channels * 2, bias=False)
        self.to_out = nn.Linear(channels, channels)

    def forward(self, x, context):
        residual = x
        q = self.to_q(self.norm(x))
        k, v = self.to_kv(context).chunk(2, dim=-1)
        q, k, v = (t.unflatten(-1, (self.num_heads, self.head_channels)).transpose(1, 2) for t in (q, k, v))
        attn = torch.einsum("bhid,bhjd->bhij", q, k).softmax(dim=-1)
        out = torch.einsum("bhij,bhjd->bhid", attn, v).transpose(1, 2).flatten(2)
        return self.to_out(out) + residual
