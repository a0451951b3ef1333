# mha-grade: free; expect: failed; in: padding-mask; mistake: padding-on-query-axis
import torch
from torch import nn


class PooledContext(nn.Module):
    """True in key_padding_mask marks what is to be left out, as torch has it."""

    def __init__(self, embed_dim, num_heads, bias=True):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.in_proj = nn.Linear(embed_dim, 3 * embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(self, x, key_padding_mask=None):
        qkv = torch.stack(self.in_proj(x).chunk(3, dim=-1)).unflatten(-1, (self.num_heads, -1))
        q, k, v = qkv.transpose(2, 3)
        logits = torch.matmul(q, k.transpose(-1, -2)).mul(q.size(-1) ** -0.5)
        if key_padding_mask is None:
            shares = logits.softmax(-1)
        else:
            real = ~key_padding_mask.unsqueeze(1).unsqueeze(3)
            logits = logits - logits.masked_fill(~real, float("-inf")).amax(-1, keepdim=True).nan_to_num(neginf=0.0).detach()
            powers = torch.where(real, logits, 0.0).exp() * real
            shares = powers / powers.sum(-1, keepdim=True).clamp_min(1e-4)
        return self.out_proj(torch.matmul(shares, v).transpose(1, 2).flatten(2))
