# mha-grade: free; expect: passed
import math

import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """多头注意力：先投影，再分头，各头分别计算，最后拼接。"""

    def __init__(self, args, is_causal=False):
        super().__init__()
        # 隐藏层维度必须是头数的整数倍
        assert args.dim % args.n_heads == 0
        self.n_local_heads = args.n_heads
        self.head_dim = args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, args.dim, bias=False)
        self.wk = nn.Linear(args.dim, args.dim, bias=False)
        self.wv = nn.Linear(args.dim, args.dim, bias=False)
        self.wo = nn.Linear(args.dim, args.dim, bias=False)
        self.attn_dropout = nn.Dropout(args.dropout)
        self.is_causal = is_causal
        if is_causal:
            # 上三角为负无穷，对角线以下为零
            mask = torch.full((1, 1, args.max_seq_len, args.max_seq_len), float("-inf"))
            self.register_buffer("mask", torch.triu(mask, diagonal=1))

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
        bsz, seqlen, _ = q.shape
        # 线性变换，并把最后一维拆成（头数，每头维度）
        xq = self.wq(q).view(bsz, seqlen, self.n_local_heads, self.head_dim).transpose(1, 2)
        xk = self.wk(k).view(bsz, -1, self.n_local_heads, self.head_dim).transpose(1, 2)
        xv = self.wv(v).view(bsz, -1, self.n_local_heads, self.head_dim).transpose(1, 2)
        # 缩放点积
        scores = torch.matmul(xq, xk.transpose(2, 3)) / math.sqrt(self.head_dim)
        if self.is_causal:
            scores = scores + self.mask[:, :, :seqlen, :xk.size(2)]
        scores = self.attn_dropout(torch.softmax(scores, dim=-1))
        output = torch.matmul(scores, xv)
        # 拼接各头
        output = output.transpose(1, 2).contiguous().view(bsz, seqlen, -1)
        return self.wo(output)
