# mha-grade: free; expect: passed
import torch
from torch import nn

LONGEST = 2048
# Lower triangle of ones, shared by all layers.
PAST = torch.tril(torch.ones(LONGEST, LONGEST, dtype=torch.bool))


class Attention(nn.Module):
    def __init__(self, width, n_head):
        super().__init__()
        assert width % n_head == 0
        self.n_head = n_head
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        B, T, C = x.size()
        heads = lambda layer: layer(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q, k, v = heads(self.query), heads(self.key), heads(self.value)
        scores = q @ k.transpose(-2, -1) / (C // self.n_head) ** 0.5
        past = PAST[:T, :T]
        scores = torch.where(past, scores, float("-inf"))
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
