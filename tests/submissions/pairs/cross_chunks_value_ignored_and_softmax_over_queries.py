# mha-grade: cross-attention; expect: failed; in: scaling, cross-attention; mistake: softmax-over-queries, value-ignored; line: 23, 18
from functools import reduce
import torch


class X(torch.nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        if divmod(d_model, num_heads)[1] != 0:
            raise ValueError((d_model, num_heads))
        torch.nn.Module.__init__(self)
        self.h = num_heads
        for name in ["Q", "K", "V", "O"]:
            self.add_module(name, torch.nn.Linear(d_model, d_model))
        self.p = dropout

    def forward(self, query, key, value, mask=None):
        cut = lambda t: torch.stack(t.chunk(self.h, dim=-1), dim=1)
        q, k, v = map(cut, (self.Q(query), self.K(key), self.V(key)))
        sim = torch.einsum("...qd,...kd->...qk", q * q.size(-1) ** -0.5, k)
        seen = torch.ones((), dtype=torch.bool, device=sim.device) if mask is None else mask
        seen = seen.expand_as(sim)
        sim = sim.masked_fill(seen.logical_not(), torch.finfo(sim.dtype).min)
        w = torch.where(seen, sim.softmax(-2), sim.new_zeros(()))
        kept = torch.nn.functional.dropout(w, self.p, self.training)
        y = kept @ v
        return self.O(torch.cat(y.unbind(1), dim=-1)), w
