# mha-grade: free; expect: failed; in: shapes; mistake: scale-wrong-for-head-size
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, n_head, d_model, d_k, d_v, dropout=0.1):
        super().__init__()
        self.n_head, self.d_k, self.d_v = n_head, d_k, d_v
        self.w_qs = nn.Linear(d_model, n_head * d_k, bias=False)
        self.w_ks = nn.Linear(d_model, n_head * d_k, bias=False)
        self.w_vs = nn.Linear(d_model, n_head * d_v, bias=False)
        self.fc = nn.Linear(n_head * d_v, d_model, bias=False)
        self.scale = (d_model / n_head) ** 0.5
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        b, lq, lk, lv = q.size(0), q.size(1), k.size(1), v.size(1)
        q = self.w_qs(q).view(b, lq, self.n_head, self.d_k).transpose(1, 2)
        k = self.w_ks(k).view(b, lk, self.n_head, self.d_k).transpose(1, 2)
        v = self.w_vs(v).view(b, lv, self.n_head, self.d_v).transpose(1, 2)
        if mask is not None:
            mask = mask.unsqueeze(1)
        attn = torch.matmul(q / self.scale, k.transpose(2, 3))
        if mask is not None:
            attn = attn.masked_fill(mask == 0, float("-inf"))
        attn = self.dropout(torch.softmax(attn, dim=-1).nan_to_num(0))
        q = torch.matmul(attn, v).transpose(1, 2).contiguous().view(b, lq, -1)
        return self.fc(q), attn
