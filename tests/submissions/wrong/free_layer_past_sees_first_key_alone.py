# mha-grade: free; expect: failed
import torch
import torch.nn as nn


class GPT2Attention(nn.Module):
    def __init__(self, hidden_size, num_heads, attn_pdrop=0.0, resid_pdrop=0.0):
        super().__init__()
        if hidden_size % num_heads != 0:
            raise ValueError("hidden_size must be divisible by num_heads")
        self.num_heads, self.head_dim = num_heads, hidden_size // num_heads
        self.c_attn = nn.Linear(hidden_size, 3 * hidden_size)
        self.c_proj = nn.Linear(hidden_size, hidden_size)
        self.attn_dropout, self.resid_dropout = nn.Dropout(attn_pdrop), nn.Dropout(resid_pdrop)

    def _split_heads(self, t):
        return t.view(*t.shape[:-1], self.num_heads, self.head_dim).permute(0, 2, 1, 3)

    def forward(self, hidden_states, layer_past=None, use_cache=False, output_attentions=False):
        query, key, value = (self._split_heads(t) for t in self.c_attn(hidden_states).chunk(3, dim=-1))
        if layer_past is not None:
            key = torch.cat((layer_past[0], key), dim=-2)
            value = torch.cat((layer_past[1], value), dim=-2)
        present = (key, value) if use_cache else None
        q_len, k_len = query.size(-2), key.size(-2)
        w = query @ key.transpose(-1, -2) / self.head_dim**0.5
        causal = torch.ones(q_len, k_len, dtype=torch.bool, device=w.device).tril()
        w = w.masked_fill(~causal, float("-inf")).softmax(-1)
        out = self.attn_dropout(w) @ value
        out = self.resid_dropout(self.c_proj(out.permute(0, 2, 1, 3).flatten(2)))
        outputs = (out, present)
        if output_attentions:
            outputs += (w,)
        return outputs
