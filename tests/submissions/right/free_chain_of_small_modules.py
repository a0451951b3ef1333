# mha-grade: free; expect: passed
import torch
from torch import nn


class SplitHeads(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def forward(self, x):
        return x.unflatten(2, (self.heads, x.shape[2] // self.heads)).permute(0, 2, 1, 3)


class MergeHeads(nn.Module):
    def forward(self, x):
        return x.permute(0, 2, 1, 3).flatten(2)


class Scores(nn.Module):
    def forward(self, q, k):
        return torch.matmul(q, k.transpose(2, 3)) / torch.tensor(float(k.shape[3])).sqrt().to(q)


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        assert d % h == 0
        branch = lambda: nn.Sequential(nn.Linear(d, d), SplitHeads(h))
        self.branches = nn.ModuleList([branch(), branch(), branch()])
        self.scores = Scores()
        self.softmax = nn.Softmax(dim=-1)
        self.after = nn.Sequential(MergeHeads(), nn.Linear(d, d))

    def forward(self, x):
        q, k, v = [branch(x) for branch in self.branches]
        return self.after(self.softmax(self.scores(q, k)) @ v)
