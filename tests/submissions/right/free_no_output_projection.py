# mha-grade: free; expect: passed
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, input_dim, num_heads, drop=0.0):
        super().__init__()
        assert input_dim % num_heads == 0
        self.num_heads = num_heads
        self.q_lin = nn.Linear(input_dim, input_dim)
        self.k_lin = nn.Linear(input_dim, input_dim)
        self.v_lin = nn.Linear(input_dim, input_dim)
        self.drop = nn.Dropout(drop)

    def forward(self, x, key_padding_mask=None):
        B, T, D = x.shape
        q, k, v = (lin(x).view(B, T, self.num_heads, -1).transpose(1, 2) for lin in (self.q_lin, self.k_lin, self.v_lin))
        s = torch.matmul(q, k.transpose(-1, -2)) / (D / self.num_heads) ** 0.5
        if key_padding_mask is not None:
            s = s.masked_fill(key_padding_mask[:, None, None, :], float("-inf"))
        p = self.drop(torch.softmax(s, -1).nan_to_num(0.0))
        return torch.matmul(p, v).transpose(1, 2).reshape(B, T, D)
