# mha-grade: free; expect: failed; in: divisibility; mistake: head-dim-floored; line: 10
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, heads, d_model, dropout=0.0):
        super().__init__()
        self.h = heads
        self.d_k = d_model // heads
        self.q_linear = nn.Linear(d_model, heads * self.d_k)
        self.k_linear = nn.Linear(d_model, heads * self.d_k)
        self.v_linear = nn.Linear(d_model, heads * self.d_k)
        self.out = nn.Linear(heads * self.d_k, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        # mask: bs x 1 x len_k, 0 at the padding
        bs = q.size(0)
        q = self.q_linear(q).view(bs, -1, self.h, self.d_k).transpose(1, 2)
        k = self.k_linear(k).view(bs, -1, self.h, self.d_k).transpose(1, 2)
        v = self.v_linear(v).view(bs, -1, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / self.d_k ** 0.5
        if mask is not None:
            mask = mask.unsqueeze(1) != 0
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        scores = torch.softmax(scores, dim=-1)
        if mask is not None:
            scores = scores.masked_fill(~mask, 0)
        y = torch.matmul(self.dropout(scores), v)
        return self.out(y.transpose(1, 2).contiguous().view(bs, -1, self.h * self.d_k))
