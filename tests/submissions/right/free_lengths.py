# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class UtteranceAttention(nn.Module):
    """x: (batch, frames, feat); lengths: (batch,) number of real frames of each utterance."""

    def __init__(self, feat, nhead, dropout_p=0.0):
        super().__init__()
        if feat % nhead:
            raise ValueError("nhead must divide feat")
        self.nhead = nhead
        self.in_proj = nn.Linear(feat, 3 * feat)
        self.out_proj = nn.Linear(feat, feat)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, x, lengths=None):
        b, n, f = x.shape
        v, q, k = self.in_proj(x).view(b, n, 3, self.nhead, f // self.nhead).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(2, 3) * (f // self.nhead) ** -0.5
        if lengths is not None:
            beyond = torch.arange(n, device=x.device).expand(b, n) >= lengths.unsqueeze(1)
            beyond = beyond.view(b, 1, 1, n)
            att = att.masked_fill(beyond, torch.finfo(att.dtype).min)
            att = att.softmax(-1).masked_fill(beyond, 0)
        else:
            att = att.softmax(-1)
        y = self.dropout(att) @ v
        return self.out_proj(y.transpose(1, 2).reshape(b, n, f))
