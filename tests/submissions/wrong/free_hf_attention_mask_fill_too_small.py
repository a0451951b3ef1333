# mha-grade: free; expect: failed; in: padding-mask; mistake: fill-too-small
import torch
from torch import nn


class DistilLikeAttention(nn.Module):
    """attention_mask is [B, L] with 1 for tokens and 0 for padding."""

    def __init__(self, config):
        super().__init__()
        self.n_heads, self.dim = config.n_heads, config.dim
        if self.dim % self.n_heads != 0:
            raise ValueError("n_heads must divide dim evenly")
        self.dropout = nn.Dropout(p=config.attention_dropout)
        self.q_lin = nn.Linear(config.dim, config.dim)
        self.k_lin = nn.Linear(config.dim, config.dim)
        self.v_lin = nn.Linear(config.dim, config.dim)
        self.out_lin = nn.Linear(config.dim, config.dim)

    def forward(self, query, key, value, attention_mask=None, output_attentions=False):
        bs, q_length, dim = query.size()
        shape = lambda x: x.view(bs, -1, self.n_heads, dim // self.n_heads).transpose(1, 2)
        q, k, v = shape(self.q_lin(query)), shape(self.k_lin(key)), shape(self.v_lin(value))
        scores = torch.matmul(q / (dim // self.n_heads) ** 0.5, k.transpose(2, 3))
        if attention_mask is not None:
            gone = (attention_mask == 0).view(bs, 1, 1, -1).expand_as(scores)
            scores = scores.masked_fill(gone, -100.0)
        weights = nn.functional.softmax(scores, dim=-1)
        if attention_mask is not None:
            weights = weights.masked_fill(gone, 0.0)
        weights = self.dropout(weights)
        context = self.out_lin(torch.matmul(weights, v).transpose(1, 2).reshape(bs, q_length, dim))
        return (context, weights) if output_attentions else (context,)
