# mha-grade: free; expect: failed; in: shapes; mistake: key-heads-in-two-orders
import torch
import torch.nn as nn


class GQA(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, num_key_value_heads=None):
        super().__init__()
        num_key_value_heads = num_key_value_heads or num_attention_heads
        assert hidden_size % num_attention_heads == 0
        self.nh, self.nkv = num_attention_heads, num_key_value_heads
        self.hd = hidden_size // num_attention_heads
        self.q_proj = nn.Linear(hidden_size, self.nh * self.hd)
        self.k_proj = nn.Linear(hidden_size, self.nkv * self.hd)
        self.v_proj = nn.Linear(hidden_size, self.nkv * self.hd)
        self.o_proj = nn.Linear(hidden_size, hidden_size)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q = self.q_proj(x).view(b, n, self.nh, self.hd).transpose(1, 2)
        k = self.k_proj(x).view(b, n, self.nkv, self.hd).transpose(1, 2)
        v = self.v_proj(x).view(b, n, self.nkv, self.hd).transpose(1, 2)
        g = self.nh // self.nkv
        k = k[:, :, None].expand(b, self.nkv, g, n, self.hd).reshape(b, self.nh, n, self.hd)
        v = v[:, :, None].expand(b, self.nkv, g, n, self.hd).transpose(1, 2).reshape(b, self.nh, n, self.hd)
        s = q @ k.transpose(-2, -1) / self.hd**0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        p = torch.nan_to_num(s.softmax(-1))
        return self.o_proj((p @ v).transpose(1, 2).reshape(b, n, -1))
