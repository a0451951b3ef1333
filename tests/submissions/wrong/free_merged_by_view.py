# mha-grade: free; expect: failed; in: shapes; mistake: merge-without-transpose; line: 24
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
        self.dropout = nn.Dropout(dropout)
        self.layer_norm = nn.LayerNorm(d_model)

    def forward(self, q, k, v):
        residual = q
        q = self.w_qs(q).unflatten(2, (self.n_head, self.d_k)).transpose(1, 2)
        k = self.w_ks(k).unflatten(2, (self.n_head, self.d_k)).transpose(1, 2)
        v = self.w_vs(v).unflatten(2, (self.n_head, self.d_v)).transpose(1, 2)
        attn = torch.softmax(q @ k.transpose(2, 3) / self.d_k ** 0.5, dim=-1)
        context = self.dropout(attn) @ v
        output = self.fc(context.reshape(*residual.shape[:2], self.n_head * self.d_v))
        return self.layer_norm(output + residual), attn
