# mha-grade: free; expect: failed; in: shapes; mistake: samples-mixed; line: 21
import torch
import torch.nn.functional as F
from torch import nn


class SeqFirstMHA(nn.Module):
    """tokens: (length, batch, dim)"""

    def __init__(self, dim, num_heads, dropout=0.0):
        super().__init__()
        if dim % num_heads:
            raise ValueError("dim % num_heads")
        self.num_heads, self.head_dim, self.dropout = num_heads, dim // num_heads, dropout
        self.in_proj = nn.Linear(dim, 3 * dim)
        self.out_proj = nn.Linear(dim, dim)

    def forward(self, tokens):
        length, batch, dim = tokens.shape
        q, k, v = self.in_proj(tokens).chunk(3, dim=-1)
        q, k, v = (t.reshape(batch * self.num_heads, length, self.head_dim) for t in (q, k, v))
        w = F.softmax(torch.bmm(q, k.transpose(1, 2)) * self.head_dim ** -0.5, dim=-1)
        y = torch.bmm(F.dropout(w, self.dropout, self.training), v)
        return self.out_proj(y.reshape(length, batch, dim))
