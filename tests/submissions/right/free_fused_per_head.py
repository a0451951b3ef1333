# mha-grade: free; expect: passed
import torch
from torch import nn


class NeoAttention(nn.Module):
    """The rows of query_key_value are [heads, (q, k, v), head size]."""

    def __init__(self, config):
        super().__init__()
        self.hidden_size = config.hidden_size
        self.num_attention_heads = config.num_attention_heads
        self.head_size = self.hidden_size // self.num_attention_heads
        if self.head_size * self.num_attention_heads != self.hidden_size:
            raise ValueError("hidden_size does not split evenly over the attention heads")
        self.query_key_value = nn.Linear(self.hidden_size, 3 * self.hidden_size)
        self.dense = nn.Linear(self.hidden_size, self.hidden_size)
        n = config.max_position_embeddings
        self.register_buffer("causal_mask", torch.ones((n, n), dtype=torch.bool).tril(), persistent=False)
        self.attention_dropout = nn.Dropout(config.attention_dropout)

    def forward(self, hidden_states, attention_mask=None, use_cache=False):
        """attention_mask: [batch, seq] with 1 for tokens and 0 for padding"""
        batch, seq, _ = hidden_states.shape
        qkv = self.query_key_value(hidden_states).view(batch, seq, self.num_attention_heads, -1)
        query, key, value = qkv.transpose(1, 2).split(self.head_size, dim=-1)
        scores = torch.matmul(query, key.transpose(-1, -2)) / self.head_size**0.5
        visible = self.causal_mask[:seq, :seq][None, None]
        if attention_mask is not None:
            visible = visible & (attention_mask[:, None, None, :] > 0)
        scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
        probs = torch.where(visible, scores.softmax(dim=-1), torch.zeros_like(scores))
        context = torch.matmul(self.attention_dropout(probs), value)
        context = context.transpose(1, 2).reshape(batch, seq, self.hidden_size)
        return self.dense(context), (key, value) if use_cache else None
