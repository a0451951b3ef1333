# mha-grade: free; expect: failed
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_dim, self.num_heads = config.hidden_size, config.num_attention_heads
        if self.embed_dim % self.num_heads:
            raise ValueError("hidden_size % num_attention_heads")
        self.head_dim = self.embed_dim // self.num_heads
        self.scale = getattr(config, "attention_scale", self.head_dim**-0.5)
        self.q_proj = nn.Linear(self.embed_dim, self.embed_dim)
        self.k_proj = nn.Linear(self.embed_dim, self.embed_dim)
        self.v_proj = nn.Linear(self.embed_dim, self.embed_dim)
        self.out_proj = nn.Linear(self.embed_dim, self.embed_dim)

    def forward(self, hidden_states, attention_mask=None, causal_attention_mask=None, output_attentions=False):
        b, t, e = hidden_states.shape
        q = (self.q_proj(hidden_states) * self.scale).view(b, t, self.num_heads, -1).transpose(1, 2)
        k = self.k_proj(hidden_states).view(b, t, self.num_heads, -1).transpose(1, 2)
        v = self.v_proj(hidden_states).view(b, t, self.num_heads, -1).transpose(1, 2)
        w = q @ k.transpose(-1, -2)
        if causal_attention_mask is not None:
            w = w + causal_attention_mask
        elif attention_mask is not None:
            w = w + attention_mask
        w = nn.functional.softmax(w, dim=-1, dtype=torch.float32).to(q.dtype)
        o = self.out_proj((w @ v).transpose(1, 2).reshape(b, t, e))
        return o, (w if output_attentions else None)
