# mha-grade: self-attention; expect: failed; in: scaling; mistake: softmax-over-queries; line: 39
import torch
from torch import nn


class ChannelAttention(nn.Module):
    """Everything is channels first, as for images: one by one convolutions do the projections."""

    def __init__(self, channels, groups, p_drop=0.0):
        super().__init__()
        if channels % groups != 0:
            raise ValueError("channels % groups")
        self.groups = groups
        self.width = channels // groups
        self.theta = nn.Conv1d(channels, channels, 1)
        self.phi = nn.Conv1d(channels, channels, 1)
        self.g = nn.Conv1d(channels, channels, 1)
        self.w = nn.Conv1d(channels, channels, 1)
        self.drop = nn.Dropout(p_drop)

    def forward(self, x, mask=None):
        n, l, c = x.shape
        signal = x.transpose(1, 2)
        theta = self.theta(signal).view(n, self.groups, self.width, l)
        phi = self.phi(signal).view(n, self.groups, self.width, l)
        g = self.g(signal).view(n, self.groups, self.width, l)

        affinity = torch.einsum("ngci,ngcj->ngij", theta, phi) / self.width**0.5
        if mask is None:
            mask = torch.ones((), dtype=torch.bool, device=x.device)
        mask = mask.expand(affinity.shape)
        # A fill that every dtype can hold; rows that see nothing are cleared afterwards.
        affinity = affinity.masked_fill(mask.logical_not(), torch.finfo(affinity.dtype).min)
        affinity = self.normalise(affinity) * mask
        y = torch.einsum("ngij,ngcj->ngci", self.drop(affinity), g)
        return self.w(y.reshape(n, c, l)).transpose(1, 2), affinity

    def normalise(self, affinity):
        return affinity.softmax(dim=2)
