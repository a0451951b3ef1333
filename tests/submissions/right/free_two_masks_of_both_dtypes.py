# mha-grade: free; expect: passed
import math
import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("no")
        self.h = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, key_padding_mask=None, attn_mask=None):
        B, T, D = query.shape
        S = key.shape[1]
        q, k, v = (t.view(B, -1, self.h, D // self.h).transpose(1, 2) for t in (self.q(query), self.k(key), self.v(value)))
        scores = q @ k.transpose(-2, -1) / math.sqrt(D // self.h)
        if key_padding_mask is not None and key_padding_mask.dtype != torch.bool:
            if not torch.is_floating_point(key_padding_mask):
                raise AssertionError("only bool and float")
        if attn_mask is not None:
            if attn_mask.dim() == 2:
                correct = (T, S)
                if attn_mask.shape != correct:
                    raise RuntimeError(f"The shape of the 2D attn_mask is {attn_mask.shape}")
                attn_mask = attn_mask.unsqueeze(0).unsqueeze(0)
            elif attn_mask.dim() == 3:
                if attn_mask.shape != (B * self.h, T, S):
                    raise RuntimeError(f"The shape of the 3D attn_mask is {attn_mask.shape}")
                attn_mask = attn_mask.view(B, self.h, T, S)
            else:
                raise RuntimeError(f"attn_mask's dimension {attn_mask.dim()} is not supported")
        for one in (attn_mask, None if key_padding_mask is None else key_padding_mask.view(B, 1, 1, S)):
            if one is None:
                continue
            if one.dtype == torch.bool:
                scores = scores.masked_fill(one, float("-inf"))
            else:
                scores = scores + one
        dead = scores.isneginf().all(-1, keepdim=True)
        weights = scores.masked_fill(dead, 0.0).softmax(-1).masked_fill(dead, 0.0)
        return self.o((weights @ v).transpose(1, 2).reshape(B, T, D)), weights
