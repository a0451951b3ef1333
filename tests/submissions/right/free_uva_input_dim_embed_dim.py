# mha-grade: free; expect: passed
import math

import torch
import torch.nn as nn


def scaled_dot_product(q, k, v, mask=None):
    attn_logits = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size()[-1])
    if mask is not None:
        attn_logits = attn_logits.masked_fill(mask == 0, -torch.inf)
    attention = torch.softmax(attn_logits, dim=-1)
    if mask is not None:
        attention = attention.masked_fill(mask == 0, 0.0)
    return torch.matmul(attention, v), attention


def expand_mask(mask):
    """[L, L], [B, L, L] or [B, H, L, L] -> four axes."""
    assert mask.ndim >= 2
    if mask.ndim == 3:
        mask = mask.unsqueeze(1)
    while mask.ndim < 4:
        mask = mask.unsqueeze(0)
    return mask


class MultiheadAttention(nn.Module):
    def __init__(self, input_dim, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.qkv_proj = nn.Linear(input_dim, 3 * embed_dim)
        self.o_proj = nn.Linear(embed_dim, input_dim)

    def forward(self, x, mask=None, return_attention=False):
        batch_size, seq_length, _ = x.size()
        if mask is not None:
            mask = expand_mask(mask)
        qkv = self.qkv_proj(x).reshape(batch_size, seq_length, self.num_heads, 3 * self.head_dim)
        q, k, v = qkv.permute(0, 2, 1, 3).chunk(3, dim=-1)
        values, attention = scaled_dot_product(q, k, v, mask=mask)
        o = self.o_proj(values.permute(0, 2, 1, 3).reshape(batch_size, seq_length, self.embed_dim))
        return (o, attention) if return_attention else o
