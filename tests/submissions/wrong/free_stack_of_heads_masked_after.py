# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-after-softmax; line: 20
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, d_in, d_head, p):
        super().__init__()
        self.Q = nn.Linear(d_in, d_head, bias=False)
        self.K = nn.Linear(d_in, d_head, bias=False)
        self.V = nn.Linear(d_in, d_head, bias=False)
        self.dropout = nn.Dropout(p)
        self.temperature = d_head**0.5

    def forward(self, h, attention_mask=None):
        Q = self.Q(h)
        K = self.K(h)
        V = self.V(h)
        A = torch.bmm(Q / self.temperature, K.transpose(1, 2))
        A = A.softmax(dim=-1)
        if attention_mask is not None:
            # Padded positions are zeros in the mask.
            A = A * attention_mask[:, None, :].to(A.dtype)
        return self.dropout(A).bmm(V)


class MultiHead(nn.Module):
    def __init__(self, d_in, n_heads, p=0.0):
        super().__init__()
        if d_in % n_heads:
            raise ValueError("d_in must be a multiple of n_heads")
        self.heads = nn.ModuleList([Head(d_in, d_in // n_heads, p) for _ in range(n_heads)])
        self.output_linear = nn.Linear(d_in, d_in)

    def forward(self, h, attention_mask=None):
        return self.output_linear(torch.cat([one(h, attention_mask) for one in self.heads], dim=-1))
