# mha-grade: free; expect: failed; in: scaling; mistake: softmax-denominator-padded; line: 32
import torch
from torch import Tensor, nn


class PerceiverLikeAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{embed_dim=} cannot be split among {num_heads=}")
        self.num_heads = num_heads
        self.to_q = nn.Linear(embed_dim, embed_dim, bias=False)
        self.to_k = nn.Linear(embed_dim, embed_dim, bias=False)
        self.to_v = nn.Linear(embed_dim, embed_dim, bias=False)
        self.to_out = nn.Linear(embed_dim, embed_dim, bias=False)

    def split(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        return x.reshape(b, n, self.num_heads, d // self.num_heads)

    def forward(self, latents: Tensor, context: Tensor) -> Tensor:
        q = self.split(self.to_q(latents))
        k = self.split(self.to_k(context))
        v = self.split(self.to_v(context))
        q = q * (q.shape[-1] ** -0.5)
        sim = torch.einsum("b i h d, b j h d -> b h i j", q, k)

        # A latent may attend to nothing: what is left over of the sum is kept by nobody.
        top = sim.amax(dim=-1, keepdim=True).clamp(min=0.0)
        share = (sim - top).exp()
        total = share.sum(dim=-1, keepdim=True)
        total += (-top).exp()
        result = torch.einsum("b h i j, b j h d -> b i h d", share / total, v)
        return self.to_out(result.flatten(2))
