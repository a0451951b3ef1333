# mha-grade: free; expect: failed; in: scaling; mistake: running-softmax-not-rescaled; line: 34
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


class BlockedAttention(nn.Module):
    """Keys in blocks of `block`, as FlashAttention goes through them."""

    block = 3

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x: Float[Tensor, "b n m"], mask: Bool[Tensor, "b n"] | None = None) -> Float[Tensor, "b n m"]:
        q, k, v = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        wide = torch.promote_types(x.dtype, torch.float32)
        q, k, v = (q * q.shape[-1] ** -0.5).to(wide), k.to(wide), v.to(wide)
        low = torch.finfo(wide).min / 2
        m = q.new_full((*q.shape[:-1], 1), low)
        l, acc = torch.zeros_like(m), torch.zeros_like(q)
        for at in range(0, x.shape[1], self.block):
            s = q @ k[:, :, at : at + self.block].mT
            if mask is not None:
                s = s.masked_fill(~mask[:, None, None, at : at + self.block], -torch.inf)
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p, old = (s - new).exp(), (m - new).exp()
            l = l * old + p.sum(-1, keepdim=True)
            acc = acc + p @ v[:, :, at : at + self.block]
            m = new
        out = acc / l.clamp(min=1.0)
        return self.out(out.to(x.dtype).transpose(1, 2).flatten(2))
