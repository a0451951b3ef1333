# mha-grade: free; expect: passed
import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.dropout = dropout

    def forward(self, hidden_states, past_key_value=None, attention_mask=None, use_cache=False):
        b, n, _ = hidden_states.shape
        apart = lambda t: t.view(b, -1, self.num_heads, self.head_dim).transpose(1, 2)
        q = apart(self.q_proj(hidden_states) * self.head_dim**-0.5)
        k, v = apart(self.k_proj(hidden_states)), apart(self.v_proj(hidden_states))
        if past_key_value is not None:
            k, v = torch.cat([past_key_value[0], k], 2), torch.cat([past_key_value[1], v], 2)
        present = (k, v) if use_cache else None
        w = q @ k.transpose(2, 3)
        if attention_mask is not None:
            w = w.masked_fill(attention_mask == 0, torch.finfo(w.dtype).min)
            w = nn.functional.softmax(w, dim=-1) * (attention_mask != 0)
        else:
            w = nn.functional.softmax(w, dim=-1)
        p = nn.functional.dropout(w, p=self.dropout, training=self.training)
        out = (p @ v).transpose(1, 2).reshape(b, n, self.embed_dim)
        return self.out_proj(out), w, present
