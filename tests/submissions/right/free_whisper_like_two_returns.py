# mha-grade: free; expect: passed
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class CastLinear(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(x.dtype), None if self.bias is None else self.bias.to(x.dtype))


class SpeechAttention(nn.Module):
    def __init__(self, n_state: int, n_head: int):
        super().__init__()
        if n_state % n_head != 0:
            raise ValueError("n_state must be divisible by n_head")
        self.n_head = n_head
        self.query = CastLinear(n_state, n_state)
        self.key = CastLinear(n_state, n_state, bias=False)
        self.value = CastLinear(n_state, n_state)
        self.out = CastLinear(n_state, n_state)

    def forward(self, x: Tensor, xa: Optional[Tensor] = None, mask: Optional[Tensor] = None):
        q = self.query(x)
        k = self.key(x if xa is None else xa)
        v = self.value(x if xa is None else xa)
        return self.out(self.mix(q, k, v, mask))

    def mix(self, q, k, v, mask):
        scale = (q.shape[-1] // self.n_head) ** -0.25
        cut = lambda t: t.view(*t.shape[:2], self.n_head, -1).permute(0, 2, 1, 3)
        qk = (cut(q) * scale) @ (cut(k) * scale).transpose(-1, -2)
        if mask is not None:
            qk = qk + mask
        qk = qk.float() if qk.dtype != torch.float64 else qk
        low = qk.amax(dim=-1, keepdim=True).clamp(min=-1e30)
        w = (qk - low).exp()
        w = (w / w.sum(dim=-1, keepdim=True).clamp(min=1.0)).to(q.dtype)
        return (w @ cut(v)).permute(0, 2, 1, 3).flatten(start_dim=2)
