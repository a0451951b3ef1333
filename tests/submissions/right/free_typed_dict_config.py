# mha-grade: free; expect: passed
from typing import TypedDict

import torch
import torch.nn as nn


class AttentionConfig(TypedDict):
    emb_dim: int
    n_heads: int
    context_length: int
    drop_rate: float
    qkv_bias: bool


class MultiHeadAttention(nn.Module):
    def __init__(self, cfg: AttentionConfig):
        super().__init__()
        d_out, heads = cfg["emb_dim"], cfg["n_heads"]
        if d_out % heads:
            raise ValueError("emb_dim must be divisible by n_heads")
        self.num_heads, self.head_dim = heads, d_out // heads
        self.W_query = nn.Linear(d_out, d_out, bias=cfg["qkv_bias"])
        self.W_key = nn.Linear(d_out, d_out, bias=cfg["qkv_bias"])
        self.W_value = nn.Linear(d_out, d_out, bias=cfg["qkv_bias"])
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(cfg["drop_rate"])
        self.context_length = cfg["context_length"]

    def forward(self, x):
        b, num_tokens, d = x.shape
        def heads(t):
            return t.view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        q, k, v = heads(self.W_query(x)), heads(self.W_key(x)), heads(self.W_value(x))
        attn_scores = q @ k.transpose(2, 3)
        mask = torch.triu(torch.ones(num_tokens, num_tokens, device=x.device), diagonal=1).bool()
        attn_scores.masked_fill_(mask, -torch.inf)
        attn_weights = self.dropout(torch.softmax(attn_scores / k.shape[-1] ** 0.5, dim=-1))
        context_vec = (attn_weights @ v).transpose(1, 2).contiguous().view(b, num_tokens, d)
        return self.out_proj(context_vec)
