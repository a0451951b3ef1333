# mha-grade: causal-self-attention; expect: passed
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """因果多头注意力：每个位置只能看到自己和之前的真实 token。"""

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model 必须能被 num_heads 整除")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.linear_q = nn.Linear(d_model, d_model)
        self.linear_k = nn.Linear(d_model, d_model)
        self.linear_v = nn.Linear(d_model, d_model)
        self.linear_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        b, l, d = x.shape
        # 线性变换后拆头：[B, L, D] -> [B, H, L, Dh]
        q = self.linear_q(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.linear_k(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.linear_v(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)

        # 因果掩码：下三角为 True，表示可见
        mask = torch.tril(torch.ones(l, l, dtype=torch.bool, device=x.device))[None, None]
        # 再与填充掩码取交集，只作用在 key 上：[B, 1, 1, L]
        if padding_mask is not None:
            mask = mask & padding_mask.view(b, 1, 1, l)

        # 缩放点积，除以 sqrt(Dh) 以控制方差
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        # 用有限的最小值而不是 -inf，避免整行被遮住时出现 NaN
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        # 整行不可见时 softmax 是均匀分布，这里清零
        weights = weights.masked_fill(~mask, 0.0)
        weights = self.dropout(weights)

        # 合并多头：[B, H, L, Dh] -> [B, L, D]，最后做输出投影
        context = torch.matmul(weights, v).transpose(1, 2).contiguous().view(b, l, d)
        return self.linear_out(context), weights
