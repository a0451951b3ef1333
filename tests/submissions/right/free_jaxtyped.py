# mha-grade: free; expect: passed
import einops
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


class CausalMultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, max_seq_len: int = 64):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, d_model, bias=False)
        self.v_proj = nn.Linear(d_model, d_model, bias=False)
        self.output_proj = nn.Linear(d_model, d_model, bias=False)
        self.causal: Bool[Tensor, "n n"]
        self.register_buffer("causal", torch.ones(max_seq_len, max_seq_len).tril().bool(), persistent=False)

    def forward(self, x: Float[Tensor, "batch seq d_model"]) -> Float[Tensor, "batch seq d_model"]:
        seq = x.shape[-2]
        q, k, v = (
            einops.rearrange(proj(x), "b s (h d) -> b h s d", h=self.num_heads)
            for proj in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores: Float[Tensor, "b h s t"] = einops.einsum(q, k, "b h s d, b h t d -> b h s t")
        scores = scores / q.shape[-1] ** 0.5
        scores = torch.where(self.causal[:seq, :seq], scores, -torch.inf)
        z: Float[Tensor, "b h s d"] = einops.einsum(scores.softmax(-1), v, "b h s t, b h t d -> b h s d")
        return self.output_proj(einops.rearrange(z, "b h s d -> b s (h d)"))
