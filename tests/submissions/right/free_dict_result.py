# mha-grade: free; expect: passed
import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiModalAttention(nn.Module):
    def __init__(self, n_head, dim_model, p=0.0):
        super().__init__()
        assert dim_model % n_head == 0, "dim_model / n_head must be whole"
        self.n_head = n_head
        self.linear_q = nn.Linear(dim_model, dim_model)
        self.linear_k = nn.Linear(dim_model, dim_model)
        self.linear_v = nn.Linear(dim_model, dim_model)
        self.linear_out = nn.Linear(dim_model, dim_model)
        self.p = p

    def forward(self, query, key, value, key_mask=None):
        """key_mask: (batch, len_k) of 0. and 1., 1. for what counts"""
        n, lq, d = query.shape
        dh = d // self.n_head
        q = self.linear_q(query).view(n, lq, self.n_head, dh).permute(0, 2, 1, 3)
        kt = self.linear_k(key).view(n, -1, self.n_head, dh).permute(0, 2, 3, 1)
        v = self.linear_v(value).view(n, -1, self.n_head, dh).permute(0, 2, 1, 3)
        logits = q.matmul(kt).mul(dh ** -0.5)
        if key_mask is not None:
            key_mask = key_mask[:, None, None].to(logits.dtype)
            logits = logits.masked_fill(key_mask < 0.5, torch.finfo(logits.dtype).min)
        alpha = F.softmax(logits, dim=-1)
        if key_mask is not None:
            alpha = alpha * key_mask
        y = F.dropout(alpha, self.p, training=self.training).matmul(v)
        y = self.linear_out(y.permute(0, 2, 1, 3).reshape(n, lq, d))
        return {"out": y, "attn": alpha}
