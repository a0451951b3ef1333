# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-fill-too-small
import torch
import torch.nn as nn


class CrossAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        assert dim % num_heads == 0
        self.num_heads = num_heads
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, 2 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, context, context_mask=None):
        B, N, C = x.shape
        M = context.shape[1]
        q = self.q(x).reshape(B, N, self.num_heads, -1).transpose(1, 2)
        k, v = self.kv(context).reshape(B, M, self.num_heads, 2, -1).permute(3, 0, 2, 1, 4)
        att = q @ k.transpose(-2, -1) * (C // self.num_heads) ** -0.5
        if context_mask is not None:
            att = att.masked_fill(~context_mask[:, None, None, :], -1e4 if att.dtype == torch.float16 else -1e2)
        att = att.softmax(-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, N, C))
