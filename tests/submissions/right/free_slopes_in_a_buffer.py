# mha-grade: free; expect: passed
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def get_slopes(n):
    def power_of_2(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(n).is_integer():
        return power_of_2(n)
    closest = 2 ** math.floor(math.log2(n))
    return power_of_2(closest) + get_slopes(2 * closest)[0::2][: n - closest]


class AlibiAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, attn_dropout=0.0):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim % num_heads")
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.in_proj = nn.Linear(embed_dim, 3 * embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.attn_dropout = attn_dropout
        self.register_buffer("slopes", torch.tensor(get_slopes(num_heads), dtype=torch.float64).view(1, num_heads, 1, 1))

    def forward(self, x):
        B, L, E = x.shape
        q, k, v = self.in_proj(x).split(E, dim=-1)
        q, k, v = (t.view(B, L, self.num_heads, self.head_dim).transpose(1, 2) for t in (q, k, v))
        pos = torch.arange(L, device=x.device)
        dist = (pos[None, :] - pos[:, None]).to(q.dtype)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim) + self.slopes.to(q.dtype) * dist
        causal = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()
        scores = scores.masked_fill(~causal, float("-inf"))
        attn = F.dropout(F.softmax(scores, dim=-1), self.attn_dropout, self.training)
        return self.out_proj((attn @ v).transpose(1, 2).reshape(B, L, E))
