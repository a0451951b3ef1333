# mha-grade: free; expect: passed
import torch
from torch import nn


class MyMSA(nn.Module):
    def __init__(self, d, n_heads=2):
        super().__init__()
        self.d = d
        self.n_heads = n_heads
        assert d % n_heads == 0, f"Can't divide dimension {d} into {n_heads} heads"
        d_head = d // n_heads
        self.q_mappings = nn.ModuleList([nn.Linear(d, d_head) for _ in range(n_heads)])
        self.k_mappings = nn.ModuleList([nn.Linear(d, d_head) for _ in range(n_heads)])
        self.v_mappings = nn.ModuleList([nn.Linear(d, d_head) for _ in range(n_heads)])
        self.d_head = d_head
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, sequences):
        # sequences: (N, seq_length, token_dim); no mixing after the heads are joined
        per_head = []
        for to_q, to_k, to_v in zip(self.q_mappings, self.k_mappings, self.v_mappings):
            q, k, v = to_q(sequences), to_k(sequences), to_v(sequences)
            attention = self.softmax(q @ k.transpose(1, 2) / self.d_head ** 0.5)
            per_head.append(attention @ v)
        return torch.cat(per_head, dim=-1)
