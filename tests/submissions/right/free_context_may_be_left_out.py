# mha-grade: free; expect: passed
from __future__ import annotations
import math
import torch
from torch import nn


class Attn(nn.Module):
    def __init__(self, cfg: dict):
        super().__init__()
        d, h = cfg["d_model"], cfg["n_heads"]
        if d % h:
            raise ValueError("n_heads must divide d_model")
        self.h, self.p = h, cfg.get("dropout", 0.0)
        self.proj = nn.ModuleDict({n: nn.Linear(d, d, bias=cfg.get("bias", True)) for n in ("q", "k", "v", "o")})

    def forward(self, x, context=None, attention_mask=None):
        src = x if context is None else context
        B, T, D = x.shape
        S = src.shape[1]
        q = self.proj["q"](x).view(B, T, self.h, D // self.h)
        k = self.proj["k"](src).view(B, S, self.h, D // self.h)
        v = self.proj["v"](src).view(B, S, self.h, D // self.h)
        logits = torch.einsum("bthd,bshd->bhts", q, k) / math.sqrt(D // self.h)
        if attention_mask is not None:
            logits = logits.masked_fill(attention_mask[:, None, None, :] == 0, -math.inf)
        p = logits.softmax(-1).nan_to_num()
        p = nn.functional.dropout(p, self.p, self.training)
        return self.proj["o"](torch.einsum("bhts,bshd->bthd", p, v).flatten(2))
