# mha-grade: causal-self-attention; expect: failed; in: divisibility; mistake: divisibility-asserted; line: 9
import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head, dropout=0.0):
        super().__init__()
        assert n_embd % n_head == 0
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.attn_dropout = nn.Dropout(dropout)
        self.n_head = n_head
        self.n_embd = n_embd

    def forward(self, x, padding_mask=None):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)  # (B, nh, T, hs)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)  # (B, nh, T, hs)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)  # (B, nh, T, hs)

        keep = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        if padding_mask is not None:
            keep = keep & padding_mask[:, None, None, :]

        att = (q @ k.transpose(-2, -1)) * k.size(-1) ** -0.5
        att = att.masked_fill(~keep, torch.finfo(att.dtype).min).softmax(dim=-1)
        att = self.attn_dropout(att.masked_fill(~keep, 0.0))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y), att
