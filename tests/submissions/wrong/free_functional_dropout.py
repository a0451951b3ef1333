# mha-grade: free; expect: failed; in: dropout; mistake: dropout-always-on; line: 20
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, input_dim, num_heads, attn_dropout=0.1):
        super().__init__()
        if input_dim % num_heads != 0:
            raise ValueError("input_dim must be divisible by num_heads")
        self.num_heads = num_heads
        self.attn_dropout = attn_dropout
        self.proj_qkv = nn.Linear(input_dim, input_dim * 3, bias=False)
        self.proj_out = nn.Linear(input_dim, input_dim)

    def forward(self, x):
        qkv = self.proj_qkv(x).unflatten(-1, (3, self.num_heads, -1))
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        out = F.scaled_dot_product_attention(query, key, value, dropout_p=self.attn_dropout)
        return self.proj_out(out.transpose(1, 2).flatten(2))
