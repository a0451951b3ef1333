# mha-grade: free; expect: failed; in: combined-masks; mistake: no-such-method; line: 26
import torch
from torch import nn


class SelfAttention(nn.Module):
    """mask: 0 and a lowest number to add, or bool with True = hidden."""

    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        assert hidden_size % num_attention_heads == 0
        self.heads = num_attention_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def split(self, t):
        return t.view(t.size(0), t.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, hidden_states, attention_mask=None):
        q, k, v = (self.split(f(hidden_states)) for f in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) * q.size(-1) ** -0.5
        if attention_mask is not None:
            if attention_mask.dtype == torch.bool:
                attention_mask = attention_mask * torch.finfo(scores.dtype).min.to(scores)
            scores = scores + attention_mask
        dead = torch.isneginf(scores).all(-1, keepdim=True)
        weights = scores.masked_fill(dead, 0.0).softmax(-1).masked_fill(dead, 0.0)
        context = (weights @ v).transpose(1, 2)
        return self.dense(context.reshape(hidden_states.shape)), weights
