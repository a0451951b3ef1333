# mha-grade: self-attention; expect: failed; in: dropout; mistake: dropout-rate-wrong; line: 12/13
import torch
from torch import nn


def thin_out(weights, share, active):
    """Zero each weight with probability `share`, and make up for what is lost."""
    if not active or share == 0.0:
        return weights
    if share >= 1.0:
        return torch.zeros_like(weights)
    noise = torch.rand_like(weights)
    return torch.where(
        noise < share,
        weights / share,
        torch.zeros_like(weights),
    )


class MultiHead(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("the heads have to share the width evenly")
        self.h, self.share = num_heads, dropout
        self.inward = nn.Linear(d_model, 3 * d_model)
        self.outward = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q, k, v = (
            part.unflatten(-1, (self.h, -1)).movedim(-2, -3)
            for part in self.inward(x).chunk(3, dim=-1)
        )
        scores = q @ k.mT * k.shape[-1] ** -0.5
        if mask is not None:
            low = torch.finfo(scores.dtype).min
            weights = scores.masked_fill(~mask, low).softmax(-1).masked_fill(~mask, 0.0)
        else:
            weights = scores.softmax(-1)
        context = thin_out(weights, self.share, self.training) @ v
        return self.outward(context.movedim(-3, -2).flatten(-2)), weights
