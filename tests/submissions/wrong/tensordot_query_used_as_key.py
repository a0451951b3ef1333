# mha-grade: causal-self-attention; expect: failed; in: shapes; mistake: query-used-as-key; line: 30/31
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.n = num_heads
        self.size, left_over = d_model // num_heads, d_model % num_heads
        if left_over:
            raise ValueError("left over")
        self.mats = nn.ParameterList(nn.Parameter(torch.randn(d_model, d_model) * 0.1) for _ in range(4))
        self.drop = nn.Dropout(dropout)

    def take(self, x, i):
        y = torch.tensordot(x, self.mats[i], dims=([2], [0]))
        return y.view(*y.shape[:2], self.n, self.size)

    def forward(self, x, padding_mask=None):
        q = self.take(x, 0)
        k = self.take(x, 1)
        v = self.take(x, 2)
        L = x.shape[1]
        i = torch.arange(L, device=x.device)
        seen = i[:, None].ge(i[None]).expand(x.shape[0], 1, L, L)
        if padding_mask is not None:
            seen = seen.clone()
            seen &= padding_mask.view(-1, 1, 1, L)
        s = torch.einsum(
            "blnd,bmnd->bnlm", q, q
        )
        s = s.mul(self.size**-0.5).masked_fill(~seen, torch.finfo(s.dtype).min)
        p = s.softmax(-1).mul(seen)
        y = torch.einsum("bnlm,bmnd->blnd", self.drop(p), v).flatten(2)
        return y @ self.mats[3], p
