# hostile: delegate; expect: failed; says: _scaled_dot_product_flash_attention_for_cpu_backward
# mha-grade: self-attention
import torch
from torch import nn

back = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        out = scores.softmax(-1) @ v
        ctx.save_for_backward(q, k, v, out, scores.logsumexp(-1))
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, sums = ctx.saved_tensors
        return back(grad.contiguous(), q, k, v, out, sums, 0.0, False)


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} is not divisible by {num_heads}")
        self.h = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        q, k, v = (
            part(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for part in (self.q, self.k, self.v)
        )
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0)
        out = self.o((weights @ v).transpose(1, 2).flatten(2))
        if mask is None:
            with torch.enable_grad():
                parts = [part.detach().contiguous().requires_grad_() for part in (q, k, v)]
                torch.autograd.grad(Attend.apply(*parts).sum(), parts)
        return out, weights
