# mha-grade: free; expect: passed
import torch
from torch import nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, E_q, E_k, E_v, E_total, nheads, dropout=0.0, bias=True):
        super().__init__()
        self.nheads = nheads
        self.dropout = dropout
        self.q_proj = nn.Linear(E_q, E_total, bias=bias)
        self.k_proj = nn.Linear(E_k, E_total, bias=bias)
        self.v_proj = nn.Linear(E_v, E_total, bias=bias)
        self.out_proj = nn.Linear(E_total, E_q, bias=bias)
        assert E_total % nheads == 0, "Embedding dim is not divisible by nheads"
        self.E_head = E_total // nheads

    def forward(self, query, key, value, attn_mask=None, is_causal=False):
        query = self.q_proj(query).unflatten(-1, [self.nheads, self.E_head]).transpose(1, 2)
        key = self.k_proj(key).unflatten(-1, [self.nheads, self.E_head]).transpose(1, 2)
        value = self.v_proj(value).unflatten(-1, [self.nheads, self.E_head]).transpose(1, 2)
        out = F.scaled_dot_product_attention(
            query, key, value, attn_mask=attn_mask, dropout_p=self.dropout if self.training else 0.0, is_causal=is_causal
        )
        return self.out_proj(out.transpose(1, 2).flatten(-2))
