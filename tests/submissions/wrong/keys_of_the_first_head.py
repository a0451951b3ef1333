# mha-grade: self-attention; expect: failed; in: shapes; mistake: first-head-shared; line: 26
import torch
from torch import nn


class GroupedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads must be zero")
        self.n_heads = n_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)
        self.attn_dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        bsz, seqlen, _ = x.shape
        xq = self.wq(x).reshape(bsz, seqlen, self.n_heads, -1)
        xk = self.wk(x).reshape(bsz, seqlen, self.n_heads, -1)
        xv = self.wv(x).reshape(bsz, seqlen, self.n_heads, -1)

        # (bs, n_heads, seqlen, head_dim)
        xq, xv = xq.transpose(1, 2), xv.transpose(1, 2)
        xk = xk[:, :, 0].unsqueeze(1)
        scores = torch.matmul(xq, xk.transpose(2, 3)) / xq.size(-1) ** 0.5
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
            weights = torch.where(mask, torch.softmax(scores, dim=-1), 0.0)
        output = torch.matmul(self.attn_dropout(weights), xv)
        return self.wo(output.transpose(1, 2).reshape(bsz, seqlen, -1)), weights
