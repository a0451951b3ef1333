# mha-grade: free; expect: failed; in: shapes; mistake: output-slice-shared; line: 32
import torch
from torch import nn


class EinsumAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        size = d_model // num_heads
        shape = num_heads, d_model, size
        self.w_q = nn.Parameter(torch.randn(shape) * 0.1)
        self.w_k = nn.Parameter(torch.randn(shape) * 0.1)
        self.w_v = nn.Parameter(torch.randn(shape) * 0.1)
        self.w_o = nn.Parameter(torch.randn(num_heads, size, d_model) * 0.1)

    def forward(self, query, context, keep=None):
        q = torch.einsum("blm,hmd->bhld", query, self.w_q)
        k = torch.einsum("bsm,hmd->bhsd", context, self.w_k)
        v = torch.einsum("bsm,hmd->bhsd", context, self.w_v)

        energy = torch.einsum("bhld,bhsd->bhls", q, k)
        energy = energy / q.shape[-1] ** 0.5
        if keep is not None:
            energy = energy.masked_fill(~keep[:, None, None, :], torch.finfo(energy.dtype).min)
        share = torch.softmax(energy, -1)
        if keep is not None:
            share = share.masked_fill(~keep[:, None, None, :], 0.0)

        found = torch.einsum("bhls,bhsd->bhld", share, v)
        return torch.einsum("bhld,dm->blm", found, self.w_o[0])
