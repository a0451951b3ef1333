# mha-grade: free; expect: passed
import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    """Port of keras.layers.MultiHeadAttention: EinsumDense kernels of shape (dim, heads, key_dim)."""

    def __init__(self, num_heads, key_dim, value_dim=None, dropout=0.0, use_bias=True, output_shape=None, embed_dim=None):
        super().__init__()
        self._num_heads = num_heads
        self._key_dim = key_dim
        self._value_dim = value_dim if value_dim else key_dim
        embed_dim = embed_dim or num_heads * key_dim
        self._query_kernel = nn.Parameter(torch.empty(embed_dim, num_heads, key_dim))
        self._key_kernel = nn.Parameter(torch.empty(embed_dim, num_heads, key_dim))
        self._value_kernel = nn.Parameter(torch.empty(embed_dim, num_heads, self._value_dim))
        self._output_kernel = nn.Parameter(torch.empty(num_heads, self._value_dim, embed_dim))
        if use_bias:
            self._query_bias = nn.Parameter(torch.zeros(num_heads, key_dim))
            self._key_bias = nn.Parameter(torch.zeros(num_heads, key_dim))
            self._value_bias = nn.Parameter(torch.zeros(num_heads, self._value_dim))
            self._output_bias = nn.Parameter(torch.zeros(embed_dim))
        self._use_bias = use_bias
        self._dropout = nn.Dropout(dropout)
        for p in (self._query_kernel, self._key_kernel, self._value_kernel, self._output_kernel):
            nn.init.xavier_uniform_(p.view(p.shape[0], -1))

    def forward(self, query, value, key=None, attention_mask=None, return_attention_scores=False):
        if key is None:
            key = value
        q = torch.einsum("btd,dnh->btnh", query, self._query_kernel)
        k = torch.einsum("bsd,dnh->bsnh", key, self._key_kernel)
        v = torch.einsum("bsd,dnh->bsnh", value, self._value_kernel)
        if self._use_bias:
            q, k, v = q + self._query_bias, k + self._key_bias, v + self._value_bias
        q = q * (self._key_dim ** -0.5)
        scores = torch.einsum("bsnh,btnh->bnts", k, q)
        if attention_mask is not None:
            if attention_mask.dim() == 3:
                attention_mask = attention_mask.unsqueeze(1)
            scores = scores.masked_fill(attention_mask == 0, float("-inf"))
        probs = torch.nan_to_num(F.softmax(scores, dim=-1))
        out = torch.einsum("bnts,bsnh->btnh", self._dropout(probs), v)
        out = torch.einsum("btnh,nhd->btd", out, self._output_kernel)
        if self._use_bias:
            out = out + self._output_bias
        if return_attention_scores:
            return out, probs
        return out
