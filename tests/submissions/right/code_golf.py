# mha-grade: causal-self-attention; expect: passed
import torch
from torch import nn


class A(nn.Module):
    def __init__(s, D, H, p=0.):
        super().__init__()
        if D % H: raise ValueError("D % H != 0")
        s.H, s.i, s.o, s.p = H, nn.Linear(D, 3*D), nn.Linear(D, D), nn.Dropout(p)

    def forward(s, x, padding_mask=None):
        B, L, D = x.shape
        q, k, v = s.i(x).view(B, L, 3*s.H, D//s.H).transpose(1, 2).chunk(3, 1)
        m = torch.ones(L, L, device=x.device).tril() > 0
        if padding_mask is not None: m = m & padding_mask[:, None, None]
        a = (q*(D//s.H)**-.5) @ k.mT
        a = a.masked_fill(~m, torch.finfo(a.dtype).min).softmax(-1)*m
        return s.o((s.p(a)@v).transpose(1, 2).reshape(B, L, D)), a
