# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class DotAttention(nn.Module):
    def __init__(self, temperature, p):
        super().__init__()
        self.temperature = temperature
        self.drop = nn.Dropout(p)

    def forward(self, q, k, v, mask=None):
        logits = torch.einsum('bhqd,bhkd->bhqk', q, k) / self.temperature
        if mask is None:
            attn = logits.softmax(-1)
        else:
            blocked = mask == 0
            attn = logits.masked_fill(blocked, torch.finfo(logits.dtype).min).softmax(-1)
            attn = attn.masked_fill(blocked, 0.)
        return self.drop(attn) @ v, attn


class MultiHeadAttention(nn.Module):
    """ the sublayer whole: attention, then dropout, add & norm """

    def __init__(self, n_head, d_model, d_k, d_v, dropout=0.1):
        super().__init__()
        self.n_head = n_head
        self.w_qs = nn.Linear(d_model, n_head * d_k, bias=False)
        self.w_ks = nn.Linear(d_model, n_head * d_k, bias=False)
        self.w_vs = nn.Linear(d_model, n_head * d_v, bias=False)
        self.fc = nn.Linear(n_head * d_v, d_model, bias=False)
        self.attention = DotAttention(d_k ** 0.5, dropout)
        self.dropout = nn.Dropout(dropout)
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-6)

    def heads(self, t):
        return t.unflatten(2, (self.n_head, -1)).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        # mask: (batch, len_q or 1, len_k)
        residual = q
        out, attn = self.attention(
            self.heads(self.w_qs(q)), self.heads(self.w_ks(k)), self.heads(self.w_vs(v)),
            mask=None if mask is None else mask.unsqueeze(1),
        )
        out = self.fc(out.transpose(1, 2).flatten(2))
        return self.layer_norm(residual + self.dropout(out)), attn
