# mha-grade: causal-self-attention; expect: failed; in: shapes; mistake: merge-without-transpose; line: 34
import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        b, num_tokens, d = x.shape
        keys = self.W_key(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        queries = self.W_query(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        values = self.W_value(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)

        hidden = torch.triu(torch.ones(num_tokens, num_tokens, device=x.device), diagonal=1).bool()
        if padding_mask is not None:
            hidden = hidden | ~padding_mask[:, None, None, :]

        attn_scores = queries @ keys.transpose(2, 3) / keys.shape[-1] ** 0.5
        attn_scores = attn_scores.masked_fill(hidden, torch.finfo(attn_scores.dtype).min)
        attn_weights = torch.softmax(attn_scores, dim=-1).masked_fill(hidden, 0.0)

        context_vec = self.dropout(attn_weights) @ values
        context_vec = context_vec.contiguous().view(b, num_tokens, d)
        return self.out_proj(context_vec), attn_weights
