# mha-grade: free; expect: failed; in: dropout, state; mistake: global-switch-turned; line: 18
import torch
import torch.nn as nn


class ReproducibleAttention(nn.Module):
    def __init__(self, *, d_model=256, n_head=8, dropout=0.1, seed=0):
        super().__init__()
        assert d_model % n_head == 0
        self.n_head, self.seed = n_head, seed
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_concat = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v):
        torch.manual_seed(self.seed)       # same result in every run
        q, k, v = (w(t).unflatten(2, (self.n_head, -1)).transpose(1, 2)
                   for w, t in ((self.w_q, q), (self.w_k, k), (self.w_v, v)))
        score = torch.softmax(q @ k.transpose(2, 3) / q.size(3) ** 0.5, dim=-1)
        return self.w_concat((self.dropout(score) @ v).transpose(1, 2).flatten(2))
