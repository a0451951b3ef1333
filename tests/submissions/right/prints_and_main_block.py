# mha-grade: self-attention; expect: passed
import math

import torch
import torch.nn as nn

print("torch", torch.__version__)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.to_q = nn.Linear(d_model, d_model, bias=False)
        self.to_k = nn.Linear(d_model, d_model, bias=False)
        self.to_v = nn.Linear(d_model, d_model, bias=False)
        self.to_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q = self.to_q(x).view(B, L, self.num_heads, self.d_head).transpose(1, 2)
        k = self.to_k(x).view(B, L, self.num_heads, self.d_head).transpose(1, 2)
        v = self.to_v(x).view(B, L, self.num_heads, self.d_head).transpose(1, 2)
        # print("q", q.shape, "k", k.shape)
        attn = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d_head)
        if mask is not None:
            attn = attn.masked_fill(mask == False, torch.finfo(attn.dtype).min)  # noqa: E712
        attn = torch.softmax(attn, dim=-1)
        if mask is not None:
            attn = attn.masked_fill(mask == False, 0.0)  # noqa: E712
        attn = self.dropout(attn)
        out = torch.matmul(attn, v).transpose(1, 2).reshape(B, L, D)
        return self.to_out(out), attn


mha = MultiHeadAttention(8, 2)
print("sanity:", mha(torch.randn(1, 4, 8))[0].shape)

if __name__ == "__main__":
    x = torch.randn(2, 6, 8)
    causal = torch.ones(6, 6).tril().bool()
    out, w = mha(x, causal)
    print(out.shape, w.shape, w.sum(-1))
