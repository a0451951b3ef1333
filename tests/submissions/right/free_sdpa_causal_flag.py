# mha-grade: free; expect: passed
import torch.nn as nn
import torch.nn.functional as F


class FlashAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, causal=False, bias=True):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim=} is not a multiple of {num_heads=}")
        self.num_heads = num_heads
        self.dropout = dropout
        self.causal = causal
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim, bias=bias)
        self.proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(
            q, k, v,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=self.causal,
        )
        return self.proj(y.transpose(1, 2).flatten(-2))
