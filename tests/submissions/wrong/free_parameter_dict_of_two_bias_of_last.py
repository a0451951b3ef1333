# mha-grade: free; expect: failed
import torch
from torch import nn


class DictAttention(nn.Module):
    def __init__(self, size, num_heads):
        super().__init__()
        if size % num_heads:
            raise ValueError("size must be a multiple of num_heads")
        self.nh = num_heads
        self.w = nn.ParameterDict({
            "qkv": nn.Parameter(torch.randn(3, size, size) * size**-0.5),
            "b": nn.Parameter(torch.zeros(3, size)),
        })
        self.last = nn.Linear(size, size)

    def forward(self, hidden, attn_bias=None):
        """attn_bias: float, added to the scores; broadcastable to [B, H, L, L]"""
        b, n, s = hidden.shape
        q, k, v = torch.einsum("bni,cio->cbno", hidden, self.w["qkv"]) + self.w["b"][2]
        q, k, v = (t.reshape(b, n, self.nh, s // self.nh).movedim(2, 1) for t in (q, k, v))
        sc = torch.matmul(q, k.mT).mul((s // self.nh) ** -0.5)
        if attn_bias is not None:
            sc = sc + attn_bias
            dead = sc.isneginf().all(-1, keepdim=True)
            p = torch.softmax(sc.masked_fill(dead, 0), -1).masked_fill(dead, 0)
        else:
            p = torch.softmax(sc, -1)
        return {"out": self.last((p @ v).movedim(1, 2).reshape(b, n, s)), "probs": p}
