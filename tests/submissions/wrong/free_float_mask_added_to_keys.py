# mha-grade: free; expect: failed
import math
from typing import Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class MultiheadAttention(nn.Module):
    """A readable re-implementation of torch.nn.MultiheadAttention (batch_first only)."""

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, kdim=None, vdim=None, batch_first=True):
        super().__init__()
        assert batch_first
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == embed_dim, "embed_dim must be divisible by num_heads"
        self.q_proj_weight = nn.Parameter(torch.empty(embed_dim, embed_dim))
        self.k_proj_weight = nn.Parameter(torch.empty(embed_dim, self.kdim))
        self.v_proj_weight = nn.Parameter(torch.empty(embed_dim, self.vdim))
        if bias:
            self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.reset_parameters()

    def reset_parameters(self):
        for w in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            nn.init.xavier_uniform_(w)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Optional[Tensor] = None,
                need_weights: bool = True, attn_mask: Optional[Tensor] = None,
                average_attn_weights: bool = True, is_causal: bool = False) -> Tuple[Tensor, Optional[Tensor]]:
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        b, tgt, _ = query.shape
        src = key.shape[1]
        bq, bk, bv = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q = F.linear(query, self.q_proj_weight, bq).view(b, tgt, self.num_heads, self.head_dim).transpose(1, 2)
        k = F.linear(key, self.k_proj_weight, bk).view(b, src, self.num_heads, self.head_dim).transpose(1, 2)
        v = F.linear(value, self.v_proj_weight, bv).view(b, src, self.num_heads, self.head_dim).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        if attn_mask is not None:
            if attn_mask.dim() == 3:
                attn_mask = attn_mask.view(-1, self.num_heads, tgt, src) if attn_mask.size(0) == b * self.num_heads else attn_mask.unsqueeze(1)
            if attn_mask.dtype == torch.bool:
                scores = scores.masked_fill(attn_mask, float("-inf"))
            else:
                scores = k + attn_mask
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[:, None, None, :], float("-inf"))
        dead = torch.isinf(scores).all(-1, keepdim=True)
        attn = torch.softmax(scores.masked_fill(dead, 0.0), dim=-1).masked_fill(dead, 0.0)
        attn = F.dropout(attn, self.dropout, self.training)
        out = self.out_proj(torch.matmul(attn, v).transpose(1, 2).reshape(b, tgt, self.embed_dim))
        if not need_weights:
            return out, None
        return out, attn.mean(1) if average_attn_weights else attn
