# mha-grade: free; expect: failed; in: shapes; mistake: window-imposed; line: 34/35/39
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class BertLikeSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.hidden_size % config.num_attention_heads != 0:
            raise ValueError("hidden_size is not a multiple of num_attention_heads")
        self.num_attention_heads = config.num_attention_heads
        self.attention_head_size = config.hidden_size // config.num_attention_heads
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def transpose_for_scores(self, x):
        x = x.view(x.size()[:-1] + (self.num_attention_heads, self.attention_head_size))
        return x.permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None):
        query_layer = self.transpose_for_scores(self.query(hidden_states))
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(self.value(hidden_states))

        query_layer = query_layer / math.sqrt(self.attention_head_size)
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        place = torch.arange(hidden_states.size(1), device=hidden_states.device)
        distance = (place.unsqueeze(0) - place.unsqueeze(1)).abs()
        seen = distance <= 2
        if attention_mask is not None:
            seen = seen & (attention_mask[:, None, None, :] > 0)
        worst = torch.finfo(attention_scores.dtype).min
        attention_probs = F.softmax(attention_scores.masked_fill(~seen, worst), dim=-1)
        attention_probs = attention_probs.masked_fill(~seen, 0.0)

        context_layer = torch.matmul(self.dropout(attention_probs), value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).flatten(-2)
        return self.dense(context_layer)
