# mha-grade: free; expect: failed; in: padding-mask; mistake: padding-on-query-axis; line: 24
import torch
import torch.nn as nn


class TransformerSelfAttention(nn.Module):
    def __init__(self, nheads, nfeatures, dropout=0.0):
        super().__init__()
        if nfeatures % nheads:
            raise ValueError("nfeatures must be a multiple of nheads")
        self.nheads = nheads
        self.lin_q = nn.Linear(nfeatures, nfeatures)
        self.lin_k = nn.Linear(nfeatures, nfeatures, bias=False)
        self.lin_v = nn.Linear(nfeatures, nfeatures)
        self.lin_out = nn.Linear(nfeatures, nfeatures)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, key_padding_mask=None):
        """key_padding_mask: (batch, length), True = padding"""
        b, n, f = x.shape
        q, k, v = (m(x).view(b, n, self.nheads, -1).transpose(1, 2) for m in (self.lin_q, self.lin_k, self.lin_v))
        a = (q * (f // self.nheads) ** -0.5) @ k.transpose(2, 3)
        if key_padding_mask is not None:
            hide = key_padding_mask[:, None, :, None]
            a = a.masked_fill(hide, torch.finfo(a.dtype).min).softmax(-1).masked_fill(hide, 0)
        else:
            a = a.softmax(-1)
        return self.lin_out((self.dropout(a) @ v).transpose(1, 2).reshape(b, n, f))
