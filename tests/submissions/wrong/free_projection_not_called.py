# mha-grade: free; expect: failed; in: shapes; mistake: output-projection-unused; line: 31
import torch
from torch import nn


class AttentionLayer(nn.Module):
    def __init__(self, n_heads, hidden_size, attn_dropout=0.0):
        super().__init__()
        if hidden_size % n_heads:
            raise ValueError("hidden_size must be a multiple of n_heads")
        self.n_heads = n_heads
        self.linear_query = nn.Linear(hidden_size, hidden_size)
        self.linear_key = nn.Linear(hidden_size, hidden_size)
        self.linear_value = nn.Linear(hidden_size, hidden_size)
        self.linear_output = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(attn_dropout)

    def forward(self, query, key_value, lengths=None):
        """lengths: (batch,) how much of key_value is real"""
        def cut(t):
            return t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

        q, k, v = cut(self.linear_query(query)), cut(self.linear_key(key_value)), cut(self.linear_value(key_value))
        logits = q @ k.mT / q.shape[-1] ** 0.5
        if lengths is not None:
            real = (torch.arange(k.shape[2], device=k.device) < lengths[:, None])[:, None, None]
            logits = torch.where(real, logits, torch.finfo(logits.dtype).min)
            probs = torch.where(real, logits.softmax(-1), 0.0)
        else:
            probs = logits.softmax(-1)
        return (self.dropout(probs) @ v).transpose(1, 2).flatten(2)
