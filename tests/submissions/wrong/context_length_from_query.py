# mha-grade: cross-attention; expect: failed; in: shapes, cross-attention; mistake: wrong-cross-length; line: 20/27
import torch
from torch import nn


class EncoderDecoderAttention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, attention_probs_dropout_prob=0.0):
        super().__init__()
        if hidden_size % num_attention_heads != 0:
            raise ValueError(f"hidden size {hidden_size} and {num_attention_heads} heads")
        self.num_attention_heads = num_attention_heads
        self.attention_head_size = hidden_size // num_attention_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(attention_probs_dropout_prob)

    def transpose_for_scores(self, x, length):
        x = x.view(x.size(0), length, self.num_attention_heads, self.attention_head_size)
        return x.permute(0, 2, 1, 3)

    def forward(self, query, key, value, mask=None):
        length = query.size(1)
        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
        query_layer = self.transpose_for_scores(self.query(query), length)
        key_layer = self.transpose_for_scores(self.key(key), length)
        value_layer = self.transpose_for_scores(self.value(value), length)
        scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        scores = scores / self.attention_head_size**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        probs = nn.Softmax(dim=-1)(scores)
        if mask is not None:
            probs = probs * mask
        context = torch.matmul(self.dropout(probs), value_layer).permute(0, 2, 1, 3)
        return self.dense(context.reshape(query.size(0), length, -1)), probs
