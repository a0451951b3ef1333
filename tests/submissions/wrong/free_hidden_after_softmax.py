# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-after-softmax; line: 20
import torch
from torch import nn, Tensor
from jaxtyping import Float, Bool
from einops import rearrange


class PaddedAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Float[Tensor, "b l d"], keep: Bool[Tensor, "b l"]) -> Float[Tensor, "b l d"]:
        q, k, v = (rearrange(w(x), "b l (h e) -> b h l e", h=self.n_heads) for w in (self.W_Q, self.W_K, self.W_V))
        pattern = (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1)
        pattern = pattern * rearrange(keep, "b l -> b 1 1 l")
        return self.W_O(rearrange(pattern @ v, "b h l e -> b l (h e)"))
