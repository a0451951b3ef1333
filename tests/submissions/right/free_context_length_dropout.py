# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.head_dim, rest = divmod(d_out, num_heads)
        assert rest == 0, "d_out must be a multiple of num_heads"
        self.num_heads = num_heads

        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        future = torch.ones(context_length, context_length).triu(diagonal=1)
        self.register_buffer("mask", future)

    def forward(self, x):
        n = x.shape[1]
        per_head = []
        for layer in (self.W_query, self.W_key, self.W_value):
            y = layer(x)
            per_head.append(y.unflatten(-1, (self.num_heads, self.head_dim)).permute(0, 2, 1, 3))
        queries, keys, values = per_head

        omega = queries @ keys.mT / self.head_dim ** 0.5
        omega.masked_fill_(self.mask[:n, :n].bool(), -torch.inf)
        alpha = self.dropout(omega.softmax(dim=-1))

        context = (alpha @ values).permute(0, 2, 1, 3).flatten(start_dim=2)
        return self.out_proj(context)
