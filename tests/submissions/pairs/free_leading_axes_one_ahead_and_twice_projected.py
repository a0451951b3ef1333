# mha-grade: free; expect: failed; in: shapes, causal-mask; mistake: output-projection-twice, causal-one-ahead; line: 31, 30
import torch
from torch import Tensor, nn


def sdpa(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = torch.einsum("...qd,...kd->...qk", q, k) * q.shape[-1] ** -0.5
    if mask is None:
        return scores.softmax(-1) @ v
    lowest = torch.finfo(scores.dtype).min
    weights = torch.where(mask, scores, lowest).softmax(-1)
    return torch.where(mask, weights, 0.0) @ v


class MultiheadSelfAttention(nn.Module):
    """Takes (..., seq, d_model); the token positions decide what may be seen."""

    def __init__(self, d_model: int = 512, n_heads: int = 8):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        self.n_heads = n_heads
        self.wqkv = nn.Parameter(torch.randn(3 * d_model, d_model) * d_model**-0.5)
        self.wo = nn.Parameter(torch.randn(d_model, d_model) * d_model**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        seq = x.shape[-2]
        q, k, v = (x @ self.wqkv.T).unflatten(-1, (3, self.n_heads, -1)).movedim(-3, 0).transpose(-3, -2)
        pos = torch.arange(seq, device=x.device)
        out = sdpa(q, k, v, pos[:, None] + 1 >= pos[None, :])
        return out.transpose(-3, -2).flatten(-2) @ self.wo.T @ self.wo.T
