# mha-grade: free; expect: passed
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Seen(NamedTuple):
    mixed: Tensor
    shares: Tensor


class Listener(nn.Module):
    """Pre-normalised; `hide` [batch, tokens] is True where a token is padding."""

    def __init__(self, *, channels: int, ears: int, keep_bias: bool = True):
        super().__init__()
        assert channels % ears == 0, "channels must be shared equally"
        self.norm = nn.LayerNorm(channels)
        self.kv = nn.Linear(channels, 2 * channels, bias=keep_bias)
        self.q = nn.Linear(channels, channels, bias=keep_bias)
        self.back = nn.Linear(channels, channels)
        self.each = channels // ears

    def forward(self, tokens: Tensor, *, hide: Tensor | None = None) -> Seen:
        fresh = self.norm(tokens)
        key, value = self.kv(fresh).tensor_split(2, dim=-1)
        q, k, v = (t.unfold(-1, self.each, self.each).transpose(1, 2) for t in (self.q(fresh), key, value))
        logits = (q[..., :, None, :] * k[..., None, :, :]).sum(-1) / self.each**0.5
        if hide is not None:
            logits = logits.masked_fill(hide[:, None, None, :], float("-inf"))
            shares = torch.nan_to_num(logits.softmax(-1)) if not logits.requires_grad else torch.where(
                hide.all(-1)[:, None, None, None], 0.0, logits.masked_fill(hide.all(-1)[:, None, None, None], 0.0).softmax(-1)
            )
        else:
            shares = logits.softmax(-1)
        mixed = (shares @ v).transpose(1, 2).flatten(2)
        return Seen(tokens + self.back(mixed), shares)
