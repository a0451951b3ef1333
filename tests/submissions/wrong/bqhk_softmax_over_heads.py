# mha-grade: cross-attention; expect: failed; in: scaling; mistake: softmax-over-heads; line: 38
"""Scores are kept as [batch, query, head, key] from beginning to end."""
import torch
import torch.nn as nn


class MemoryRead(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError("d_model must be divisible by num_heads")
        shape = (num_heads, d_head, d_model)
        self.read = nn.Parameter(torch.empty(shape))
        self.address = nn.Parameter(torch.empty(shape))
        self.content = nn.Parameter(torch.empty(shape))
        self.write = nn.Parameter(torch.empty(d_model, num_heads, d_head))
        for p in self.parameters():
            nn.init.normal_(p, std=d_model**-0.5)
        self.dropout = nn.Dropout(dropout)
        self.d_head = d_head

    def forward(self, query, key, value, mask=None):
        q = torch.einsum("bqm,hdm->bqhd", query, self.read)
        k = torch.einsum("bkm,hdm->bkhd", key, self.address)
        v = torch.einsum("bkm,hdm->bkhd", value, self.content)
        logits = torch.einsum("bqhd,bkhd->bqhk", q, k) * self.d_head**-0.5
        if mask is not None:
            while mask.dim() < 4:
                mask = mask.unsqueeze(0)
            shown = mask.expand(mask.size(0), mask.size(1), q.size(1), k.size(1))
            shown = shown.transpose(1, 2)
        else:
            shown = logits.new_ones((), dtype=torch.bool)
        floor = torch.finfo(logits.dtype).min
        logits = torch.where(shown, logits, logits.new_full((), floor))
        # The heads are the last axis but one.
        share = torch.softmax(logits, dim=-2)
        share = torch.where(shown, share, torch.zeros_like(share))
        out = torch.einsum("bqhk,bkhd,mhd->bqm", self.dropout(share), v, self.write)
        return out, share.transpose(1, 2)
