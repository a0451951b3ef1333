# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-sqrt-d-model; line: 21/29
import torch
import torch.nn as nn


class MemoryEfficientAttention(nn.Module):
    """Never holds more than a block of scores; after Rabe and Staats."""

    def __init__(self, dim, heads, bucket_size=2):
        super().__init__()
        self.heads = heads
        self.bucket_size = bucket_size
        if dim % heads != 0:
            raise ValueError("dim must be divisible by heads")
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, dim * 2, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, context=None):
        h = self.heads
        scale = x.shape[-1] ** -0.5
        context = x if context is None else context
        q, k, v = self.to_q(x), *self.to_kv(context).chunk(2, dim=-1)
        q, k, v = (t.reshape(t.shape[0], t.shape[1], h, -1).transpose(1, 2) for t in (q, k, v))
        out = torch.zeros_like(q)
        row_sum = torch.zeros((*q.shape[:-1], 1), dtype=q.dtype, device=q.device)
        row_max = torch.full((*q.shape[:-1], 1), -torch.finfo(q.dtype).max, dtype=q.dtype, device=q.device)
        for kc, vc in zip(k.split(self.bucket_size, dim=-2), v.split(self.bucket_size, dim=-2)):
            weights = torch.einsum("bhid,bhjd->bhij", q * scale, kc)
            block_max = weights.amax(dim=-1, keepdim=True)
            new_max = torch.maximum(block_max, row_max)
            exp_weights = torch.exp(weights - new_max)
            correction = torch.exp(row_max - new_max)
            row_sum = correction * row_sum + exp_weights.sum(dim=-1, keepdim=True)
            out = out * correction + torch.einsum("bhij,bhjd->bhid", exp_weights, vc)
            row_max = new_max
        out = out / row_sum
        return self.to_out(out.transpose(1, 2).flatten(2))
