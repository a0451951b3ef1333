# mha-grade: free; expect: failed; in: padding-mask, combined-masks; mistake: masks-joined-by-or; line: 26
import torch
from torch import nn


class DecoderSelfAttention(nn.Module):
    """x: (batch, time, width); pad_mask: (batch, time), 1 for a word, 0 for filler."""

    def __init__(self, hidden_dim, n_heads, dropout_rate=0.0):
        super().__init__()
        assert hidden_dim % n_heads == 0
        self.n_heads = n_heads
        self.query_layer = nn.Linear(hidden_dim, hidden_dim)
        self.key_layer = nn.Linear(hidden_dim, hidden_dim)
        self.value_layer = nn.Linear(hidden_dim, hidden_dim)
        self.output_layer = nn.Linear(hidden_dim, hidden_dim)
        self.dropout = nn.Dropout(dropout_rate)

    def forward(self, x, pad_mask=None):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.n_heads, -1).transpose(1, 2)
                   for f in (self.query_layer, self.key_layer, self.value_layer))
        scores = q @ k.transpose(-1, -2) / (c // self.n_heads) ** 0.5
        see = torch.tril(torch.ones(t, t, dtype=torch.bool, device=x.device))
        if pad_mask is not None:
            see = see | pad_mask.bool()[:, None, None, :]
        scores = scores.masked_fill(~see, torch.finfo(scores.dtype).min)
        w = self.dropout(scores.softmax(-1).masked_fill(~see, 0.0))
        return self.output_layer((w @ v).transpose(1, 2).reshape(b, t, c))
