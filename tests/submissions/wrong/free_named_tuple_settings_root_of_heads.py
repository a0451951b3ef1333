# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-sqrt-num-heads
from typing import NamedTuple, Optional

import torch
from torch import Tensor, nn


class AttentionSpec(NamedTuple):
    model_width: int
    head_count: int
    drop_rate: float = 0.0
    use_bias: bool = True


class SpecifiedAttention(nn.Module):
    def __init__(self, spec: AttentionSpec):
        super().__init__()
        if spec.model_width % spec.head_count != 0:
            raise ValueError(f"{spec.head_count} heads cannot share {spec.model_width} dimensions")
        self.spec = spec
        make = lambda: nn.Linear(spec.model_width, spec.model_width, bias=spec.use_bias)
        self.to_query, self.to_key, self.to_value, self.merge = make(), make(), make(), make()

    def forward(self, query: Tensor, key: Tensor, value: Tensor, allowed: Optional[Tensor] = None) -> Tensor:
        heads = self.spec.head_count
        split = lambda t: t.reshape(t.size(0), t.size(1), heads, t.size(2) // heads).transpose(1, 2)
        q, k, v = split(self.to_query(query)), split(self.to_key(key)), split(self.to_value(value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / q.size(1) ** 0.5
        if allowed is not None:
            scores = scores.masked_fill(allowed.logical_not(), float("-inf"))
            weights = torch.where(allowed, torch.softmax(scores, -1), 0.0)
        else:
            weights = torch.softmax(scores, -1)
        context = torch.matmul(weights, v).transpose(1, 2)
        return self.merge(context.reshape(query.shape))
