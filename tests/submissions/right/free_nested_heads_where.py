# mha-grade: free; expect: passed
import math
import torch as th
import torch.nn as nn


def past_only(scores):
    q, k = scores.shape[-2:]
    rows, cols = th.arange(q, device=scores.device), th.arange(k, device=scores.device)
    return th.where(rows.unsqueeze(1) >= cols, scores, -math.inf)


class Decoder(nn.Module):
    class Head(nn.Module):
        def __init__(self, n_embd, size, p):
            super().__init__()
            self.maps = nn.ParameterDict({n: nn.Parameter(th.randn(size, n_embd) / 8) for n in "qkv"})
            self.drop = nn.Dropout(p)

        def forward(self, x):
            q, k, v = (nn.functional.linear(x, self.maps[n]) for n in "qkv")
            near = past_only((q / math.sqrt(q.size(-1))).bmm(k.transpose(1, 2)))
            return self.drop(near.softmax(-1)).bmm(v)

    def __init__(self, n_embd, n_head, dropout=0.0):
        super().__init__()
        assert n_embd % n_head == 0, "heads must divide the width"
        self.heads = nn.ModuleList([self.Head(n_embd, n_embd // n_head, dropout) for _ in range(n_head)])
        self.proj = nn.Linear(n_embd, n_embd)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.drop(self.proj(th.cat([h(x) for h in self.heads], -1)))
