# mha-grade: free; expect: failed
import torch
from torch import nn


class GQA(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads=None, dropout=0.0):
        super().__init__()
        self.kv = num_heads if num_kv_heads is None else num_kv_heads
        if embed_dim % num_heads or num_heads % self.kv:
            raise ValueError("sizes must divide")
        self.per, self.size = num_heads // self.kv, embed_dim // num_heads
        self.to_q = nn.Linear(embed_dim, embed_dim)
        self.to_kv = nn.Linear(embed_dim, 2 * self.kv * self.size)
        self.to_out = nn.Linear(embed_dim, embed_dim)
        self.p = dropout

    def forward(self, x, visible=None):
        b, n, m = x.shape
        q = self.to_q(x).view(b, n, self.kv, self.per, self.size)
        k, v = self.to_kv(x).view(b, n, 2, self.kv, self.size).unbind(2)
        s = torch.einsum("bnghd,bsgd->bghns", q, k) / self.size**0.5
        if visible is not None:
            hidden = ~visible.bool().view(b, 1, 1, 1, n)
            w = s.masked_fill(hidden, -torch.inf).softmax(-1).masked_fill(hidden, 0)
        else:
            w = s.softmax(-1)
        w = nn.functional.dropout(w, self.p, self.training)
        return self.to_out(torch.einsum("bghns,bsgd->bnhgd", w, v).reshape(b, n, m))
