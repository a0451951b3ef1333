# mha-grade: free; expect: passed
import math

import torch
from torch import nn


class BertSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.hidden_size % config.num_attention_heads != 0:
            raise ValueError(
                "The hidden size (%d) is not a multiple of the number of attention heads (%d)"
                % (config.hidden_size, config.num_attention_heads)
            )
        self.num_attention_heads = config.num_attention_heads
        self.attention_head_size = config.hidden_size // config.num_attention_heads

        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def heads_of(self, t):
        return t.unflatten(-1, (self.num_attention_heads, self.attention_head_size)).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None, output_attentions=False):
        """attention_mask: additive, (batch, 1, 1 or from_len, to_len), 0 to keep, -inf to drop."""
        q = self.heads_of(self.query(hidden_states))
        k = self.heads_of(self.key(hidden_states))
        v = self.heads_of(self.value(hidden_states))

        scores = q.matmul(k.transpose(-1, -2)) / math.sqrt(self.attention_head_size)
        if attention_mask is None:
            probs = scores.softmax(-1)
        else:
            nothing = (attention_mask <= torch.finfo(scores.dtype).min).all(-1, keepdim=True)
            probs = (scores + attention_mask.masked_fill(nothing, 0)).softmax(-1)
            probs = probs.masked_fill(nothing, 0)
        context = self.dropout(probs).matmul(v).permute(0, 2, 1, 3).flatten(2)
        return (context, probs) if output_attentions else (context,)
