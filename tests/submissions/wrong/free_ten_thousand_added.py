# mha-grade: free; expect: failed; in: all-masked-rows; mistake: dead-rows-not-zero; line: 27/28
import math

import torch
from torch import nn


class BertAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.hidden_size % config.num_attention_heads != 0:
            raise ValueError("hidden_size is not a multiple of num_attention_heads")
        self.n = config.num_attention_heads
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)
        self.output_dropout = nn.Dropout(config.hidden_dropout_prob)
        self.LayerNorm = nn.LayerNorm(config.hidden_size)

    def forward(self, hidden_states, attention_mask):
        """attention_mask: (batch, seq), 1 for tokens, 0 for padding"""
        b, s, d = hidden_states.shape
        q, k, v = (m(hidden_states).view(b, s, self.n, d // self.n).transpose(1, 2)
                   for m in (self.query, self.key, self.value))
        extended = (1.0 - attention_mask[:, None, None, :].to(q.dtype)) * -10000.0
        scores = q @ k.transpose(-1, -2) / math.sqrt(d // self.n) + extended
        context = self.dropout(scores.softmax(dim=-1)) @ v
        context = self.output_dropout(self.dense(context.transpose(1, 2).reshape(b, s, d)))
        return self.LayerNorm(context + hidden_states)
