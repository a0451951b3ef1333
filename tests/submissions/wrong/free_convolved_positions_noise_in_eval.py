# mha-grade: free; expect: failed; in: state; mistake: dropout-always-on; line: 25
import torch
from torch import nn


class ConvolvedPositions(nn.Module):
    """Each token's neighbours tell where it is: keys are smoothed along the sequence."""

    def __init__(self, channels: int, groups: int):
        super().__init__()
        if channels % groups:
            raise ValueError("channels must be divisible by groups")
        self.groups = groups
        self.project = nn.Linear(channels, 3 * channels, bias=False)
        self.back = nn.Linear(channels, channels)

    def forward(self, tokens):
        queries, keys, values = self.project(tokens).chunk(3, -1)
        keys = (keys + 0.5 * keys.roll(1, 1)).tanh()
        split = [t.unflatten(-1, (self.groups, -1)) for t in (queries, keys, values)]
        agreement = torch.einsum("blgc,bsgc->bgls", split[0], split[1])
        agreement = agreement * split[0].shape[-1] ** -0.5
        attention = torch.softmax(agreement, -1)
        # A tenth of the connections is left out.
        kept = torch.bernoulli(torch.full_like(attention, 0.9))
        attention = attention * kept / 0.9
        return self.back(torch.einsum("bgls,bsgc->blgc", attention, split[2]).flatten(2))
