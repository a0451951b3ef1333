# mha-grade: free; expect: passed
import torch
from torch import nn


class SelfAttention(nn.Module):
    """Everything comes as keywords: hidden_size, num_attention_heads, and maybe a dropout."""

    def __init__(self, **kwargs):
        super().__init__()
        self.hidden = kwargs["hidden_size"]
        self.heads = kwargs["num_attention_heads"]
        if self.hidden % self.heads:
            raise ValueError("hidden_size is not a multiple of num_attention_heads")
        self.size = self.hidden // self.heads
        self.drop = nn.Dropout(kwargs.get("attention_probs_dropout_prob", 0.1))
        self.query = nn.Linear(self.hidden, self.hidden)
        self.key = nn.Linear(self.hidden, self.hidden)
        self.value = nn.Linear(self.hidden, self.hidden)
        self.out = nn.Linear(self.hidden, self.hidden)

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.heads, self.size)).movedim(2, 1) for f in (self.query, self.key, self.value))
        weights = self.drop(torch.softmax(q @ k.mT * self.size**-0.5, -1))
        return self.out((weights @ v).movedim(1, 2).flatten(2))
