# mha-grade: free; expect: passed
import torch
import torch.nn.functional as F
from torch import nn


class OneMatmul(nn.Module):
    """Three matrices that are joined for one product at each call."""

    def __init__(self, n_state: int, n_head: int):
        super().__init__()
        if n_state % n_head:
            raise ValueError("n_head must divide n_state")
        self.n_head = n_head
        self.wq = nn.Parameter(torch.empty(n_state, n_state))
        self.wk = nn.Parameter(torch.empty(n_state, n_state))
        self.wv = nn.Parameter(torch.empty(n_state, n_state))
        self.wo = nn.Parameter(torch.empty(n_state, n_state))
        self.bq, self.bk, self.bv, self.bo = (nn.Parameter(torch.zeros(n_state)) for _ in range(4))
        for w in (self.wq, self.wk, self.wv, self.wo):
            nn.init.xavier_normal_(w)

    def forward(self, x):
        joined = F.linear(x, torch.cat([self.wq, self.wk, self.wv]), torch.cat([self.bq, self.bk, self.bv]))
        q, k, v = joined.view(*x.shape[:2], 3 * self.n_head, -1).transpose(1, 2).chunk(3, dim=1)
        w = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) / q.size(-1) ** 0.5, dim=-1)
        return F.linear(torch.matmul(w, v).transpose(1, 2).flatten(-2), self.wo, self.bo)
