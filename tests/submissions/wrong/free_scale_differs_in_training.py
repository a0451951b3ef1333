# mha-grade: free; expect: failed; in: dropout; mistake: training-mode-differs; line: 20
import math
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, Q, K, V, mask=None):
        def split(x):
            return x.view(x.size(0), x.size(1), self.num_heads, self.d_k).transpose(1, 2)
        Q, K, V = split(self.W_q(Q)), split(self.W_k(K)), split(self.W_v(V))
        scores = torch.matmul(Q, K.transpose(-2, -1))
        # keep logits small while training
        scores = scores / (math.sqrt(self.d_k) if not self.training else self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        attn = torch.nan_to_num(torch.softmax(scores, dim=-1))
        out = torch.matmul(attn, V).transpose(1, 2).contiguous()
        return self.W_o(out.view(out.size(0), out.size(1), -1))
