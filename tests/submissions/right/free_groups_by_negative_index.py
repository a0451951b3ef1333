# mha-grade: free; expect: passed
import torch
from torch import nn


class FalconLike(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.num_kv = config.num_kv_heads
        self.head_dim = config.hidden_size // config.num_attention_heads
        if self.head_dim * self.num_heads != config.hidden_size:
            raise ValueError("hidden_size must be divisible by num_heads")
        self.query_key_value = nn.Linear(config.hidden_size, (self.num_kv * 2 + self.num_heads) * self.head_dim)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden_states):
        b, l, m = hidden_states.shape
        fused = self.query_key_value(hidden_states)
        fused = fused.view(b, l, -1, self.num_heads // self.num_kv + 2, self.head_dim)
        q = fused[:, :, :, :-2]
        k = fused[:, :, :, [-2]]
        v = fused[:, :, :, [-1]]
        k, v = k.expand_as(q), v.expand_as(q)
        q, k, v = (t.flatten(2, 3).transpose(1, 2) for t in (q, k, v))
        w = (q @ k.transpose(-1, -2) / self.head_dim**0.5).softmax(-1)
        return self.dense((w @ v).transpose(1, 2).flatten(2))
