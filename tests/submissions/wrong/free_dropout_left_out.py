# mha-grade: free; expect: failed; in: dropout; mistake: dropout-never-applied; line: 24
import torch
from torch import nn


class DecoderAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.n_embd % config.n_head:
            raise ValueError("n_embd % n_head")
        self.n_head = config.n_head
        self.attn_dropout = nn.Dropout(config.attn_pdrop)
        self.q_proj = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.k_proj = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.v_proj = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.out_proj = nn.Linear(config.n_embd, config.n_embd)

    def forward(self, x, encoder_states):
        def split(t):
            return t.unflatten(-1, (self.n_head, -1)).transpose(1, 2)

        q, k, v = split(self.q_proj(x)), split(self.k_proj(encoder_states)), split(self.v_proj(encoder_states))
        weights = torch.softmax(q @ k.mT / q.size(-1) ** 0.5, dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2))
