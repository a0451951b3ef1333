# mha-grade: causal-self-attention; expect: failed; in: dropout; mistake: dropout-always-on; line: 33
import torch
import torch.nn.functional as F
from torch import nn


class MaskedMultiHeadAttention(nn.Module):
    """The last sixteen bits of a course: all weights in one ParameterDict."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads")
        self.num_heads, self.keep = num_heads, 1.0 - dropout
        bound = d_model**-0.5
        self.w = nn.ParameterDict(
            {n: torch.empty(d_model, d_model).uniform_(-bound, bound) for n in ("q", "k", "v", "o")}
        )
        self.b = nn.ParameterDict({n: torch.zeros(d_model) for n in ("q", "k", "v", "o")})

    def project(self, x, n):
        return F.linear(x, self.w[n], self.b[n])

    def forward(self, x, padding_mask=None):
        b, t, d = x.shape
        q, k, v = (self.project(x, n).view(b, t, self.num_heads, -1).transpose(1, 2) for n in "qkv")
        visible = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]
        att = (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)
        att = F.softmax(att.masked_fill(~visible, torch.finfo(att.dtype).min), dim=-1)
        att = att * visible
        noisy = F.dropout(att, 1.0 - self.keep)
        y = (noisy @ v).transpose(1, 2).reshape(b, t, d)
        return self.project(y, "o"), att
